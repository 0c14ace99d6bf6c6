//! Programs for which QEMU has to stop all threads, while most of them wait for their turn.

use std::collections::BTreeSet;

use kilocore_emulation::Point;

use crate::support::{on, program};

/// What each thread does so often, and how often the first one starts a process.
const ROUNDS: &str = "1000 1000";
const FORKS: &str = "12";

/// Runs so many threads, each on a core, and returns what it says after what the threads have done, which is all.
#[track_caller]
fn stopped(threads: u32, how: &str) -> (Point, String) {
    let (point, text) = on(threads, &program("stops", &[]), &[&threads.to_string(), how]);
    let rest = text.trim().strip_prefix(ROUNDS).unwrap_or_else(|| panic!("{how}: {text}"));
    assert_eq!(point.report.threads.len(), threads as usize + 1, "{how}");
    (point, rest.trim().to_owned())
}

#[test]
fn a_process_is_started_while_other_threads_compute_and_fault() {
    for how in ["waits", "pages"] {
        for threads in [1, 4, 48] {
            let (point, begun) = stopped(threads, how);
            assert_eq!(begun, format!("{FORKS} 0"), "{how} {threads}");
            assert_eq!(point.report.counts.processes, 12, "{how} {threads}");
        }
    }
}

#[test]
fn what_others_do_when_a_process_is_started_is_the_same_each_time() {
    for how in ["computes", "pages"] {
        let runs = BTreeSet::from([0; 4].map(|_| {
            let (point, _) = stopped(12, how);
            let threads = point.report.threads.iter().map(|thread| thread.stalled_ns.to_bits());
            (point.report.end_ns.to_bits(), threads.collect::<Vec<_>>())
        }));
        assert_eq!(runs.len(), 1, "{how}: {runs:?}");
    }
}

#[test]
fn an_atomic_instruction_on_two_lines_does_not_end_the_run() {
    let (point, odd) = stopped(3, "odd");
    assert_eq!(odd, "0 6");
    let also = point.report.dependence.also.expect("its result is for this time only");
    assert!(also.contains("QEMU had to stop all threads"), "{also}");
}
