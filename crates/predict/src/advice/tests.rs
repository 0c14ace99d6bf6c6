use super::{advise, duration, percent, shell_words};
use crate::from_profile::{Conduct, Profiled, synthetic};
use crate::{Curve, ForecastLock, ForecastPoint, Point, Recommendation};

/// A curve through rates, each in a band of so much to either side, its threads waiting for the
/// share given at the end.
fn curve(lock: &'static str, rates: &[(u32, f64)], band: f64, waiting: f64) -> Curve {
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
    Curve::new(lock, rates.iter().map(point).collect())
}

/// A busy program with one lock.
fn profiled() -> Profiled {
    let mut profiled = crate::from_profile(&synthetic::profile()).unwrap();
    profiled.conduct = Conduct {
        acquisitions: 1_000_000,
        peak_threads: 4,
        cores: 2,
        busy_cores: 2.0,
        ..Conduct::default()
    };
    profiled
}

fn advice(curves: &[Curve], profiled: &Profiled) -> (Recommendation, String) {
    let advice = advise(curves, profiled, &synthetic::profile(), "big-machine");
    let text = advice.text.join(" ");
    (advice, text)
}

const RISING: [(u32, f64); 3] = [(1, 1.0), (24, 24.0), (48, 48.0)];
const FALLING: [(u32, f64); 3] = [(1, 1.0), (6, 5.0), (48, 2.0)];
const FLAT: [(u32, f64); 3] = [(1, 1.0), (6, 5.0), (48, 4.8)];

#[test]
fn where_no_lock_matters_none_is_recommended() {
    let curves = [curve("futex", &RISING, 0.01, 0.003), curve("mcs", &RISING, 0.01, 0.002)];
    let (advice, text) = advice(&curves, &profiled());
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
fn where_nothing_helps_the_program_must_change() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.8)];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!((advice.lock, advice.command), (None, None));
    assert!(text.contains("peak at 6 cores") && text.contains("fall to 40 %"), "{text}");
    assert!(text.contains("No lock among those simulated"), "{text}");
    assert!(text.contains("90 %") && text.contains("the mutex made or first taken at"), "{text}");
}

#[test]
fn a_clear_winner_comes_with_its_range_and_its_command() {
    let curves = [
        curve("futex", &FALLING, 0.1, 0.9),
        curve("ticket", &FALLING, 0.1, 0.9),
        curve("mcs", &FLAT, 0.1, 0.5),
    ];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.lock, Some("mcs"));
    assert!((advice.gain - 2.4).abs() < 1e-9);
    // 4.8 × 0.9 / (2 × 1.1) and 4.8 × 1.1 / (2 × 0.9).
    assert!(text.contains("Take mcs") && text.contains("2.4 times"), "{text}");
    assert!(text.contains("(2.0 to 2.9 within"), "{text}");
    assert!(text.contains("its peak is at 6 cores, and 48 cores give 96 %"), "{text}");
    assert_eq!(
        advice.command.as_deref(),
        Some("kilocore run --lock mcs -- ./program 'an argument'")
    );
}

#[test]
fn of_equally_good_locks_the_one_that_takes_the_least_energy_is_taken() {
    let mut frugal = curve("requester", &[(1, 1.0), (48, 47.5)], 0.01, 0.1);
    for point in &mut frugal.points {
        point.point.joules_per_op = 0.5;
    }
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &RISING, 0.01, 0.1), frugal];
    assert_eq!(advice(&curves, &profiled()).0.lock, Some("requester"));
}

#[test]
fn overlapping_bands_make_a_perhaps() {
    let curves = [curve("futex", &FALLING, 0.5, 0.9), curve("mcs", &FLAT, 0.5, 0.5)];
    let (advice, text) = advice(&curves, &profiled());
    assert_eq!(advice.lock, Some("mcs"));
    assert!(text.contains("Perhaps mcs") && text.contains("bands overlap"), "{text}");
}

#[test]
fn a_read_write_culprit_is_told_apart_by_who_holds_it() {
    let curves = [curve("futex", &FALLING, 0.01, 0.9), curve("mcs", &FALLING, 0.01, 0.9)];
    let mut profiled = profiled();
    let lock = &mut profiled.locks[0];
    *lock = ForecastLock {
        family: "read-write",
        acquisitions: 10,
        shared_acquisitions: 1_000,
        hold_ns: 100.0,
        exclusive_hold_ns: 100.0,
        ..lock.clone()
    };
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("read without taking it"), "{text}");
    profiled.locks[0].exclusive_hold_ns = 2e6;
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("for writing in 1.0 % of the cases, for 2.0 ms"), "{text}");
}

#[test]
fn a_run_that_says_little_is_called_so() {
    let curves = [curve("futex", &RISING, 0.01, 0.001)];
    let mut profiled = profiled();
    assert!(!advice(&curves, &profiled).1.contains("Mind"));
    profiled.conduct.acquisitions = 7;
    profiled.conduct.peak_threads = 1;
    let (_, text) = advice(&curves, &profiled);
    assert!(text.contains("only 7 times") && text.contains("a single thread"), "{text}");
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
fn figures_are_written_for_people() {
    assert_eq!(percent(0.0004), "less than 0.1 %");
    assert_eq!(percent(0.0131), "1.3 %");
    assert_eq!(percent(0.26), "26 %");
    assert_eq!(duration(86.4), "86 ns");
    assert_eq!(duration(1_495_136.0), "1.5 ms");
    assert_eq!(duration(250_000.0), "250 µs");
}

#[test]
fn commands_are_quoted_for_a_shell() {
    let words = ["a", "b c", "it's", "", "$HOME", "x=1"].map(str::to_owned);
    assert_eq!(shell_words(&words), r"a 'b c' 'it'\''s' '' '$HOME' x=1");
    assert_eq!(shell_words(&["it's\n\t\\\u{1b}7".to_owned()]), r"$'it\'s\n\t\\\0337'");
}
