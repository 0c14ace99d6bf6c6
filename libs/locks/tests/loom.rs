//! Every lock under loom: all executions of two threads that acquire once, those of two that
//! acquire twice with at most three preemptions, and those of three with at most one, of many locks
//! two. loom takes no load for one that conflicts with nothing here (`Thorough`).

use crate::common;

use common::altered::{Altered, LoadsConflict, LowPower, Thorough, weakening};
use common::{model, programs};
use kilocore_locks::{LockId, LockVisitor, RawLock, Requester};
use kilocore_platform::Loom;

type Checked = Altered<Loom, Thorough>;
type CheckedLowPower = Altered<Loom, LowPower<LoadsConflict>>;

fn alternating(index: u32) {
    let (cpu, node) = programs::alternating(index);
    Loom::place(cpu, node);
}

/// Writes a test that runs a program under the locks that a condition on the lock's name allows.
macro_rules! for_every_lock {
    ($test:ident, $platform:ty, $preemptions:expr, $program:expr) => {
        for_every_lock!($test, $platform, $preemptions, |_| true, $program);
    };
    ($test:ident, $platform:ty, $preemptions:expr, $allowed:expr, $program:expr) => {
        #[test]
        fn $test() {
            struct Check(Option<usize>);
            impl LockVisitor<$platform> for Check {
                type Output = ();
                fn visit<L: RawLock<$platform>>(self) {
                    model(self.0, $program);
                }
            }
            let allowed: fn(LockId) -> bool = $allowed;
            for lock in LockId::ALL.iter().copied().filter(|&lock| allowed(lock)) {
                if !weakening::begin(lock.name()) {
                    continue;
                }
                let start = std::time::Instant::now();
                lock.visit(Check(bounded(lock, $preemptions)));
                eprintln!("{}: {lock}: {:.1?}", stringify!($test), start.elapsed());
            }
        }
    };
}

/// The bound on preemptions that a lock gets where `wanted` is asked for. An inflatable lock takes
/// several times as many steps as its parts, each of which is checked on its own; without a
/// bound, two threads would take minutes. The waiters of `mcs-tp` write while they wait, which
/// loom would explore without end.
fn bounded(lock: LockId, wanted: Option<usize>) -> Option<usize> {
    use LockId::{
        Ahmcs, Alock, CBoMcs, CBoMcsPark, CPtlTkt, CTktTkt, Hmcs, Hticket, McsTp, Partitioned,
    };
    match lock {
        Ahmcs | Alock | CBoMcs | CBoMcsPark | CPtlTkt | CTktTkt | Hmcs | Hticket | Partitioned => {
            Some(wanted.map_or(4, |bound| bound.min(2)))
        }
        McsTp => Some(wanted.unwrap_or(4)),
        _ => wanted,
    }
}

/// Locks with which two preemptions and three threads come to an end within seconds. `ahmcs` takes
/// ten. With the others loom finds schedules in which two waiters yield to each other for ever while the
/// thread that both wait for is ready but never chosen; those are unfair, not wrong, and shuttle's
/// are fair.
fn ends_with_two_preemptions(lock: LockId) -> bool {
    use LockId::{
        Adaptive, Alock, Clh, ClhPark, Futex, Malthusian, Mcs, McsPark, Mutexee, Partitioned,
    };
    matches!(
        lock,
        Mcs | McsPark
            | Clh
            | ClhPark
            | Futex
            | Adaptive
            | Malthusian
            | Mutexee
            | Partitioned
            | Alock
    )
}

/// Locks whose waiters are passed over and kept aside.
fn passes_over(lock: LockId) -> bool {
    matches!(lock, LockId::Cna | LockId::Malthusian | LockId::MalthusianSpin)
}

for_every_lock!(two_exclude_each_other, Checked, None, || {
    programs::exclusion::<Checked, L>(2, 1, programs::all_together);
});
for_every_lock!(two_exclude_each_other_twice, Checked, Some(3), || {
    programs::exclusion::<Checked, L>(2, 2, programs::all_together);
});
for_every_lock!(three_exclude_each_other, Checked, Some(1), || {
    programs::exclusion::<Checked, L>(3, 1, alternating);
});
for_every_lock!(three_with_two_preemptions, Checked, Some(2), ends_with_two_preemptions, || {
    programs::exclusion::<Checked, L>(3, 1, alternating);
});
// Who was passed over before and who comes now meet in one queue.
for_every_lock!(three_come_back, Checked, Some(1), passes_over, || {
    programs::exclusion::<Checked, L>(3, 2, alternating);
});
for_every_lock!(tries, Checked, None, || programs::trying::<Checked, L>());
for_every_lock!(another_releases, Checked, None, || {
    programs::released_by_another::<Checked, L>();
});
for_every_lock!(last_holder_destroys, Checked, None, || {
    programs::destroyed_by_last_holder::<Checked, L>();
});

/// With threshold 0 the last of three waits at rest; with the registry's one of four would. It does so
/// only while the first has the lock, which is why that one lets the others come.
#[test]
fn three_at_a_requester_of_which_one_parks() {
    model(Some(1), || programs::queue_up::<Checked, Requester<Checked, 0>>(3));
}

/// Without preemptions: with one, loom finds that the two who wait can yield to each other for ever.
#[test]
fn three_at_a_requester_of_which_one_rests_at_low_power() {
    model(Some(0), || {
        programs::queue_up::<CheckedLowPower, Requester<CheckedLowPower, 0>>(3);
    });
}
