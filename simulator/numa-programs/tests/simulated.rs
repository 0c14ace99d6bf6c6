//! On simulated machines.

use kilocore_numa_programs::{Program, Size};

use crate::common::{assert_agree, native, simulated};

#[test]
fn simulated_threads_come_to_the_result_of_real_ones() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let real = native(workload, 1, 5);
        for threads in [8, 32] {
            let (summary, outcome) = simulated(workload, threads, 5);
            assert_agree(real, summary);
            assert!(outcome.operations < 1_000_000, "{program}: {}", outcome.operations);
        }
    }
}

#[test]
fn more_cores_make_all_of_them_faster() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let [alone, eight] = [1, 8].map(|threads| simulated(workload, threads, 5).1.end);
        assert!(eight < alone, "{program}: {alone:?} and {eight:?}");
    }
}
