//! Calls that wait for descriptors, and no longer than for a time.

use std::time::{Duration, Instant};

use crate::support::{on, program};

/// All of them.
const CALLS: [&str; 5] = ["poll", "ppoll", "select", "pselect", "epoll"];
/// How long they wait at most, and after how long somebody does something, in µs.
const WAIT: f64 = 200_000.0;
const READY: f64 = 10_000.0;

/// What the call returned, how many µs passed, after how many a signal was handled, and what the run depends on.
struct Told {
    returned: i32,
    passed: f64,
    handled: f64,
    also: Option<String>,
}

fn told(call: &str, who: &str) -> Told {
    let (point, text) = on(4, &program("polls", &[]), &[call, who]);
    let numbers: Vec<f64> =
        text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [returned, passed, handled] = numbers[..] else { panic!("{text}") };
    let also = point.report.dependence.also;
    Told { returned: returned as i32, passed, handled, also }
}

fn assert_near(passed: f64, expected: f64, what: &str) {
    assert!((0.0..300.0).contains(&(passed - expected)), "{what}: {passed} µs");
}

#[test]
fn a_wait_in_vain_takes_its_time() {
    for call in CALLS {
        let told = told(call, "nobody");
        assert_eq!((told.returned, told.also), (0, None), "{call}");
        assert_near(told.passed, WAIT, call);
    }
}

#[test]
fn a_wait_in_vain_for_something_outside_takes_its_time_there_as_well() {
    for call in CALLS {
        let begun = Instant::now();
        let told = told(call, "outside");
        assert_eq!(told.returned, 0, "{call}");
        assert_near(told.passed, WAIT, call);
        // Whoever is outside finds it waiting as long.
        assert!(begun.elapsed() >= Duration::from_micros(WAIT as u64), "{call}");
        assert!(told.also.is_some(), "{call}: it might have come from outside");
    }
}

#[test]
fn a_call_without_descriptors_is_a_sleep() {
    for call in ["poll", "ppoll", "select", "pselect"] {
        let told = told(call, "nothing");
        assert_eq!((told.returned, told.also), (0, None), "{call}");
        assert_near(told.passed, WAIT, call);
    }
}

#[test]
fn a_thread_that_makes_the_descriptor_ready_ends_the_wait() {
    for call in CALLS {
        let told = told(call, "thread");
        assert_eq!(told.returned, 1, "{call}");
        assert_near(told.passed, READY, call);
    }
}

#[test]
fn a_signal_is_handled_at_once_and_interrupts_the_call() {
    for call in CALLS {
        let told = told(call, "signal");
        assert_eq!((told.returned, told.also), (-1, None), "{call}");
        assert_near(told.handled, READY, call);
        assert_near(told.passed, READY, call);
    }
}
