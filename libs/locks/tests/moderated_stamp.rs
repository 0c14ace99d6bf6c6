//! The mark of a moderated lock: who writes it, and who need not.

use kilocore_locks::{RawLock, SymmetricFences, Ticket};
use kilocore_platform::{Native, Ordering};

use crate::common::moderated::{AsWritten, Behind};

type Door = Behind<Native, Ticket<Native>, SymmetricFences, AsWritten>;

const PROCESS: u32 = 7;

#[test]
fn a_try_does_not_touch_a_lock_that_is_marked_as_held() {
    let door = Door::of_process(PROCESS);
    door.stamp.store(PROCESS, Ordering::Relaxed);
    assert!(!door.moderated().try_acquire(&mut ()));
    assert!(RawLock::<Native>::try_acquire(&door.lock, &mut ()), "it was free");
}

#[test]
fn a_release_takes_one_of_several_waiters_out_of_the_count() {
    const UNCOUNTED: u32 = 1 << 31;
    let waiting = |many: u64| u64::from(PROCESS) << 32 | many;
    let door = Door::of_process(PROCESS);
    assert!(door.moderated().try_acquire(&mut ()));
    door.queued.store(waiting(3), Ordering::Relaxed);
    for (left, stamp) in [(2, PROCESS | UNCOUNTED), (1, PROCESS | UNCOUNTED), (1, PROCESS)] {
        // SAFETY: it is held.
        unsafe { door.moderated().release(&mut ()) };
        let now = (door.queued.load(Ordering::Relaxed), door.stamp.load(Ordering::Relaxed));
        assert_eq!(now, (waiting(left), stamp));
        // One of those in the queue has it.
        assert!(RawLock::<Native>::try_acquire(&door.lock, &mut ()), "it was free");
    }
}

#[test]
fn a_release_leaves_the_mark_to_those_in_the_queue() {
    let one_waits = u64::from(PROCESS) << 32 | 1;
    // Waiters of the process that has forked this one do not exist.
    let none_waits = u64::from(PROCESS - 1) << 32 | 1;
    for (queued, stamp) in [(0, 0), (none_waits, 0), (one_waits, PROCESS)] {
        let door = Door::of_process(PROCESS);
        assert!(door.moderated().try_acquire(&mut ()));
        door.queued.store(queued, Ordering::Relaxed);
        // SAFETY: it is held.
        unsafe { door.moderated().release(&mut ()) };
        assert_eq!(door.stamp.load(Ordering::Relaxed), stamp, "{queued:x}");
    }
}
