//! Moderated locks under loom, with simple locks behind the door: what is checked here is the door.
//! `moderated_shuttle.rs` has every lock behind it.

use crate::common;
use crate::common::moderated;

use std::process::Command;
use std::sync::Arc;

use common::altered::{Altered, Sound, Thorough, model, weakening};
use common::{Threads, programs};
use kilocore_locks::{Fences, Futex, RawLock, Room, Slept, SymmetricFences, Ticket};
use kilocore_platform::{Atomic, AtomicInt, Loom, Ordering, Platform, SharedCell, Wait};
use moderated::{AllInTheRoom, Behind, Impatient, OneInTheQueue, ThreeInTheQueue, Waiting};

type Checked = Altered<Loom, Thorough>;
type Quick = Altered<Loom, Sound>;
type Door<P, L, W> = Behind<P, L, SymmetricFences, W>;

fn excludes<P: Threads, L: RawLock<P>>(preemptions: usize, threads: u32, rounds: u32) {
    model(Some(preemptions), move || {
        programs::exclusion::<P, L>(threads, rounds, programs::all_together);
    });
}

#[test]
fn two_exclude_each_other_in_the_room() {
    excludes::<Checked, Door<Checked, Futex<Checked>, AllInTheRoom>>(2, 2, 1);
    excludes::<Quick, Door<Quick, Ticket<Quick>, AllInTheRoom>>(1, 2, 2);
}

#[test]
#[ignore = "takes a minute; two threads run always, and three under shuttle"]
fn three_exclude_each_other_in_room_and_queue() {
    excludes::<Quick, Door<Quick, Ticket<Quick>, OneInTheQueue>>(1, 3, 1);
}

#[test]
fn those_who_give_up_exclude_each_other() {
    excludes::<Quick, Door<Quick, Futex<Quick>, Impatient>>(2, 2, 1);
}

#[test]
fn last_holder_destroys() {
    model(
        Some(2),
        programs::destroyed_by_last_holder::<Quick, Door<Quick, Futex<Quick>, AllInTheRoom>>,
    );
}

/// Releasers that look into the room before the release, in effect, and guests that list
/// themselves after it.
struct NoFences;

// SAFETY: it does not keep the contract. Guests sleep for ever; no memory is at stake.
unsafe impl<P: Platform> Fences<P> for NoFences {
    fn guests(room: &Room<P>) -> u32 {
        room.count()
    }
    fn announce(_room: &Room<P>) -> bool {
        true
    }
}

/// In a process of its own, because loom aborts when it gives up a thread that sleeps.
#[test]
fn without_fences_a_wake_up_is_lost() {
    type Broken = Behind<Quick, Futex<Quick>, NoFences, AllInTheRoom>;
    const INSIDE: &str = "KILOCORE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return excludes::<Quick, Broken>(2, 2, 1);
    }
    let inside = Command::new(std::env::current_exe().expect("this is a program"))
        .args(["--exact", "--nocapture", "moderated_loom::without_fences_a_wake_up_is_lost"])
        .env(INSIDE, "1")
        // It is to fail, and so says nothing of orderings.
        .env_remove(weakening::SEEN)
        .output()
        .expect("a program can run itself");
    assert!(!inside.status.success(), "loom finds nothing wrong");
    let says = String::from_utf8_lossy(&inside.stderr);
    assert!(says.contains("deadlock"), "{says}");
}

/// A ticket lock whose tickets can be taken by those who never come.
struct WithPhantoms<P: Platform> {
    next: P::U32,
    serving: P::U32,
    /// All else of the lock: written by whoever forgets its waiters, when nobody else uses it.
    rest: P::Cell<()>,
}

impl<P: Platform> WithPhantoms<P> {
    fn is_used(&self) {
        self.rest.with(|_| ());
    }
}

// SAFETY: a ticket lock; tickets that nobody comes for stop it, and let nobody in.
unsafe impl<P: Platform> RawLock<P> for WithPhantoms<P> {
    type Thread = ();
    const WAITERS_WATCH_IT: bool = true;
    fn new() -> Self {
        Self { next: P::U32::new(0), serving: P::U32::new(0), rest: P::Cell::new(()) }
    }
    fn acquire(&self, (): &mut ()) {
        self.is_used();
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        P::wait_until(&self.serving, Wait::Spin, |serving| serving == mine);
    }
    fn try_acquire(&self, (): &mut ()) -> bool {
        self.is_used();
        let serving = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(serving, serving + 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
    unsafe fn release(&self, (): &mut ()) {
        let mine = self.serving.load(Ordering::Relaxed);
        self.serving.store(mine + 1, Ordering::Release);
    }
    unsafe fn forget_waiters(&self, (): &mut ()) {
        self.rest.with_mut(|_| ());
        let mine = self.serving.load(Ordering::Relaxed);
        self.next.store(mine + 1, Ordering::Relaxed);
    }
}

/// The child of a fork: it inherits a lock that its first thread holds, with a waiter that is not
/// there. It makes a thread of its own, which wants the lock, and releases it.
fn inherits<W: Waiting>() {
    type Lock<W> = Door<Quick, WithPhantoms<Quick>, W>;
    model(Some(2), || {
        let lock = Arc::new(Lock::<W>::of_process(2));
        assert!(lock.lock.try_acquire(&mut ()));
        lock.stamp.store(1, Ordering::Relaxed);
        lock.lock.next.fetch_add(1, Ordering::Relaxed);
        let count = Arc::new(<Quick as Platform>::Cell::new(0));
        let other = {
            let (lock, count) = (lock.clone(), count.clone());
            Quick::spawn(move || {
                lock.acquire(&mut ());
                // SAFETY: the lock is held, here and below.
                count.with_mut(|count| unsafe { *count += 1 });
                // SAFETY: acquired above.
                unsafe { lock.release(&mut ()) };
            })
        };
        // SAFETY: as above; this thread stands for the one that forked.
        count.with_mut(|count| unsafe { *count += 1 });
        // SAFETY: as above.
        unsafe { lock.release(&mut ()) };
        lock.acquire(&mut ());
        // SAFETY: as above.
        count.with_mut(|count| unsafe { *count += 1 });
        // SAFETY: as above.
        unsafe { lock.release(&mut ()) };
        Quick::join(other);
        // SAFETY: nobody else is left.
        assert_eq!(count.with(|count| unsafe { *count }), 3);
    });
}

/// The child of a fork lets those in the queue have the lock that it inherited, while a thread of its
/// own comes out of the room. That happens after a guest had its turn, and so takes a guest and one in
/// the queue beside that thread: the first thread plays all three.
#[test]
fn a_child_lets_the_queue_have_what_it_inherited() {
    lets_the_queue_have_what_it_inherited(1);
}

/// The same with two in the queue: the release takes one of them out of the count.
#[test]
fn a_child_lets_several_in_the_queue_have_what_it_inherited() {
    lets_the_queue_have_what_it_inherited(2);
}

/// Two have come to the queue since the inherited lock belongs to the child, and before it is handed over. A thread that comes
/// then may see nothing of all that but the mark that it was handed over.
#[test]
fn who_sees_that_an_inherited_lock_is_handed_over_sees_a_lock_without_waiters() {
    model(Some(2), || {
        let lock = Arc::new(Door::<Quick, WithPhantoms<Quick>, ThreeInTheQueue>::of_process(2));
        assert!(lock.lock.try_acquire(&mut ()));
        lock.stamp.store(1, Ordering::Relaxed);
        // The first thread plays these two.
        lock.queued.store(2 << 32 | 2, Ordering::Relaxed);
        let other = {
            let lock = lock.clone();
            Quick::spawn(move || {
                lock.acquire(&mut ());
                // SAFETY: acquired just now.
                unsafe { lock.release(&mut ()) };
            })
        };
        // SAFETY: held since the fork.
        unsafe { lock.release(&mut ()) };
        for _ in 0..2 {
            acquire_as_one_in_the_queue(&lock);
            // SAFETY: acquired just now.
            unsafe { lock.release(&mut ()) };
        }
        Quick::join(other);
    });
}

/// What one does in the queue who is counted there.
fn acquire_as_one_in_the_queue<W: Waiting>(lock: &Door<Quick, WithPhantoms<Quick>, W>) {
    /// What a release adds to the stamp that has taken the next waiter out of the count.
    const UNCOUNTED: u32 = 1 << 31;
    lock.lock.acquire(&mut ());
    if lock.stamp.load(Ordering::Relaxed) & UNCOUNTED == 0 {
        lock.queued.fetch_sub(1, Ordering::Relaxed);
        lock.stamp.store(2, Ordering::Release);
    }
}

fn lets_the_queue_have_what_it_inherited(waiters: u64) {
    type Lock = Door<Quick, WithPhantoms<Quick>, AllInTheRoom>;
    model(Some(2), move || {
        let lock = Arc::new(Lock::of_process(2));
        assert!(lock.lock.try_acquire(&mut ()));
        lock.stamp.store(1, Ordering::Relaxed);
        // Nobody of the child's own.
        lock.queued.store(2 << 32, Ordering::Relaxed);
        let other = {
            let lock = lock.clone();
            Quick::spawn(move || {
                lock.acquire(&mut ());
                // SAFETY: acquired just now.
                unsafe { lock.release(&mut ()) };
            })
        };
        let moderated = lock.moderated();
        let guest = moderated.guest();
        let mut is_released = false;
        let sleep = |word: &<Quick as Platform>::U32, value, _| {
            if std::mem::replace(&mut is_released, true) {
                Quick::park(word, value, None);
            } else {
                // SAFETY: held since the fork.
                unsafe { lock.release(&mut ()) };
            }
            Slept::Enough
        };
        // SAFETY: the guest stays here.
        assert!(unsafe { moderated.acquire_or_give_up(&guest, &mut (), sleep) });
        // From here on somebody is on the way to the queue, and gets there below.
        lock.queued.fetch_add(waiters, Ordering::Relaxed);
        for _ in 0..waiters {
            // SAFETY: acquired above, or the last time round.
            unsafe { moderated.release(&mut ()) };
            acquire_as_one_in_the_queue(&lock);
        }
        // SAFETY: acquired just now.
        unsafe { moderated.release(&mut ()) };
        Quick::join(other);
    });
}

#[test]
fn a_child_waits_for_what_it_inherited() {
    inherits::<AllInTheRoom>();
    inherits::<OneInTheQueue>();
}
