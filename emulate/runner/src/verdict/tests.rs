//! Verdicts on runs that are made up.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use kilocore_emulation_orders::{Counts, Report, Span, ThreadTimes};
use kilocore_figures::Shape;
use proptest::prelude::*;

use super::{FALLEN, PART, Scope, Verdict, Why, answer};
use crate::cycles::CyclesFrom;
use crate::names::Symbols;
use crate::{Point, Runs, Variant};

const MS: f64 = 1e6;

const SCOPE: Scope<'_> = Scope {
    command: "./program {cores}",
    part: "",
    cycles_from: CyclesFrom::Measured,
    cycles_per_instruction: 1.0,
};

/// A run that takes so long, in ms, with a thread on each core, all of which compute as much together as on other numbers.
fn run(cores: u32, ms: f64) -> Report {
    let busy = ThreadTimes { working_ns: 480.0 * MS / f64::from(cores), ..ThreadTimes::default() };
    Report {
        end_ns: ms * MS,
        parallel: Some(Span { start_ns: 0.0, end_ns: ms * MS }),
        threads: [ThreadTimes::default()].into_iter().chain(vec![busy; cores as usize]).collect(),
        counts: Counts { instructions: 1_000_000, lock_calls: 100, ..Counts::default() },
        ..Report::default()
    }
}

fn point(report: Report, status: ExitStatus) -> Point {
    Point::of(report, status, Duration::ZERO, Duration::ZERO, &mut Symbols::default())
}

/// Runs of which the first is shown, unless they differ.
fn runs(reports: impl IntoIterator<Item = Report>) -> Runs {
    let points = reports.into_iter().map(|report| point(report, ExitStatus::default()));
    let mut points = points.zip(1..).map(|(point, seed)| (seed, point));
    let mut runs = Runs::from(points.next().expect("a run"));
    points.for_each(|(seed, point)| runs.add(seed, point));
    runs
}

/// A program under these locks with two runs on each number of cores that take equally long, of which each is altered.
fn under(locks: &str, times: &[(u32, f64)], alter: impl Fn(u32, &mut Report)) -> Variant {
    let on = |&(cores, ms): &(u32, f64)| {
        let mut report = run(cores, ms);
        alter(cores, &mut report);
        (cores, runs([report.clone(), report]))
    };
    Variant { locks: locks.to_owned(), points: times.iter().map(on).collect() }
}

fn own(times: &[(u32, f64)]) -> Variant {
    under(Variant::OWN, times, |_, _| ())
}

/// What is said of a program, each paragraph as one line.
fn said(variants: &[Variant]) -> Vec<String> {
    let all = answer(SCOPE, variants);
    all.into_iter().map(|text| text.replace(kilocore_show::terminal::NO_BREAK, " ")).collect()
}

/// All of it about a program as it is.
fn all_said(own: &Variant) -> String {
    said(std::slice::from_ref(own)).join("\n")
}

const SCALES: [(u32, f64); 4] = [(1, 480.0), (12, 42.0), (24, 22.0), (48, 12.0)];
const FLATTENS: [(u32, f64); 4] = [(1, 480.0), (12, 66.7), (24, 65.8), (48, 64.9)];
const COLLAPSES: [(u32, f64); 4] = [(1, 480.0), (12, 78.7), (24, 120.0), (48, 208.7)];

#[test]
fn each_shape_has_its_words_and_figures() {
    for (times, shape, words) in [
        (&SCALES[..], Shape::Scales, "Scales to 48 cores: 40 times as fast as on 1 (emulated)."),
        (
            &FLATTENS,
            Shape::Flattens,
            "Flattens: 7.2 times as fast on 12 cores as on 1, and 7.4 on 48 (emulated).",
        ),
        (
            &COLLAPSES,
            Shape::Collapses,
            "Collapses: 6.1 times as fast on 12 cores as on 1, and 2.3 on 48 (emulated).",
        ),
        (
            &[(1, 480.0), (12, 53.0), (24, 34.0), (48, 24.0)],
            Shape::Flattens,
            "Flattens: 14 times as fast on 24 cores as on 1, and 20 on 48, where it still rises (emulated).",
        ),
        (
            &[(1, 10.0), (48, 9.6)],
            Shape::Flattens,
            "Flattens from the start: as fast on 48 cores as on 1 (emulated).",
        ),
        (
            &[(6, 7.63), (48, 86.7)],
            Shape::Collapses,
            "Collapses from the start: 0.09 times as fast on 48 cores as on 6 (emulated).",
        ),
        (
            &[(1, 10.0), (2, 8.0)],
            Shape::Flattens,
            "Flattens: 1.2 times as fast on 2 cores as on 1 (emulated).",
        ),
    ] {
        let own = own(times);
        assert_eq!(Verdict::of(&own), Verdict::Shape(shape), "{words}");
        assert_eq!(said(std::slice::from_ref(&own))[0], words);
    }
}

#[test]
fn what_the_time_goes_to_is_told_and_who_is_alone() {
    let waits = |_: u32, report: &mut Report| {
        for thread in &mut report.threads[1..] {
            thread.stalled_ns = 0.61 * report.end_ns;
        }
    };
    let told = all_said(&under(Variant::OWN, &COLLAPSES, waits));
    assert!(
        told.contains("Its 48 cores wait for cache lines for 61 % of the time there."),
        "{told}"
    );
    // The time before its threads stays as long.
    let alone = |_: u32, report: &mut Report| {
        let before = 40.0 * MS;
        report.end_ns += before;
        report.parallel = Some(Span { start_ns: before, end_ns: report.end_ns });
    };
    let told = all_said(&under(Variant::OWN, &SCALES, alone));
    assert!(told.starts_with("Flattens"), "{told}");
    assert!(
        told.contains("While it has threads it scales: 40 times as fast on 48 cores as on 1."),
        "{told}"
    );
    assert!(
        told.contains("Of the time on 48 cores, 77 % (40.0 ms) is before its first thread"),
        "{told}"
    );
    assert!(!told.contains("idle"), "{told}");
}

#[test]
fn one_number_of_cores_gives_no_verdict_but_gains_all_the_same() {
    let own = own(&[(48, 10.0)]);
    assert_eq!(Verdict::of(&own), Verdict::Unknown(Why::OneCount));
    let told = said(&[own, under("mcs", &[(48, 4.0)], |_, _| ())]);
    assert!(told[0].starts_with("Not known how it scales: it ran on 48 cores only"), "{told:?}");
    assert_eq!(told[1], "Under mcs it is 2.5 times as fast on 48 cores as with its own locks.");
}

#[test]
fn chance_that_could_give_another_word_withholds_it() {
    let on = |cores: u32, times: &[f64]| (cores, runs(times.iter().map(|ms| run(cores, *ms))));
    let with = |last: &[f64]| Variant {
        locks: Variant::OWN.to_owned(),
        points: vec![on(1, &[480.0, 480.0]), on(12, &[80.0, 80.0]), on(48, last)],
    };
    let open = with(&[70.0, 75.0, 80.0, 95.0, 100.0]);
    assert_eq!(Verdict::of(&open), Verdict::Unknown(Why::Chance));
    let told = all_said(&open);
    assert!(
        told.starts_with("Not known whether it flattens or collapses: chance decides."),
        "{told}"
    );
    assert!(
        told.contains("6.0 times as fast on 48 cores as on 1, in other runs 4.8 to 6.9"),
        "{told}"
    );
    let sure = with(&[150.0, 160.0, 170.0, 180.0, 190.0]);
    assert_eq!(Verdict::of(&sure), Verdict::Shape(Shape::Collapses));
    let told = all_said(&sure);
    assert!(told.contains("and 2.8 on 48 (emulated; by chance, 2.5 to 3.2)."), "{told}");
    let once =
        Variant { points: vec![on(1, &[480.0]), on(48, &[12.0])], locks: Variant::OWN.to_owned() };
    let told = all_said(&once);
    assert!(told.contains("(emulated; one run on each number of cores)"), "{told}");
}

#[test]
fn times_that_say_nothing_give_no_verdict() {
    let set = |cores: u32, report: &mut Report| {
        report.counts.instructions *= u64::from(cores);
        report.threads[1..].iter_mut().for_each(|thread| thread.working_ns = 9.0 * MS);
    };
    let outside = |cores: u32, report: &mut Report| report.counts.outside = u64::from(cores > 1);
    let processes = |_: u32, report: &mut Report| report.counts.processes = 3;
    let each_its_own = [(1, 10.0), (12, 14.0), (48, 40.0)];
    for (own, why, words) in [
        (
            under(Variant::OWN, &[(1, 100.0), (48, 101.0)], set),
            Why::SetTime,
            "takes as long on each number of cores and keeps more of them busy",
        ),
        (
            under(Variant::OWN, &SCALES, outside),
            Why::Outside,
            "it waits for what is not simulated (once on",
        ),
        (under(Variant::OWN, &SCALES, processes), Why::Processes, "it starts other processes"),
        (
            under(Variant::OWN, &each_its_own, set),
            Why::MoreWork,
            "on 48 cores it computes 48 times as much as on 1",
        ),
    ] {
        assert_eq!(Verdict::of(&own), Verdict::Unknown(why), "{words}");
        let told = all_said(&own);
        assert!(told.starts_with("Not known how it scales: ") && told.contains(words), "{told}");
        let other = Variant { locks: "mcs".to_owned(), ..own.clone() };
        let has_gains = said(&[own, other]).iter().any(|line| line.contains("mcs"));
        assert_eq!(has_gains, why == Why::MoreWork, "{words}");
    }
    let told = all_said(&under(Variant::OWN, &each_its_own, set));
    assert!(told.contains("it does 12 times as much there in the same time"), "{told}");
    assert!(told.contains("if the work is the same, it is 0.25 times as fast"), "{told}");
}

#[test]
fn what_threads_of_their_own_work_do_is_seen_behind_a_long_beginning() {
    let long = |cores: u32, report: &mut Report| {
        report.counts.instructions = 10_000_000 + 100_000 * u64::from(cores);
        report.threads[0].working_ns = 100.0 * MS;
        report.threads[1..].iter_mut().for_each(|thread| thread.working_ns = 9.0 * MS);
    };
    let own = under(Variant::OWN, &[(6, 110.0), (12, 112.0), (48, 130.0)], long);
    assert_eq!(Verdict::of(&own), Verdict::Unknown(Why::MoreWork));
    // What falls by more than the cores that are added collapses, whatever its work is.
    let falls = under(Variant::OWN, &[(6, 110.0), (12, 112.0), (48, 1e4)], long);
    assert_eq!(Verdict::of(&falls), Verdict::Shape(Shape::Collapses));
    let told = all_said(&falls);
    assert!(
        told.contains("if each thread has work of its own, it collapses all the same."),
        "{told}"
    );
}

#[test]
fn times_that_are_the_same_may_have_been_set() {
    let one_is_busy = |_: u32, report: &mut Report| {
        report.threads.iter_mut().skip(2).for_each(|thread| thread.working_ns = 0.0);
    };
    let told = all_said(&under(Variant::OWN, &[(1, 100.0), (48, 101.0)], one_is_busy));
    assert!(told.starts_with("Flattens from the start"), "{told}");
    assert!(told.contains("If it works for a set time, that says nothing"), "{told}");
}

#[test]
fn a_run_that_ends_badly_gives_no_verdict() {
    for (status, words) in [(3 << 8, "exit status: 3"), (11, "signal: 11")] {
        let mut own = own(&SCALES);
        let bad = point(run(12, 42.0), ExitStatus::from_raw(status));
        own.points[1].1.add(3, bad);
        assert_eq!(Verdict::of(&own), Verdict::Unknown(Why::EndedBadly));
        let told = all_said(&own);
        assert!(told.contains("a run on 12 cores ended with") && told.contains(words), "{told}");
    }
}

#[test]
fn a_program_without_threads_is_told_so() {
    let alone = |_: u32, report: &mut Report| {
        report.threads.truncate(1);
        report.parallel = None;
    };
    let own = under(Variant::OWN, &[(1, 10.0), (48, 10.0)], alone);
    assert_eq!(Verdict::of(&own), Verdict::NoThreads);
    let told = said(&[own.clone(), Variant { locks: "mcs".to_owned(), ..own }]);
    let [first, second] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(first, "It makes no threads: more cores do nothing for it (emulated).");
    assert_eq!(second, "It may make some with a larger input.");
    // On one core it may make none, whatever it does on others.
    let single = under(Variant::OWN, &[(1, 10.0)], alone);
    assert_eq!(Verdict::of(&single), Verdict::Unknown(Why::OneCount));
}

#[test]
fn as_many_threads_on_each_number_of_cores_are_told() {
    let eight = |_: u32, report: &mut Report| {
        report.threads = vec![ThreadTimes { working_ns: 60.0 * MS, ..ThreadTimes::default() }; 8];
    };
    let own = under(Variant::OWN, &[(1, 480.0), (12, 60.0), (48, 60.0)], eight);
    let told = all_said(&own);
    assert!(told.contains("It has 8 threads on each number of cores."), "{told}");
    assert!(
        told.contains("are idle for 83 % of the time there: it has 8 threads for them"),
        "{told}"
    );
    let scope = Scope { command: "./program", ..SCOPE };
    let told = answer(scope, std::slice::from_ref(&own)).join("\n");
    assert!(told.contains("nothing in its command tells it how many"), "{told}");
}

#[test]
fn what_an_instruction_takes_is_a_condition_where_threads_meet() {
    let scope = Scope { cycles_from: CyclesFrom::Estimated, ..SCOPE };
    let spins = |_: u32, report: &mut Report| {
        let ns = 0.1 * report.end_ns;
        report.threads.iter_mut().for_each(|thread| thread.spinning_ns = ns);
    };
    let of = |own: &Variant| answer(scope, std::slice::from_ref(own))[0].clone();
    let met = of(&under(Variant::OWN, &FLATTENS, spins));
    assert!(met.ends_with("(emulated; if an instruction takes 1 cycle)."), "{met}");
    let apart = of(&own(&SCALES));
    assert!(apart.ends_with("(emulated)."), "{apart}");
}

#[test]
fn a_part_is_named() {
    let scope = Scope { part: " from solve until exit", ..SCOPE };
    let told = answer(scope, &[own(&SCALES)]);
    assert!(told[0].ends_with("(emulated from solve until exit)."), "{told:?}");
}

#[test]
fn the_best_of_other_locks_is_told_with_what_the_program_does_then() {
    let at_last = |locks: &str, ms: f64| {
        let times = [(1, 480.0), (12, 78.7), (24, 80.0), (48, ms)];
        under(locks, &times, |_, _| ())
    };
    let of = |others: &[(&str, f64)]| {
        let others = others.iter().map(|(locks, ms)| at_last(locks, *ms));
        said(&[own(&COLLAPSES)].into_iter().chain(others).collect::<Vec<_>>())
            .pop()
            .expect("a line")
    };
    assert_eq!(
        of(&[("ticket", 400.0), ("mcs", 80.0), ("clh", 81.0)]),
        "Under mcs it is 2.6 times as fast on 48 cores as with its own locks, and as good as that under clh. It \
         flattens: 6.1 times as fast on 12 cores as on 1, and 6.0 on 48."
    );
    let slower = of(&[("ticket", 400.0)]);
    assert!(
        slower.starts_with("Under ticket it is slower on 48 cores: 0.52 times as fast")
            && slower.contains("Of such losses, half were none"),
        "{slower}"
    );
    assert!(slower.contains("On 24 cores, ticket makes it 1.5 times as fast."), "{slower}");
    let none = of(&[("mcs", 200.0), ("ticket", 205.0)]);
    assert!(
        none.starts_with("None of mcs and ticket makes it a tenth faster on 48 cores: 1.0"),
        "{none}"
    );
}

#[test]
fn what_chance_leaves_open_of_a_gain_is_no_gain() {
    let on = |locks: &str, times: &[f64]| Variant {
        locks: locks.to_owned(),
        points: vec![(48, runs(times.iter().map(|ms| run(48, *ms))))],
    };
    let own = on(Variant::OWN, &[70.0, 100.0, 130.0]);
    let told = said(&[own.clone(), on("mcs", &[60.0, 80.0, 90.0])]);
    assert!(told[1].starts_with("Not known whether other locks make it faster"), "{told:?}");
    let told = said(&[own, on("mcs", &[30.0, 40.0, 50.0])]);
    assert!(told[1].contains("2.5 times (by chance, 1.4 to 4.3) as fast on 48 cores"), "{told:?}");
}

#[test]
fn locks_that_were_not_replaced_have_no_gain() {
    let with = |calls: u64, left: u64| {
        let alter = move |_: u32, report: &mut Report| {
            (report.counts.lock_calls, report.counts.lock_calls_left) = (calls, left);
        };
        said(&[own(&COLLAPSES), under("mcs", &COLLAPSES, alter)]).pop().expect("a line")
    };
    let none = with(0, 0);
    assert!(
        none.starts_with("No lock of the program was replaced: it takes none of pthread's."),
        "{none}"
    );
    assert!(with(7, 7).contains("it makes up to 7 calls that take one"), "{}", with(7, 7));
    for told in [with(0, 0), with(7, 7)] {
        assert!(told.ends_with("What other locks would do for it is not known."), "{told}");
    }
    assert!(with(7, 6).starts_with("Under mcs it is not a tenth faster"), "{}", with(7, 6));
}

/// Numbers of cores that grow, and how long it takes on each: the shortest and the longest time.
fn curves() -> impl Strategy<Value = Vec<(u32, f64, f64)>> {
    let one = (1_u32..20, 1.0..1e3_f64, 1.0..1.5_f64);
    proptest::collection::vec(one, 2..7).prop_map(|all| {
        let mut cores = 0;
        let on = |(more, ms, times): (u32, f64, f64)| {
            cores += more;
            (cores, ms, ms * times)
        };
        all.into_iter().map(on).collect()
    })
}

proptest! {
    #[test]
    fn no_run_contradicts_a_verdict(curve in curves()) {
        let on = |&(cores, least, most): &(u32, f64, f64)| {
            (cores, runs([least, most, least, most].map(|ms| run(cores, ms))))
        };
        let own = Variant { locks: Variant::OWN.to_owned(), points: curve.iter().map(on).collect() };
        let (&(cores, least, most), before) = curve.split_last().expect("two");
        let quickest = before.iter().map(|(_, least, _)| *least).fold(f64::INFINITY, f64::min);
        let slowest = before.iter().map(|(.., most)| *most).fold(f64::INFINITY, f64::min);
        let worth = f64::from(cores) / f64::from(curve[0].0);
        match Verdict::of(&own) {
            Verdict::Shape(Shape::Scales) => {
                prop_assert!(quickest > FALLEN * most, "a run is a tenth slower");
                prop_assert!(curve[0].1 / most >= PART * worth, "a run does not do half of what it could");
            }
            Verdict::Shape(Shape::Flattens) => {
                prop_assert!(quickest > FALLEN * most, "a run is a tenth slower");
            }
            Verdict::Shape(Shape::Collapses) => {
                prop_assert!(slowest <= FALLEN * least, "a run is no tenth slower");
            }
            Verdict::Unknown(Why::Chance) => {
                prop_assert!(curve.iter().any(|(_, least, most)| most > least));
            }
            Verdict::Unknown(Why::SetTime) => {}
            other => prop_assert!(false, "{other:?}"),
        }
        let told = said(std::slice::from_ref(&own));
        prop_assert!(!told.is_empty() && told.iter().all(|line| line.ends_with('.')), "{told:?}");
        prop_assert!(!told.concat().contains("NaN") && !told.concat().contains("inf"), "{told:?}");
    }

    #[test]
    fn runs_that_do_not_differ_have_a_verdict(curve in curves()) {
        let times: Vec<(u32, f64)> = curve.iter().map(|(cores, ms, _)| (*cores, *ms)).collect();
        let is_open = matches!(Verdict::of(&own(&times)), Verdict::Unknown(Why::Chance));
        prop_assert!(!is_open);
    }
}
