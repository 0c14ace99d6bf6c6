//! On threads of this host.

use kilocore_lab::numa_programs::{Program, Size, Summary, Workload, WrongResult};
use kilocore_lab::numa_programs::{barnes, cholesky, mp3d, radix};
use kilocore_platform::Native;
use proptest::prelude::*;

use crate::numa_programs::common::{assert_agree, native};

#[test]
fn results_are_right_and_the_same_for_any_number_of_threads() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let alone = native(workload, 1, 7);
        for threads in [2, 3, 4] {
            assert_agree(alone, native(workload, threads, 7));
        }
    }
}

#[test]
fn published_sizes_are_right() {
    for program in Program::ALL {
        native(program.workload(Size::Published), 2, 1);
    }
}

#[test]
fn mp3d_without_races_loses_nothing() {
    let updates = mp3d::Updates::Atomic;
    let parameters = mp3d::Parameters { updates, ..mp3d::Parameters::SMALL };
    let summary = native(Workload::Mp3d(parameters), 4, 3);
    let Summary::Mp3d(gas) = summary else { panic!("{summary:?}") };
    assert_eq!(gas.counted as usize, parameters.particles);
}

#[test]
fn bodies_are_right_however_many_they_are() {
    for bodies in [2, 3, 8, 60, 500] {
        for seed in 1..6 {
            let parameters = barnes::Parameters { bodies, ..barnes::Parameters::SMALL };
            native(Workload::Barnes(parameters), 2, seed);
        }
    }
}

#[test]
fn more_threads_than_there_is_work_for_do_no_harm() {
    let few = radix::Parameters { keys: 3, key_bits: 4, digit_bits: 1 };
    native(Workload::Radix(few), 4, 1);
    let few = cholesky::Parameters { grid: [1, 2, 1], panel: 1 };
    native(Workload::Cholesky(few), 4, 1);
    let few = mp3d::Parameters { particles: 1, ..mp3d::Parameters::SMALL };
    native(Workload::Mp3d(few), 4, 1);
}

#[test]
fn a_run_that_has_not_ended_has_no_result() {
    for program in Program::ALL {
        let run = program.prepare::<Native>(Size::Small, 2, 1).unwrap();
        let unfinished = WrongResult::Unfinished { finished: 0, threads: 2 };
        assert_eq!(run.check(), Err(unfinished));
    }
}

#[test]
#[should_panic(expected = "has begun before")]
fn a_thread_runs_once() {
    let run = Program::Radix.prepare::<Native>(Size::Small, 1, 1).unwrap();
    run.thread(0);
    run.thread(0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn radix_sorts_anything(
        keys in 1usize..2000,
        key_bits in 1u32..=32,
        digit_bits in 1u32..=12,
        threads in 1usize..4,
        seed in any::<u64>(),
    ) {
        let parameters = radix::Parameters { keys, key_bits, digit_bits };
        native(Workload::Radix(parameters), threads, seed);
    }

    #[test]
    fn cholesky_factors_any_grid(
        grid in prop::array::uniform3(1usize..8),
        panel in 1usize..12,
        threads in 1usize..4,
        seed in any::<u64>(),
    ) {
        native(Workload::Cholesky(cholesky::Parameters { grid, panel }), threads, seed);
    }
}
