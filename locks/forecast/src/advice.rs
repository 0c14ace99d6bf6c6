//! What a forecast means, in plain words: the verdict, how sure it is, and what to do.

mod answer;
mod cautions;
#[cfg(test)]
mod contradictions;
mod culprit;
mod did;
mod emulated;
mod expected_gain;
mod explained;
mod held_against;
mod kernel_locks;
mod kernel_subject;
mod limited_here;
mod may_scale;
mod next_step;
mod not_by_locks_here;
mod only_waits;
mod outlook;
mod read_write;
mod remedy;
#[cfg(test)]
mod tests;
mod tried_here;
mod uncertain_hold;
mod view;
mod watched;

use kilocore_figures::Shape;
use kilocore_lock_profile::Profile;
use kilocore_machine::Description;

use answer::{answer, not_seen, unknown};
use cautions::cautions;
use culprit::culprit;
pub use emulated::with_emulation;
use expected_gain::{about_gains, nothing_helps, praise};
pub(crate) use held_against::held_against;
pub(crate) use kernel_locks::said_beside;
use may_scale::may_scale;
pub(crate) use next_step::with_next_steps;
use outlook::{LESSER_PART, lost, shape};
use read_write::{about_rw_gains, no_rw_lock_helps, praise_rw};
pub use tried_here::with_trial;
use uncertain_hold::vague_hold;
pub(crate) use view::View;

use crate::as_many_as_threads::AsManyAsThreads;
use crate::choice::{Choice, LITTLE, NO_MATTER, gain_error};
use crate::from_profile::{Conduct, Profiled};
use crate::second_choice::SecondChoice;
use crate::words::{counted, percent, rounded};
use kilocore_show::shell::shell_words;

use crate::{Curve, Recommendation, Verdict};

/// If threads spend more than this share of their time on conditions, it is open what more threads
/// would do.
const HALF: f64 = 0.5;

/// What was seen of a profiled program and what was not, a sentence or two each.
#[must_use]
pub fn what_was_seen(profile: &Profile) -> Vec<String> {
    let view = View::of(profile);
    let gaps = view.gaps();
    let in_kernel = kernel_locks::seen(profile).into_iter().flatten();
    let gaps = gaps.iter().map(|gap| not_seen(gap));
    [view.seen()].into_iter().chain(in_kernel).chain(gaps).collect()
}

/// Says what to do with a program of which enough was seen ([`View::withheld`]). The second choice is that of
/// read-write locks beside the mutex that is chosen; there is none if read-write locks do not matter.
pub(crate) fn advise(
    view: &View<'_>,
    profiled: &Profiled,
    choice: &Choice<'_>,
    second: Option<&SecondChoice<'_>>,
    target: &Description,
) -> Recommendation {
    let machine = target.name.as_str();
    let waiting = choice.today.end().point.wait_share;
    let matters = if choice.helps || second.is_some_and(|second| second.helps) {
        waiting >= NO_MATTER
    } else {
        limits(choice.today)
    };
    let mut gaps = view.gaps();
    let run = view.run();
    let vague = || vague_hold(choice.today, &profiled.locks, run);
    let open = matters.then(|| vague().or_else(|| may_scale(choice.today, target, run))).flatten();
    let is_open = open.is_some();
    gaps.splice(0..0, open);
    let contended = run.and_then(watched::contended);
    let waits_elsewhere = contended.is_some() || run.and_then(kernel_locks::gap).is_some();
    let in_kernel = kernel_locks::large(view.profile);
    if !matters {
        // That they do not matter is not said of locks that threads wait for here already.
        gaps.extend(contended);
    }
    let mut answer = if profiled.conduct.takes_turns {
        cores_unused(choice, waiting, &profiled.conduct, machine)
    } else if matters && !is_open && !view.coverage.is_of_a_lesser_part() {
        limited(choice, second, (profiled, view.profile, machine))
    } else if let Some(in_kernel) = in_kernel {
        let mut answer = in_kernel.limits(None);
        answer.text.push(of_seen_locks(choice, waiting, machine));
        answer
    } else if gaps.is_empty() && run.is_some_and(watched::counts_only_waited_for) {
        let mut answer = unknown(vec![watched::uncounted(&shape(choice.today, machine))]);
        answer.text.extend(run.map(watched::more_threads));
        answer.text.push(of_seen_locks(choice, waiting, machine));
        answer
    } else if gaps.is_empty() {
        let on_conditions = view.on_conditions(&profiled.conduct);
        not_limited(choice, waiting, on_conditions, &profiled.conduct, machine)
    } else {
        let mut answer = unknown(gaps.clone());
        answer.text.push(of_seen_locks(choice, waiting, machine));
        answer
    };
    let limited = [Verdict::LimitedByLocks, Verdict::LimitedByKernelLocks, Verdict::CoresUnused];
    if limited.contains(&answer.verdict) {
        answer.text.extend(gaps.iter().map(|gap| not_seen(gap)));
    }
    if answer.verdict != Verdict::CoresUnused {
        answer.text.extend(cautions(&profiled.conduct, waits_elsewhere));
    }
    let sure = answer.gain_error.map(|error| about_gains(choice.best.lock, &error));
    let rw_sure = answer.rwlock.map(|_| about_rw_gains());
    let parts = sure.into_iter().chain(rw_sure).chain([view.seen()]);
    answer.confidence = parts.collect::<Vec<_>>().join(" ");
    answer
}

/// Whether locks are what limits the program on a curve.
fn limits(curve: &Curve) -> bool {
    let waiting = curve.end().point.wait_share;
    curve.shape != Shape::Scales && waiting >= LITTLE && waiting >= LESSER_PART * lost(curve)
}

/// The answer, unless locks limit the program only if there are not more of them with more threads.
pub(crate) fn if_as_many(
    given: Recommendation,
    today: &Curve,
    growing: &AsManyAsThreads,
    machine: &str,
) -> Recommendation {
    if limits(&growing.curve) {
        return given;
    }
    let why = format!(
        "{} if there are never more than the {} locks made or first acquired at {}, but they are about as many as \
         the threads; if there are as many more of them as threads, it is {}",
        shape(today, machine),
        growing.locks,
        growing.place,
        shape(&growing.curve, machine)
    );
    let more = "Record it with more threads, and see whether there are more of these locks then."
        .to_owned();
    Recommendation { confidence: given.confidence, text: vec![more], ..unknown(vec![why]) }
}

/// What the program would do if the locks that were seen were all that limits it.
fn of_seen_locks(choice: &Choice<'_>, waiting: f64, machine: &str) -> String {
    format!(
        "Of the locks that were seen alone: {}; taking them and waiting for them is {} of the \
         threads' time there.",
        shape(choice.today, machine),
        percent(waiting)
    )
}

/// The answer that threads take turns.
fn cores_unused(
    choice: &Choice<'_>,
    waiting: f64,
    conduct: &Conduct,
    machine: &str,
) -> Recommendation {
    let threads = counted(conduct.peak_threads, "thread");
    let who = match conduct.beside_others {
        true => format!("the {threads} of the process whose locks were seen"),
        false => format!("its {threads}"),
    };
    let why = format!(
        "{who} kept {:.1} of {} busy and waited on conditions meanwhile, for one another or for work",
        conduct.busy_cores,
        counted(conduct.cores.into(), "core")
    );
    let mut text: Vec<String> = conduct
        .condition_place
        .iter()
        .map(|place| {
            format!(
                "They waited longest on the condition first used at {place}. Where it passes a turn \
                 on (an interpreter's lock, a queue, a phase of one thread), that is what to change; \
                 where it waits for work, profile the program with more of it."
            )
        })
        .collect();
    text.push(of_seen_locks(choice, waiting, machine));
    answer(Verdict::CoresUnused, &why, text)
}

/// The answer that locks are not the reason.
fn not_limited(
    choice: &Choice<'_>,
    waiting: f64,
    on_conditions: f64,
    conduct: &Conduct,
    machine: &str,
) -> Recommendation {
    let forecast = shape(choice.today, machine);
    let open = on_conditions > HALF && choice.today.shape == Shape::Scales;
    let why = if open {
        format!(
            "{forecast} as far as locks go; whether it does is unknown, as threads waited on \
             conditions for {} of their time, for one another or for work",
            percent(on_conditions)
        )
    } else {
        format!("{forecast}; look elsewhere")
    };
    let serial = conduct.time.serial_share();
    let text = (serial > 0.0 && choice.today.shape != Shape::Scales).then(|| {
        format!(
            "What limits it in the forecast is the {} of its computing during which one thread ran \
             alone: no further core divides that.",
            percent(serial)
        )
    });
    let text = text.into_iter().chain([format!(
        "Taking locks and waiting for them is {} of the threads' time there. A lock of the \
         program's own that spins would look like computing.",
        percent(waiting)
    )]);
    let answer = answer(Verdict::NotByLocks, &why, text.collect());
    Recommendation { scaling_known: !open, ..answer }
}

/// The answer that locks are the reason, and what to do about them.
fn limited(
    choice: &Choice<'_>,
    second: Option<&SecondChoice<'_>>,
    (profiled, profile, machine): (&Profiled, &Profile, &str),
) -> Recommendation {
    let Choice { today, best, helps, .. } = *choice;
    let gain = if helps { choice.gain.gain } else { 1.0 };
    let error = gain_error(best.lock);
    let run = profile.runs.first();
    let process = run.and_then(crate::own_locks::subject);
    let foreign = run.zip(process).and_then(|(run, process)| remedy::foreign(process, run));
    // What `run` cannot replace, `--rwlock` does not reach either.
    let second = second.filter(|_| foreign.is_none());
    let rw_helps = second.filter(|second| second.helps);
    let mends = match (helps, rw_helps, &foreign) {
        (false, None, Some(_)) => "no other lock in its place mends that".to_owned(),
        (false, None, None) if choice.unlikely || second.is_some_and(SecondChoice::is_open) => {
            "whether another lock mends that is open".to_owned()
        }
        (false, None, None) if choice.spinning.is_some() => {
            "no lock whose waiters sleep mends that".to_owned()
        }
        (false, None, None) if second.is_some() => {
            "no lock that `run` can put there mends that".to_owned()
        }
        (false, None, None) => "no mutex that `run` can put there mends that".to_owned(),
        (true, None, _) => {
            let perhaps = if choice.is_sure() { "" } else { "perhaps " };
            format!("under {}, {perhaps}{} times as much there", best.lock, rounded(gain))
        }
        (_, Some(rw), _) => {
            let mutex = if helps { format!("{} and ", best.lock) } else { String::new() };
            let all = rounded(gain * rw.gain.gain);
            format!("under {mutex}{}, perhaps {all} times as much there", rw.best.lock)
        }
    };
    // One that scales may still fall short of what it would do.
    let forecast = match today.shape {
        Shape::Scales => format!(
            "forecast to grow up to {} cores of {machine}, with {} less there than in proportion to the \
             cores",
            outlook::cores(today),
            percent(lost(today))
        ),
        _ => shape(today, machine),
    };
    let why = format!("{forecast}; {mends}");
    let mut answer = answer(Verdict::LimitedByLocks, &why, Vec::new());
    answer.text.extend(culprit(today, &profiled.locks));
    answer.text.extend(run.and_then(watched::not_yet));
    if helps {
        answer.text.extend(praise(choice));
        answer.lock = Some(best.lock);
        answer.equals.clone_from(&choice.equals);
        answer.gain = gain;
        answer.gain_range = Some([choice.gain.low, choice.gain.high]);
        answer.gain_chance = Some(choice.chance());
        answer.gain_error = Some(error);
    } else if rw_helps.is_none() {
        answer.text.extend(nothing_helps(choice));
    }
    match (rw_helps, second) {
        (Some(rw), _) => {
            answer.text.extend(praise_rw(rw, helps.then_some(best.lock)));
            answer.rwlock = Some(rw.best.lock);
            answer.rwlock_gain = Some(rw.gain.gain);
        }
        (None, Some(second)) => answer.text.push(no_rw_lock_helps(second, &profiled.locks)),
        (None, None) => {}
    }
    if foreign.is_none() && (answer.lock.is_some() || answer.rwlock.is_some()) {
        answer.command = Some(command(answer.lock, answer.rwlock, profile));
    }
    answer.text.extend(foreign.map(|lock| remedy::remedy(lock, helps.then_some(best.lock))));
    answer.text.extend(choice.spinning.map(|spinning| {
        format!(
            "Under {} it would be {} times as much, were there a core for each thread; but its \
             waiters keep their cores, and the program had more threads than cores when it was \
             profiled, where that can make it a few times slower.",
            spinning.lock,
            rounded(crate::choice::end(spinning) / crate::choice::end(today))
        )
    }));
    answer
}

/// The command that puts locks under the program.
fn command(lock: Option<&str>, rwlock: Option<&str>, profile: &Profile) -> String {
    let options = [("--lock", lock), ("--rwlock", rwlock)];
    let given =
        options.into_iter().filter_map(|(option, name)| Some(format!("{option} {} ", name?)));
    format!("kilocore run {}-- {}", given.collect::<String>(), shell_words(&profile.command))
}
