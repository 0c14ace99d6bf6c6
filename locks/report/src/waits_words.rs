//! Where the threads' time went, in words and rows that the terminal and the page share.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, KernelLockWaits, RoleTimes, ThreadTimes, WaitedFor};
use kilocore_show::number;
use kilocore_show::text::{printable, shortened};

/// Names in sentences are shortened to this, as a line is broken at blanks only.
const NAME_WIDTH: usize = 30;
/// What somebody does less than this share of the time is not worth a word.
const WORTH_MENTION: f64 = 0.01;

/// What was found, a sentence or two each, and who is waited for most. If nothing was found, that is
/// said.
pub(crate) fn findings(times: &ThreadTimes) -> Vec<String> {
    let mut said: Vec<String> =
        times.findings.iter().map(|finding| printable(&finding.to_string())).collect();
    if !times.is_enough() {
        said.push("They were watched for too short a time to say what they do.".to_owned());
        return said;
    }
    if said.is_empty() {
        said.push("The figures show no pattern that has a name.".to_owned());
    }
    said.extend(most_waited_for(times));
    said
}

/// Who is waited for most in the end, and what it does meanwhile.
fn most_waited_for(times: &ThreadTimes) -> Option<String> {
    let one = times.ranking.first()?;
    let part = |time: Nanoseconds, what: &str| {
        let share = time.share_of(one.waited_for);
        (share >= WORTH_MENTION).then(|| format!("{what} for {}", number::percent(share)))
    };
    let parts = [
        part(one.computing, "computes"),
        part(one.ready, "has no core"),
        part(one.asleep, "sleeps or waits for input, output or the kernel"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let meanwhile = match parts.as_slice() {
        [] => String::new(),
        [only] => format!(" Of that time, it {only}."),
        [first @ .., last] => format!(" Of that time, it {} and {last}.", first.join(", ")),
    };
    Some(format!(
        "Waited for most, directly or through others: {}, by {} of all waits.{meanwhile}",
        shortened(&role_by_id(times, one.role), NAME_WIDTH),
        number::percent(one.score)
    ))
}

/// How much of it is known, in sentences.
pub(crate) fn coverage(times: &ThreadTimes) -> Vec<String> {
    let coverage = &times.coverage;
    let windows = match times.windows {
        1 => "one window".to_owned(),
        windows => format!("{} windows", number::count(windows)),
    };
    let known = 1.0 - coverage.unknown_share - coverage.unclassified_share;
    let mut said =
        vec![format!("The threads were watched for {} in {windows}.", duration(times.observed))];
    if times.is_enough() {
        said[0] += &format!(
            " It is known where {} of their time went.",
            number::percent(known.clamp(0.0, 1.0))
        );
    }
    if coverage.unclassified_share > 0.0 {
        said.push(format!(
            "{} of their time is in futexes of which nobody knows what they are.",
            number::percent(coverage.unclassified_share)
        ));
    }
    if coverage.unknown_target_share > 0.0 {
        said.push(format!(
            "For {} of the waits it is not known whom they were for.",
            number::percent(coverage.unknown_target_share)
        ));
    }
    if !coverage.wakings_seen {
        said.push(
            "Of most waits nobody saw when the thread became ready. Such a wait lasts until the \
             thread has a core again, and who woke it is not known."
                .to_owned(),
        );
    }
    if !coverage.kernel_locks_seen {
        said.push(
            "The kernel did not show waits for its own locks (it shows them to root, since Linux 5.19): \
             they are guessed from the system call, and whoever spins for them seems to compute."
                .to_owned(),
        );
    }
    if coverage.graph_time < times.observed {
        said.push(format!(
            "There was too much to keep: who waited for whom is from {} of the time.",
            duration(coverage.graph_time)
        ));
    }
    said
}

/// The roles with what they did, those first that others wait for, and then those that compute most.
pub(crate) fn roles_in_order(times: &ThreadTimes) -> Vec<&RoleTimes> {
    let mut roles: Vec<&RoleTimes> = times.roles.iter().collect();
    let rank = |role: &RoleTimes| times.ranking.iter().position(|one| one.role == role.id);
    roles.sort_by_key(|role| {
        let computing = role.times.computing();
        (rank(role).unwrap_or(usize::MAX), std::cmp::Reverse(computing), role.id)
    });
    roles
}

/// The name of a role, with its process if there are several.
pub(crate) fn role_name(times: &ThreadTimes, role: &RoleTimes) -> String {
    let name = printable(&role.to_string());
    if times.roles.iter().any(|other| other.process != role.process) {
        format!("{name} [{}]", role.process)
    } else {
        name
    }
}

/// The name of a role that a document refers to.
pub(crate) fn role_by_id(times: &ThreadTimes, id: u32) -> String {
    let role = times.roles.get(id as usize);
    role.map_or_else(|| format!("role {id}"), |role| role_name(times, role))
}

/// Whom somebody waits for.
pub(crate) fn party(times: &ThreadTimes, party: WaitedFor) -> String {
    match party {
        WaitedFor::Role(id) => role_by_id(times, id),
        WaitedFor::Outside => "outside of the program".to_owned(),
        WaitedFor::Unknown => "not known".to_owned(),
    }
}

/// The name of a word that a document refers to.
pub(crate) fn word(times: &ThreadTimes, id: u32) -> String {
    let word = times.words.get(id as usize);
    word.map_or_else(|| format!("word {id}"), |word| printable(&word.to_string()))
}

/// The kernel's locks, one for each place where it is acquired, with its name.
pub(crate) fn kernel_locks(
    times: &ThreadTimes,
) -> impl Iterator<Item = (&KernelLockWaits, String)> {
    times.kernel_locks.iter().map(|waits| (waits, printable(&waits.to_string())))
}

/// The activities that some thread had, by their place in [`Activities::named`], with their names.
pub(crate) fn activities(times: &ThreadTimes) -> Vec<(usize, &'static str)> {
    let had = |place: &usize| {
        times.roles.iter().any(|role| role.times.named()[*place].1 > Nanoseconds(0))
    };
    let names = Activities::default().named();
    (0..names.len()).filter(had).map(|place| (place, names[place].0)).collect()
}

/// A counted duration as people read it.
pub(crate) fn duration(time: Nanoseconds) -> String {
    number::nanoseconds(time.calculated().0)
}

/// A share as people read it, and nothing for none.
pub(crate) fn share_or_nothing(share: f64) -> String {
    if share > 0.0 { number::percent(share) } else { String::new() }
}
