use super::View;
use crate::AcquiredAt;
use crate::choice::Choice;
use crate::from_profile::{Conduct, Profiled, from_profile, synthetic};
use crate::second_choice::SecondChoice;
use crate::{Curve, ForecastLock, ForecastPoint, GainError, Point, Recommendation, Verdict};
use kilocore_figures::{Judged, Nanoseconds};
use kilocore_lock_profile::{
    Activities, CpuLimit, Precision, Profile, RoleTimes, ThreadTimes, Unrecorded, Watching,
    WhyUnrecorded,
};
use kilocore_machine::Description;

/// A curve through rates, each in a band of so much to either side, its threads waiting for the
/// share given at the end.
pub(super) fn curve(lock: &'static str, rates: &[(u32, f64)], band: f64, waiting: f64) -> Curve {
    let point = |&(cores, rate): &(u32, f64)| ForecastPoint {
        point: Point {
            cores,
            throughput_per_s: rate,
            wait_share: waiting,
            lock_share_by_lock: vec![waiting],
            joules_per_op: 1.0,
            ..Point::empty(lock)
        },
        low: rate * (1.0 - band),
        high: rate * (1.0 + band),
    };
    Curve::new(lock, rates.iter().map(point).collect(), Judged::BY_LAST_CORES)
}

/// A machine with more cores in a node than the curves have: measurements of other programs, on several nodes, say
/// nothing of these.
fn machine_of_large_nodes(name: &str) -> Description {
    let machine = kilocore_machine::find("epyc-9554-2s").expect("it is known");
    Description { name: name.to_owned(), ..machine }
}

/// The answer to a profile, the first of whose curves is of the program as it is. Curves of read-write locks
/// are apart.
pub(super) fn advise(
    (curves, rw_curves): (&[Curve], &[Curve]),
    profiled: &Profiled,
    profile: &Profile,
    machine: &str,
) -> Recommendation {
    let view = View::of(profile);
    view.withheld().unwrap_or_else(|| {
        let machine = machine_of_large_nodes(machine);
        let choice = Choice::for_program(curves, profiled, &machine).weighed(None);
        let second = SecondChoice::among(choice.taken(), rw_curves, &profiled.locks);
        let second = second.map(|second| second.weighed(None));
        super::advise(&view, profiled, &choice, second.as_ref(), &machine)
    })
}

/// The answer to a profile that is not simulated.
pub(super) fn without_forecast(profile: &Profile) -> Option<Recommendation> {
    let view = View::of(profile);
    view.withheld().or_else(|| from_profile(profile).is_err().then(|| view.without_locks()))
}

/// A busy program with one lock.
fn profiled() -> Profiled {
    let mut profiled = from_profile(&synthetic::profile()).unwrap();
    profiled.conduct = Conduct {
        acquisitions: 1_000_000,
        peak_threads: 3,
        cores: 2,
        busy_cores: 2.0,
        ..Conduct::default()
    };
    profiled
}

/// Its profile, with all that can be seen of it.
fn profile() -> Profile {
    let mut profile = synthetic::profile();
    let run = profile.runs.remove(0);
    profile.runs.push(synthetic::watched(run, 190, &[("futex", 105)]));
    profile
}

fn advice(curves: &[Curve], profiled: &Profiled) -> (Recommendation, String) {
    advice_on(curves, profiled, &profile())
}

fn advice_on(curves: &[Curve], profiled: &Profiled, profile: &Profile) -> (Recommendation, String) {
    let advice = advise((curves, &[]), profiled, profile, "big-machine");
    let text = format!("{} {} {}", advice.headline, advice.confidence, advice.text.join(" "));
    (advice, text)
}

const RISING: [(u32, f64); 3] = [(1, 1.0), (24, 24.0), (48, 48.0)];
const FALLING: [(u32, f64); 3] = [(1, 1.0), (6, 5.0), (48, 2.0)];
const FLAT: [(u32, f64); 3] = [(1, 1.0), (6, 5.0), (48, 4.8)];

#[test]
fn where_no_lock_matters_none_is_recommended() {
    let curves = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.verdict, Verdict::NotByLocks);
    assert_eq!((advice.lock, advice.command), (None, None));
    assert!(text.contains("scale to 48 cores of big-machine"), "{text}");
    assert!(text.contains("0.3 %") && text.contains("look elsewhere"), "{text}");
    assert!(!text.contains("costs most"), "{text}");
}

#[test]
fn the_mere_taking_of_free_locks_is_no_limit() {
    let curves = [curve("futex", &RISING, 0.01, 0.02), curve("mcs", &RISING, 0.01, 0.02)];
    assert!(advice(&curves, &profiled()).1.contains("look elsewhere"));
}

#[test]
fn a_clean_bill_needs_eyes() {
    let curves = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    // An older profile, of which nobody knows what was not seen.
    let (advice, text) = advice_on(&curves, &profiled(), &synthetic::profile());
    assert_eq!(advice.verdict, Verdict::Unknown);
    assert!(advice.headline.starts_with("Unknown whether locks limit it: the program was not"));
    assert!(!text.contains("look elsewhere"), "{text}");
    let mut asleep = profile();
    let outside = asleep.runs[0].outside.as_mut().unwrap();
    outside.asleep.insert("futex".into(), 900);
    outside.unrecorded.push(Unrecorded {
        pid: 3,
        executable: "/bin/goes".into(),
        why: WhyUnrecorded::Static,
    });
    let (advice, text) = advice_on(&curves, &profiled(), &asleep);
    assert_eq!(advice.verdict, Verdict::Unknown);
    assert!(advice.headline.contains("no lock of goes could be seen (linked statically)"));
    assert!(text.contains("that threads slept was in futexes"), "{text}");
}

#[test]
fn locks_that_limit_do_so_whatever_else_there_may_be() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    let (advice, text) = advice_on(&curves, &profiled(), &synthetic::profile());
    assert_eq!(advice.verdict, Verdict::LimitedByLocks);
    assert!(text.contains("Mind that the program was not watched from outside"), "{text}");
}

#[test]
fn nothing_is_said_of_locks_where_a_control_group_held_the_program_up() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    let under = |limit: CpuLimit| {
        let mut profile = profile();
        let holds_up = limit.throttled > 0;
        profile.runs[0].limit = Some(limit);
        if holds_up {
            // Threads that are held up look as if they ran, but have no processor time.
            profile.runs[0].processes[0].threads.cpu_time *= 0.25;
        }
        let said = advice_on(&curves, &profiled(), &profile);
        (said, without_forecast(&profile).map(|advice| advice.verdict))
    };
    let limit = CpuLimit { cores: 0.5, periods: 89, throttled: 85, ..CpuLimit::default() };
    let ((advice, text), without) = under(limit);
    assert_eq!((advice.verdict, without), (Verdict::Unknown, Some(Verdict::Unknown)));
    assert!(text.contains("0.50 cores, and held it up in 85 of 89 periods"), "{text}");
    assert!(text.contains("measure it without that quota"), "{text}");
    assert!(text.contains("0.5 of 2 cores busy"), "{text}");
    // One that does not hold it up changes nothing.
    let ((advice, text), without) =
        under(CpuLimit { cores: 8.0, periods: 89, ..CpuLimit::default() });
    assert_eq!((advice.verdict, without), (Verdict::LimitedByLocks, None));
    assert!(!text.contains("control group"), "{text}");
}

#[test]
fn nothing_is_said_from_nothing() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    let mut single = profile();
    single.runs[0].processes[0].threads.peak = 1;
    single.runs[0].wall_time *= 2.0;
    single.runs[0].outside.as_mut().unwrap().running = 100;
    let mut idle = profile();
    idle.runs[0].wall_time *= 1e3;
    idle.runs[0].outside.as_mut().unwrap().running = 1;
    for (profile, words) in [(single, "one at a time"), (idle, "cores busy for")] {
        let (advice, text) = advice_on(&curves, &profiled(), &profile);
        assert_eq!(advice.verdict, Verdict::TooLittleEvidence, "{text}");
        assert!(advice.headline.starts_with("Too little evidence: "), "{text}");
        assert!(advice.headline.contains(words), "{text}");
        assert!(!text.contains("forecast") && !text.contains("look elsewhere"), "{text}");
        assert_eq!((advice.lock, advice.command), (None, None));
        assert_eq!(without_forecast(&profile).map(|a| a.verdict), Some(advice.verdict));
    }
    assert_eq!(without_forecast(&profile()), None);
}

#[test]
fn a_busy_program_whose_locks_cannot_be_seen_is_unknown() {
    let mut none = profile();
    none.runs[0].processes.clear();
    let advice = without_forecast(&none).unwrap();
    assert_eq!(advice.verdict, Verdict::Unknown, "{advice:?}");
    assert!(advice.headline.contains("futexes"), "{advice:?}");
    none.runs[0].outside.as_mut().unwrap().asleep.clear();
    let advice = without_forecast(&none).unwrap();
    assert!(advice.headline.contains("computing and spinning"), "{advice:?}");
    // One acquisition, as of a program that only starts.
    let mut once = profile();
    once.runs[0].processes[0].locks[0] = synthetic::mutex(1, "store", 1);
    let advice = without_forecast(&once).unwrap();
    assert_eq!(advice.verdict, Verdict::Unknown, "{advice:?}");
    let outside = once.runs[0].outside.as_mut().unwrap();
    outside.running = 60;
    outside.asleep.insert("futex".into(), 101);
    once.runs[0].processes[0].threads.cpu_time *= 0.3;
    let advice = without_forecast(&once).unwrap();
    assert_eq!(advice.verdict, Verdict::TooLittleEvidence, "{advice:?}");
    assert!(advice.headline.contains("a lock once"), "{advice:?}");
}

#[test]
fn where_nothing_helps_the_program_must_change() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.8)];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.verdict, Verdict::LimitedByLocks);
    assert_eq!((advice.lock, advice.command), (None, None));
    assert!(text.contains("peak at 6 cores") && text.contains("fall to 40 %"), "{text}");
    assert!(text.contains("No lock that may be put under it"), "{text}");
    assert!(text.contains("90 %") && text.contains("the mutex made or first acquired"), "{text}");
}

#[test]
fn a_clear_winner_comes_with_how_far_such_forecasts_err_and_its_command() {
    let curves = [
        curve("futex", &FALLING, 0.01, 0.9),
        curve("ticket", &FALLING, 0.01, 0.9),
        curve("mcs", &FLAT, 0.01, 0.5),
    ];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.lock, Some("mcs"));
    assert!((advice.gain - 2.4).abs() < 1e-9);
    let error = GainError::published("mcs").unwrap();
    assert_eq!(advice.gain_error, Some(error));
    assert!(advice.headline.contains("under mcs, 2.4 times as much there"), "{text}");
    // The small bands of the curves widen what the errors of all locks leave open by less than is printed.
    let usual = GainError::published_of_all().median;
    let between = format!("between {:.1} and {:.1}", 2.4 / usual, 2.4 * usual);
    assert!(text.contains("Take mcs: 2.4 times") && text.contains(&between), "{text}");
    let cases = format!("median of {} published cases", error.cases);
    assert!(advice.confidence.contains(&cases), "{text}");
    assert!(text.contains("its peak is at 6 cores, and 48 cores give 96 %"), "{text}");
    assert!(text.contains("with more threads than cores it loses"), "{text}");
    assert_eq!(
        advice.command.as_deref(),
        Some("kilocore run --lock mcs -- ./program 'an argument'")
    );
}

#[test]
fn a_lock_that_nobody_measured_is_said_to_be_one() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("cna", &FLAT, 0.01, 0.5)];
    let (advice, text) = advice(&curves, &profiled());
    assert!(advice.confidence.contains("nobody published any under cna"), "{text}");
    assert_eq!(advice.gain_error, Some(GainError::published_of_all()));
}

#[test]
fn a_gain_within_the_usual_error_is_a_perhaps() {
    let little = [(1, 1.0), (6, 5.0), (48, 2.9)];
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &little, 0.01, 0.5)];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.lock, Some("mcs"));
    assert!(advice.headline.contains("perhaps 1.4 times"), "{text}");
    assert!(text.contains("Perhaps mcs"), "{text}");
}

#[test]
fn near_equals_are_named() {
    let curves = [
        curve("futex", &FALLING, 0.01, 0.9),
        curve("mcs", &FLAT, 0.01, 0.5),
        curve("clh", &[(1, 1.0), (48, 4.9)], 0.01, 0.5),
    ];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!((advice.lock, &advice.equals[..]), (Some("mcs"), &["clh"][..]));
    assert!(text.contains("As good, within what differs") && text.contains(": clh."), "{text}");
}

#[test]
fn what_the_profile_leaves_open_or_is_small_is_not_recommended() {
    let vague = [curve("futex", &FALLING, 0.5, 0.9), curve("mcs", &FLAT, 0.5, 0.5)];
    let small =
        [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &[(1, 1.0), (48, 2.4)], 0.01, 0.5)];
    for (curves, gain) in [(vague, "2.4 times"), (small, "1.2 times")] {
        let (advice, text) = advice(&curves, &profiled());
        assert_eq!((advice.verdict, advice.lock), (Verdict::LimitedByLocks, None), "{text}");
        assert!(advice.command.is_none() && advice.gain == 1.0);
        assert!(advice.headline.contains("whether another lock mends that is open"), "{text}");
        assert!(text.contains("No lock is recommended: mcs") && text.contains(gain), "{text}");
    }
}

#[test]
fn with_more_threads_than_cores_what_spins_is_not_recommended() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("cna", &FLAT, 0.01, 0.5)];
    let mut profiled = profiled();
    profiled.conduct.peak_threads = 11;
    let (advice, text) = advice(&curves, &profiled);
    assert_eq!((advice.lock, advice.command), (None, None));
    assert!(text.contains("Under cna it would be 2.4 times as much"), "{text}");
}

#[test]
fn what_run_leaves_alone_gets_no_command_and_another_way_on() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    for (family, kind) in [("spin", "a spin lock"), ("mutex", "a recursive mutex")] {
        let mut profiled = profiled();
        (profiled.locks[0].family, profiled.locks[0].left_alone) = (family, Some(kind));
        let (advice, text) = advice(&curves, &profiled);
        assert_eq!(advice.verdict, Verdict::LimitedByLocks);
        assert_eq!((advice.lock, advice.command), (None, None), "{text}");
        assert!(text.contains(kind) && text.contains("the way on is"), "{text}");
    }
}

#[test]
fn the_culprit_is_named_by_where_it_is_acquired() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    let mut profiled = profiled();
    profiled.locks[0].acquired_at = ["get", "put", "list"]
        .map(|place| AcquiredAt {
            place: place.to_owned(),
            site: Vec::new(),
            acquisitions: 5,
            contended: 1,
            waited: Nanoseconds(9.0),
        })
        .into();
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("the mutex acquired at get and put, made or first"), "{text}");
}

/// The profile of threads that computed and waited for locks so long while they were watched, in nanoseconds.
fn waited(observed: Nanoseconds, user: u64, locks: u64) -> Profile {
    let mut profile = profile();
    let [user, locks] = [user, locks].map(Nanoseconds);
    let times = Activities { user, locks, ..Activities::default() };
    let roles = vec![RoleTimes { times, ..RoleTimes::default() }];
    profile.runs[0].times = Some(ThreadTimes { observed, roles, ..ThreadTimes::default() });
    profile
}

const SECOND: Nanoseconds = Nanoseconds(1_000_000_000);

#[test]
fn a_forecast_whose_band_holds_that_it_scales_is_no_verdict() {
    let bends_late = [(1, 1.0), (24, 20.0), (48, 25.0)];
    let curves = [curve("futex", &bends_late, 0.01, 0.4), curve("mcs", &bends_late, 0.01, 0.4)];
    let (idle, waiting) = (waited(SECOND, 999, 1), waited(SECOND, 900, 100));
    let (open, text) = advice_on(&curves, &profiled(), &idle);
    assert_eq!(open.verdict, Verdict::Unknown, "{text}");
    assert!(text.contains("forecast to do 52 % of what") && text.contains("25 % to all"), "{text}");
    // Threads do wait for locks already, or not even the end of the band is so high.
    assert_eq!(advice_on(&curves, &profiled(), &waiting).0.verdict, Verdict::LimitedByLocks);
    let bends_soon = [(1, 1.0), (24, 20.0), (48, 22.0)];
    let curves = [curve("futex", &bends_soon, 0.01, 0.4), curve("mcs", &bends_soon, 0.01, 0.4)];
    assert_eq!(advice_on(&curves, &profiled(), &idle).0.verdict, Verdict::LimitedByLocks);
}

#[test]
fn a_lock_whose_hold_is_hardly_known_limits_nothing_yet() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let mut profiled = profiled();
    let (idle, busy) = (waited(SECOND, 999, 1), waited(SECOND, 900, 100));
    let shortly = waited(Nanoseconds(2_000_000), 900, 100);
    profiled.locks[0].hold_range = Some([100.0, 1_700.0].map(Nanoseconds));
    let (advice, text) = advice_on(&curves, &profiled, &idle);
    assert_eq!(advice.verdict, Verdict::Unknown);
    assert!(text.contains("it is held for 100 ns to 1.7 µs at a time"), "{text}");
    // Threads do wait for locks already.
    let verdict = |profiled: &Profiled, profile| advice_on(&curves, profiled, profile).0.verdict;
    assert_eq!(verdict(&profiled, &busy), Verdict::LimitedByLocks);
    // Two milliseconds do not show that.
    assert_eq!(verdict(&profiled, &shortly), Verdict::Unknown);
    profiled.locks[0].hold_range = Some([1_500.0, 1_700.0].map(Nanoseconds));
    assert_eq!(verdict(&profiled, &idle), Verdict::LimitedByLocks);
}

#[test]
fn two_milliseconds_of_watching_are_too_short_for_any_verdict() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FLAT, 0.01, 0.5)];
    let watched = |observed, beside_library| {
        let mut profile = profile();
        profile.runs[0].watching = Some(Watching { beside_library, ..Watching::default() });
        profile.runs[0].times = Some(ThreadTimes { observed, ..ThreadTimes::default() });
        advice_on(&curves, &profiled(), &profile)
    };
    let (advice, text) = watched(Nanoseconds(2_000_000), false);
    assert_eq!(advice.verdict, Verdict::Unknown);
    assert!(text.contains("watched for 2.0 ms of"), "{text}");
    assert_eq!(watched(Nanoseconds(2_000_000_000), false).0.verdict, Verdict::LimitedByLocks);
    // The library counted the whole run.
    assert_eq!(watched(Nanoseconds(2_000_000), true).0.verdict, Verdict::LimitedByLocks);
}

#[test]
fn a_lock_that_nobody_could_count_limits_nothing_if_hardly_anybody_waits_for_it() {
    let waited = |share: f64| {
        let mut profile = profile();
        let run = &mut profile.runs[0];
        run.watching = Some(Watching::default());
        run.times =
            Some(ThreadTimes { observed: Nanoseconds(1_000_000_000), ..ThreadTimes::default() });
        run.processes[0].threads.cpu_time = run.wall_time;
        let lock = &mut run.processes[0].locks[0];
        lock.what = Some("Python's global interpreter lock".to_owned());
        lock.precision = Some(Precision::default());
        lock.wait.sum = run.wall_time * share;
        without_forecast(&profile).expect("nothing can be simulated")
    };
    let much = waited(1.0);
    assert_eq!(much.verdict, Verdict::LimitedByLocks);
    assert!(much.headline.contains("50 % of their time they wait for it"), "{much:?}");
    let little = waited(0.001);
    assert_eq!(little.verdict, Verdict::Unknown);
    assert!(!little.headline.contains("one at a time"), "{little:?}");
}

#[test]
fn a_read_write_culprit_is_told_apart_by_who_holds_it() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let mut profiled = profiled();
    let lock = &mut profiled.locks[0];
    *lock = ForecastLock {
        family: "read-write",
        left_alone: Some("a read-write lock"),
        acquisitions: 10,
        shared_acquisitions: 1_000,
        hold: Nanoseconds(100.0),
        exclusive_hold: Nanoseconds(100.0),
        ..lock.clone()
    };
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("read without taking it"), "{text}");
    profiled.locks[0].exclusive_hold = Nanoseconds(2e6);
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("for writing in 1.0 % of the cases, for 2.0 ms"), "{text}");
}

/// A program whose one lock is a read-write lock that `run --rwlock` replaces.
fn reading() -> Profiled {
    let mut profiled = profiled();
    let lock = &mut profiled.locks[0];
    (lock.family, lock.left_alone) = ("read-write", Some("a read-write lock"));
    (lock.acquisitions, lock.shared_acquisitions) = (10, 1_000);
    profiled
}

fn advice_of_both(
    curves: &[Curve],
    rw_curves: &[Curve],
    profiled: &Profiled,
) -> (Recommendation, String) {
    let advice = advise((curves, rw_curves), profiled, &profile(), "big-machine");
    let text = format!("{} {} {}", advice.headline, advice.confidence, advice.text.join(" "));
    (advice, text)
}

#[test]
fn a_read_write_lock_is_recommended_without_an_error_of_mutexes() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let rw =
        [curve("writer-first", &FALLING, 0.01, 0.9), curve("bravo-central", &RISING, 0.01, 0.1)];
    let (advice, text) = advice_of_both(&curves, &rw, &reading());
    assert_eq!(advice.verdict, Verdict::LimitedByLocks);
    assert_eq!((advice.lock, advice.rwlock), (None, Some("bravo-central")));
    assert_eq!((advice.gain, advice.rwlock_gain, advice.gain_error), (1.0, Some(24.0), None));
    let command = advice.command.expect("one follows");
    assert!(command.starts_with("kilocore run --rwlock bravo-central -- "), "{command}");
    assert!(text.contains("under bravo-central, perhaps 24 times as much there"), "{text}");
    assert!(text.contains("is not known: try it") && !text.contains("factor of"), "{text}");
    assert!(!text.contains("No lock that may be put under it"), "{text}");
}

#[test]
fn a_program_that_asked_for_writers_first_gets_the_fastest_lock() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let rw = [curve("reader-first", &FLAT, 0.01, 0.1), curve("phase-fair", &RISING, 0.01, 0.1)];
    let mut profiled = reading();
    let (advice, text) = advice_of_both(&curves, &rw, &profiled);
    assert_eq!(advice.rwlock, Some("reader-first"));
    assert!(text.contains("Under phase-fair, a writer that waits keeps new readers out"), "{text}");
    profiled.locks[0].writers_first = true;
    let (advice, text) = advice_of_both(&curves, &rw, &profiled);
    assert_eq!(advice.rwlock, Some("phase-fair"));
    assert!(text.contains("asked for writers first itself"), "{text}");
    assert!(!text.contains("keeps new readers out"), "{text}");
    // One of two that did not ask is enough.
    profiled.locks.push(reading().locks.remove(0));
    let locks = &profiled.locks;
    let choice = crate::second_choice::SecondChoice::among(&curves[0], &rw, locks).expect("two");
    assert!(!choice.writers_first && choice.best.lock == "reader-first");
}

#[test]
fn both_kinds_of_lock_are_recommended_where_both_help() {
    let mut profiled = reading();
    profiled.locks.push(from_profile(&synthetic::profile()).unwrap().locks.remove(0));
    profiled.locks[1].left_alone = None;
    let of_both = |lock, rates: &[(u32, f64)]| {
        let mut curve = curve(lock, rates, 0.01, 0.9);
        for point in &mut curve.points {
            point.point.lock_share_by_lock = vec![0.4, 0.5];
        }
        curve
    };
    let curves = [of_both("futex", &FALLING), of_both("mcs", &FLAT)];
    let (advice, text) = advice_of_both(&curves, &[of_both("phase-fair", &RISING)], &profiled);
    assert_eq!((advice.lock, advice.rwlock), (Some("mcs"), Some("phase-fair")));
    assert_eq!((advice.gain, advice.rwlock_gain), (2.4, Some(10.0)));
    let command = advice.command.expect("one follows");
    assert!(command.starts_with("kilocore run --lock mcs --rwlock phase-fair -- "), "{command}");
    assert!(text.contains("under mcs and phase-fair, perhaps 24 times as much"), "{text}");
    assert!(text.contains("once its mutexes are mcs"), "{text}");
}

#[test]
fn where_no_read_write_lock_helps_the_reason_is_told() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let rw =
        [curve("writer-first", &FALLING, 0.01, 0.8), curve("bravo-central", &FALLING, 0.01, 0.8)];
    let (advice, text) = advice_of_both(&curves, &rw, &reading());
    assert_eq!((advice.rwlock, advice.rwlock_gain, advice.command), (None, None, None));
    assert!(text.contains("no lock that `run` can put there mends that"), "{text}");
    assert!(text.contains("None of the 2 read-write locks"), "{text}");
    assert!(text.contains("90 % of the threads' time on 48 cores, and 80 % under"), "{text}");
}

#[test]
fn a_run_that_did_little_is_called_so() {
    let curves = [curve("futex", &RISING, 0.01, 0.001)];
    let mut profiled = profiled();
    assert!(!advice(&curves, &profiled).1.contains("Mind"));
    profiled.conduct = Conduct {
        acquisitions: 10_000,
        peak_threads: 4,
        cores: 2,
        busy_cores: 1.0,
        unused_cores: 1.0,
        condition_share: 0.7,
        condition_place: Some("take_gil (gil.c:7)".to_owned()),
        ..Conduct::default()
    };
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("only 1.0 of 2 cores busy"), "{text}");
    assert!(
        text.contains("condition variables, longest on the one first used at take_gil"),
        "{text}"
    );
}

#[test]
fn threads_that_take_turns_would_leave_more_cores_unused() {
    let curves = [curve("futex", &RISING, 0.01, 0.4), curve("mcs", &RISING, 0.01, 0.001)];
    let mut profiled = profiled();
    profiled.conduct = Conduct {
        peak_threads: 4,
        cores: 2,
        busy_cores: 1.0,
        unused_cores: 1.0,
        condition_share: 0.7,
        threads_on_conditions: 3.0,
        takes_turns: true,
        condition_place: Some("take_gil (gil.c:7)".to_owned()),
        ..Conduct::default()
    };
    let (advice, text) = advice(&curves, &profiled);
    assert_eq!((advice.verdict, advice.lock), (Verdict::CoresUnused, None));
    assert!(text.contains("its 4 threads kept 1.0 of 2 cores busy"), "{text}");
    assert!(text.contains("first used at take_gil (gil.c:7)"), "{text}");
}

#[test]
fn watching_acquits_no_program_as_it_counts_only_locks_that_are_waited_for() {
    let curves = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    let watched = |beside_library| {
        let mut profile = profile();
        profile.runs[0].watching = Some(Watching { beside_library, ..Watching::default() });
        advice_on(&curves, &profiled(), &profile)
    };
    let (alone, text) = watched(false);
    assert_eq!((alone.verdict, alone.scaling_known), (Verdict::Unknown, false), "{text}");
    assert!(alone.headline.contains("scale to 48 cores of big-machine as far as"), "{text}");
    assert!(text.contains("on 2 cores") && text.contains("measure with more threads"), "{text}");
    // The library counts every lock.
    assert_eq!(watched(true).0.verdict, Verdict::NotByLocks);
}

#[test]
fn waiting_on_conditions_leaves_open_whether_a_program_scales() {
    let curves = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    let mut profiled = profiled();
    let mut on_conditions = |threads| {
        profiled.conduct.threads_on_conditions = threads;
        advice(&curves, &profiled)
    };
    // Of 2.95 threads 1.05 slept.
    let (often, text) = on_conditions(1.04);
    assert_eq!(often.verdict, Verdict::NotByLocks);
    assert!(often.headline.contains("look elsewhere"), "{text}");
    let (seldom, text) = on_conditions(0.2);
    assert!(seldom.headline.contains("look elsewhere"), "{text}");
    let mut profile = profile();
    let outside = profile.runs[0].outside.as_mut().unwrap();
    outside.asleep.insert("futex".into(), 400);
    outside.futexes.conditions = 400;
    profiled.conduct.threads_on_conditions = 3.9;
    let (open, text) = advice_on(&curves, &profiled, &profile);
    assert_eq!(open.verdict, Verdict::NotByLocks, "{text}");
    assert!(open.headline.contains("as far as locks go; whether it does is unknown"), "{text}");
    assert!(often.scaling_known && !open.scaling_known);
}

#[test]
fn where_no_lock_helps_locks_limit_what_they_take_a_good_part_of() {
    let verdict = |rates: &[(u32, f64)], waiting| {
        let curves = [curve("futex", rates, 0.01, waiting), curve("mcs", rates, 0.01, waiting)];
        advice(&curves, &profiled()).0.verdict
    };
    assert_eq!(verdict(&FLAT, 0.3), Verdict::LimitedByLocks);
    // Of nine tenths that are lost, locks explain a tenth.
    assert_eq!(verdict(&FLAT, 0.1), Verdict::NotByLocks);
    assert_eq!(verdict(&RISING, 0.3), Verdict::NotByLocks, "it scales all the same");
}

#[test]
fn locks_of_the_kernel_are_the_verdict_where_the_programs_own_do_not_matter() {
    let mut profile = profile();
    let in_kernel = |thousandths| Some(super::kernel_locks::tests::times(thousandths, true));
    profile.runs[0].times = in_kernel(400);
    let scales = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    let (advice, text) = advice_on(&scales, &profiled(), &profile);
    assert_eq!(advice.verdict, Verdict::LimitedByKernelLocks, "{text}");
    assert_eq!(text.matches("kernel's own locks").count(), 1, "{text}");
    assert!(text.contains("Of the locks that were seen alone: forecast to scale"), "{text}");
    assert!(!advice.scaling_known && advice.lock.is_none(), "{text}");
    profile.runs[0].times = in_kernel(40);
    let (advice, text) = advice_on(&scales, &profiled(), &profile);
    assert_eq!(advice.verdict, Verdict::NotByLocks, "{text}");
    // Where its own locks limit it, the answer about these stands.
    profile.runs[0].times = in_kernel(400);
    let falls = [curve("futex", &FALLING, 0.01, 0.8), curve("mcs", &FLAT, 0.01, 0.5)];
    let (advice, text) = advice_on(&falls, &profiled(), &profile);
    assert_eq!(advice.verdict, Verdict::LimitedByLocks, "{text}");
    let told = super::said_beside(advice, &profile);
    assert!(
        told.text[0].contains("wait 40 % of their time for the kernel's own locks"),
        "{told:?}"
    );
}
