//! Every lock under shuttle: more threads and rounds than loom can take, on random schedules
//! and on those of PCT, which finds a bug of small depth with known probability.

use crate::common;

use common::altered::{Altered, LowPower, Sound};
use common::programs;
use kilocore_locks::{LockId, LockVisitor, RawLock, Requester};
use kilocore_platform::Shuttle;

/// The machine, with dead memory guarded.
type Checked = Altered<Shuttle, Sound>;

/// Schedules per lock and program.
const SCHEDULES: usize = 2_000;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

fn alternating(index: u32) {
    let (cpu, node) = programs::alternating(index);
    Shuttle::place(cpu, node);
}

macro_rules! for_every_lock {
    ($test:ident, $program:expr) => {
        #[test]
        fn $test() {
            struct Check;
            impl LockVisitor<Checked> for Check {
                type Output = ();
                fn visit<L: RawLock<Checked>>(self) {
                    common::explore_part($program, SCHEDULES, DEPTH);
                }
            }
            for &lock in LockId::ALL {
                let start = std::time::Instant::now();
                lock.visit(Check);
                eprintln!("{}: {lock}: {:.1?}", stringify!($test), start.elapsed());
            }
        }
    };
}

for_every_lock!(four_exclude_each_other, || {
    programs::exclusion::<Checked, L>(4, 3, programs::all_together);
});
for_every_lock!(four_exclude_each_other_on_two_nodes, || {
    programs::exclusion::<Checked, L>(4, 3, alternating);
});
for_every_lock!(tries, || programs::trying::<Checked, L>());
for_every_lock!(another_releases, || programs::released_by_another::<Checked, L>());
for_every_lock!(last_holder_destroys, || programs::destroyed_by_last_holder::<Checked, L>());

fn requester_excludes<P: common::Threads, L: RawLock<P>>() {
    let program = || programs::exclusion::<P, L>(4, 2, programs::all_together);
    common::explore_part(program, SCHEDULES, DEPTH);
}

#[test]
fn a_requester_with_another_threshold() {
    requester_excludes::<Checked, Requester<Checked, 0>>();
}

#[test]
fn a_requester_that_rests_at_low_power() {
    type Machine = Altered<Shuttle, LowPower>;
    requester_excludes::<Machine, Requester<Machine>>();
}
