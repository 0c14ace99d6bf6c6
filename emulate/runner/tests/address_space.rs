//! Threads that map memory and touch it.

use crate::support::{on, program};

#[test]
fn threads_that_map_memory_wait_for_one_another_and_those_that_touch_it_share_a_line() {
    let once = |threads: &str, turns: &str, pages: &str| {
        on(12, &program("maps", &[]), &[threads, turns, pages]).0.report
    };
    let span = |threads, turns, pages| {
        let parallel = once(threads, turns, pages).parallel.expect("it makes threads");
        parallel.end_ns - parallel.start_ns
    };
    let (alone, together) = (span("1", "100", "2"), span("12", "100", "2"));
    assert!(together > 20.0 * alone, "{alone} {together}");
    // One mapping for each thread, and faults, which all count themselves in one word.
    let (alone, together) = (span("1", "1", "2000"), span("12", "1", "2000"));
    assert!(together > 1.5 * alone && together < 8.0 * alone, "{alone} {together}");
    let first = once("12", "30", "4");
    for _ in 0..2 {
        assert!(once("12", "30", "4") == first);
    }
}
