//! Checks of logs under shuttle, with more threads, objects and roots than loom can handle. They
//! use random schedules and schedules of PCT, which finds a bug of small depth with known
//! probability. shuttle assumes sequentially consistent memory, so orderings are checked under
//! loom.

use crate::common;

use common::Census;
use common::larger::{self, Work};
use common::programs::{self, Step};
use common::subject::Cores;
use kilocore_checking::{Altered, Sound, explore_part};
use kilocore_ldu::{Global, Ldu, Limits, PerCore};
use kilocore_locks::{CentralRw, NoSharing, Rwsem, Ttas};
use kilocore_platform::{CpuId, Cycles, NodeId, Shuttle};

use Step::{Insert, InsertDirectly, Look, Remove, RemoveDirectly};

type Machine = Altered<Shuttle, Sound>;
type One = NoSharing<Machine, Ttas<Machine>>;
type Shared = CentralRw<Machine>;
type Kernel = Rwsem<Machine>;

/// The number of schedules of each kind, for each log and program.
const SCHEDULES: usize = 1_500;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

/// Limits that are reached at every look.
const TIGHT: Limits = Limits { nodes: 0, age: None };
const OLD: Limits = Limits { nodes: 4096, age: Some(Cycles(0)) };
const WIDE: Limits = Limits { nodes: 4096, age: None };

fn place(thread: u32, cores: u32) {
    Shuttle::place(CpuId(thread % cores), NodeId(0));
}

fn on_one(thread: u32) {
    place(thread, 1);
}

fn on_two(thread: u32) {
    place(thread, 2);
}

fn on_four(thread: u32) {
    place(thread, 4);
}

/// Makes a test that runs a program on every log. In the program, `S` is the log.
macro_rules! for_every_log {
    ($(#[doc = $doc:literal])* $test:ident, $program:expr) => {
        $(#[doc = $doc])*
        #[test]
        fn $test() {
            fn check<S: Cores<Machine>>() {
                explore_part($program, SCHEDULES, DEPTH);
            }
            check::<Ldu<Machine, Census, Global<Machine>, One>>();
            check::<Ldu<Machine, Census, Global<Machine>, Shared>>();
            check::<Ldu<Machine, Census, Global<Machine>, Kernel>>();
            check::<Ldu<Machine, Census, PerCore<Machine>, One>>();
            check::<Ldu<Machine, Census, PerCore<Machine>, Shared>>();
            check::<Ldu<Machine, Census, PerCore<Machine>, Kernel>>();
        }
    };
}

for_every_log!(updates_and_looks_beside_reads, || {
    const STEPS: &[Step] = &[Insert, Look, Remove, Insert, Look];
    programs::updates_and_reads::<_, S>(S::domain(2), &[STEPS; 2], 2, on_two, false);
});

for_every_log!(an_object_passed_on, || {
    programs::passed_on::<_, S>(S::domain(2), on_two, true);
});

for_every_log!(logs_that_are_full, || programs::crowded::<_, S>(S::domain(2), on_two));

for_every_log!(a_root_that_ends_beside_another, || {
    programs::two_roots::<_, S>(S::domain(1), on_one, true);
});

for_every_log!(an_object_behind_a_garbage_log, || {
    programs::behind_a_garbage_log::<_, S>(S::domain(2));
});

for_every_log!(one_object_within_another, || {
    programs::one_within_the_other::<_, S>(S::domain(2), on_two);
});

for_every_log!(an_object_that_changes_its_root, || programs::moved::<_, S>(S::domain(1)));

for_every_log!(an_object_that_outlives_its_root, || programs::outlived::<_, S>(S::domain(1)));

for_every_log!(
    /// The history has twelve operations and the last read.
    a_history_of_three_updaters_and_three_readers,
    || {
        let work = Work {
            updaters: &[(1, &[Insert, Remove]), (1, &[Insert, Remove]), (1, &[Insert, Remove])],
            readers: &[2, 2, 2],
            limits: WIDE,
            place: on_two,
            recorded: true,
        };
        larger::mixed::<_, S>(S::domain(2), &work);
    }
);

for_every_log!(
    /// An updater has two objects. It updates them in an order that readers must not reverse. The
    /// history has thirteen operations and the last read.
    a_history_of_several_objects,
    || {
        let work = Work {
            updaters: &[(2, &[Insert, Remove, Insert]), (1, &[Insert])],
            readers: &[1, 2],
            limits: WIDE,
            place: on_two,
            recorded: true,
        };
        larger::mixed::<_, S>(S::domain(2), &work);
    }
);

for_every_log!(
    /// The history has thirteen operations and the last read.
    a_history_of_direct_and_logged_updates,
    || {
        let work = Work {
            updaters: &[
                (1, &[Insert, RemoveDirectly, Insert, Remove]),
                (1, &[InsertDirectly, Remove, InsertDirectly, RemoveDirectly]),
            ],
            readers: &[3, 2],
            limits: TIGHT,
            place: on_two,
            recorded: true,
        };
        larger::mixed::<_, S>(S::domain(2), &work);
    }
);

for_every_log!(four_updaters_with_three_objects_each, || {
    const STEPS: &[Step] = &[Insert, Remove, Insert, Look];
    let work = Work {
        updaters: &[(3, STEPS); 4],
        readers: &[2, 2],
        limits: WIDE,
        place: on_four,
        recorded: false,
    };
    larger::mixed::<_, S>(S::domain(4), &work);
});

for_every_log!(four_updaters_of_a_log_that_is_always_full, || {
    let work = Work {
        updaters: &[
            (3, &[Insert, Look, Remove]),
            (3, &[Insert, Remove, Insert, Remove]),
            (2, &[InsertDirectly, Remove, Insert, RemoveDirectly, Look]),
            (3, &[Insert, RemoveDirectly, Insert, Look]),
        ],
        readers: &[2],
        limits: TIGHT,
        place: on_two,
        recorded: false,
    };
    larger::mixed::<_, S>(S::domain(2), &work);
});

for_every_log!(
    /// The history has at most thirteen operations and the last read.
    a_history_of_objects_that_go_around,
    || larger::handed_around::<_, S>(S::domain(2), 3, 3, WIDE, on_two, true)
);

for_every_log!(objects_that_go_around, || {
    larger::handed_around::<_, S>(S::domain(4), 4, 4, WIDE, on_four, false);
});

for_every_log!(objects_that_go_around_a_log_that_is_always_old, || {
    larger::handed_around::<_, S>(S::domain(2), 4, 3, OLD, on_two, false);
});

for_every_log!(two_roots_on_one_core, || {
    larger::several_roots::<_, S>(S::domain(1), 2, &[Insert, Look, Remove], WIDE, on_one);
});

for_every_log!(three_roots_on_two_cores, || {
    larger::several_roots::<_, S>(S::domain(2), 3, &[Insert, Remove, Insert, Look], WIDE, on_two);
});

for_every_log!(three_roots_that_are_always_full, || {
    const STEPS: &[Step] = &[Insert, RemoveDirectly, Insert, Look];
    larger::several_roots::<_, S>(S::domain(1), 3, STEPS, TIGHT, on_one);
});
