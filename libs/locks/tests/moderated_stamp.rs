//! The mark of a moderated lock: who writes it, and who need not.

use kilocore_locks::{RawLock, SymmetricFences, Ticket};
use kilocore_platform::{Native, Ordering};

use crate::common::moderated::{Behind, OneInTheQueue};

type Door = Behind<Native, Ticket<Native>, SymmetricFences, OneInTheQueue>;

const PROCESS: u32 = 7;

#[test]
fn a_try_does_not_touch_a_lock_that_is_marked_as_held() {
    let door = Door::of_process(PROCESS);
    door.stamp.store(PROCESS, Ordering::Relaxed);
    assert!(!door.moderated().try_acquire(&mut ()));
    assert!(RawLock::<Native>::try_acquire(&door.lock, &mut ()), "it was free");
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
