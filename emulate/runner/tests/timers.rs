//! The timer of a process, by simulated time.

use std::time::{Duration, Instant};

use kilocore_emulation_orders::{Place, Window};

use crate::support::{on, program, try_part};

/// What the program says: how many signals, who handled them, the µs that passed, and what was left.
fn told(text: &str) -> (u32, String, f64, f64) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [signals, who, passed, left] = words[..] else { panic!("{text}") };
    let number = |word: &str| word.parse().expect("a number");
    (signals.parse().expect("a number"), who.to_owned(), number(passed), number(left))
}

fn after(kind: &str, threads: u32) -> (u32, String, f64, f64) {
    let (point, text) = on(4, &program("timers", &[]), &[kind, &threads.to_string()]);
    assert_eq!(point.report.dependence.also, None, "{kind}");
    told(&text)
}

#[test]
fn a_signal_comes_when_the_simulated_time_is_over() {
    // Whether all cores are busy, or more than all, or none.
    for (kind, threads, signals, expected) in [
        ("stop", 3, 1, 2_000.0),
        ("stop", 8, 1, 2_000.0),
        ("every", 3, 5, 6_000.0),
        ("alone", 0, 1, 2_000.0),
        ("nap", 0, 1, 3_000.0),
        ("pause", 0, 1, 1_000_000.0),
        ("pipe", 0, 1, 2_000.0),
    ] {
        let (came, who, passed, _) = after(kind, threads);
        assert_eq!((came, who.as_str()), (signals, "first"), "{kind} {threads}");
        // With more threads than cores, the first one waits for a core before it handles the signal.
        let most = if threads > 4 { 10_000.0 } else { 300.0 };
        assert!((0.0..most).contains(&(passed - expected)), "{kind} {threads}: {passed}");
    }
}

#[test]
fn what_is_left_is_told_and_a_timer_that_was_stopped_is_over_never() {
    let (came, _, passed, left) = after("left", 0);
    assert_eq!(came, 0);
    assert!((24_000.0..24_300.0).contains(&passed) && (5_700.0..=6_000.0).contains(&left));
}

#[test]
fn a_thread_that_blocks_the_signal_does_not_get_it() {
    let (came, who, passed, _) = after("blocked", 3);
    assert_eq!((came, who.as_str()), (1, "elsewhere"));
    assert!((2_000.0..2_300.0).contains(&passed), "{passed}");
}

#[test]
fn who_waits_for_something_that_is_not_simulated_is_interrupted_by_the_hosts_time() {
    let begun = Instant::now();
    let (point, text) = on(4, &program("timers", &[]), &["outside", "0"]);
    let (came, _, passed, _) = told(&text);
    assert_eq!(came, 1);
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(passed < 1_000.0, "no simulated time passes meanwhile: {passed}");
    assert!(point.report.dependence.also.is_some());
}

#[test]
fn a_program_that_computes_until_a_signal_comes_is_not_fast_forwarded_for_ever() {
    let part: Place = "part".parse().expect("a place");
    let window = Window { from: Some(part), ..Window::default() };
    let (point, text) =
        try_part(window, 1, &program("timers", &[]), &["alone", "0"]).expect("it comes there");
    assert_eq!(told(&text).0, 1);
    let seen = point.report.seen.expect("a part");
    assert!(seen.detailed_ns < seen.from_ns, "{seen:?}");
}

#[test]
fn the_same_each_time() {
    let each = [1, 2].map(|_| {
        let (point, text) = on(4, &program("timers", &[]), &["every", "6"]);
        (point.report.end_ns, point.report.counts, text)
    });
    assert_eq!(each[0], each[1]);
}
