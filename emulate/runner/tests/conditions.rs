//! Condition variables, as glibc has them today and as it had them before 2.25.

use kilocore_emulation::Point;

use crate::support::{program, requeued};

fn ran(is: bool, kind: &str, cores: u32, rounds: u32) -> (Point, String) {
    let (threads, rounds) = (cores.to_string(), rounds.to_string());
    requeued(is, cores, &program("conditions", &[]), &[kind, &threads, &rounds])
}

fn parallel_ns(point: &Point) -> f64 {
    point.report.parallel.expect("it has threads").ns()
}

#[test]
fn all_waiters_go_on_whoever_wakes_them() {
    for is in [false, true] {
        for kind in ["barrier", "twice", "timed", "recursive", "checked", "shared"] {
            let (_, told) = ran(is, kind, 12, 50);
            assert_eq!(told, "50 0\n", "{kind} {is}");
        }
        // Each broadcast comes while those that the one before has woken still wait for the mutex.
        let (_, told) = ran(is, "queue", 12, 200);
        assert_eq!(told, "0 200\n", "{is}");
    }
}

#[test]
fn a_mutex_that_the_kernel_unlocks_is_waited_for_there() {
    let (_, told) = ran(true, "lent", 4, 5);
    assert_eq!(told, "5 0\n");
}

#[test]
fn waiters_that_are_moved_wake_one_after_the_other() {
    let all_at_once = parallel_ns(&ran(false, "barrier", 24, 50).0) / 50.0;
    let one_by_one = parallel_ns(&ran(true, "barrier", 24, 50).0) / 50.0;
    // Each takes at least the time until it runs, of the machine file, before it can wake the next one.
    let machine = kilocore_machine::find(crate::support::MACHINE).expect("built in");
    let chain = 22.0 * machine.os.wake_latency_ns.value;
    assert!(one_by_one > chain, "{one_by_one} {chain}");
    assert!(one_by_one < 2.0 * chain, "{one_by_one} {chain}");
    assert!(all_at_once < one_by_one, "{all_at_once} {one_by_one}");
    // Of two threads, there is nobody to move.
    let two = [false, true].map(|is| parallel_ns(&ran(is, "barrier", 2, 50).0));
    assert!((two[1] / two[0] - 1.0).abs() < 0.02, "{two:?}");
}
