//! How long each hardware thread waits for locks of the lists, and what it does while it holds one.
//!
//! The lists take a lock as a type. [`Metered`] is a lock around another one. It finds the account of
//! the thread that calls it by the number of its hardware thread, as each has one process. The
//! account knows which frames wait in the thread's batch, and so how many of them are of the lock
//! that is released. For each of these the thread then works as long as the kernel does under the lock,
//! besides the links and words that the lists themselves change. And what the lists themselves did is
//! slowed down by the other hardware threads of the core, as that work is.

use std::cell::RefCell;
use std::collections::VecDeque;

use kilocore_locks::RawLock;
use kilocore_platform::{Cycles, Platform};
use kilocore_sim::{Activity, Sim};

thread_local! {
    /// The accounts of the simulation that runs on this host thread, by hardware thread.
    static ACCOUNTS: RefCell<Vec<Account>> = const { RefCell::new(Vec::new()) };
}

/// What is known of a hardware thread.
#[derive(Debug, Clone, Default)]
struct Account {
    /// Time in acquisitions so far.
    waited: Cycles,
    /// The stripes of the frames in its batch, in the order in which the lists will come to them.
    batch: VecDeque<u32>,
    /// Time at work when it acquired its last lock.
    worked: Cycles,
    /// Work under the lock for each frame.
    per_frame: Cycles,
}

/// The accounts of one simulation, which go away with this.
#[derive(Debug)]
pub(crate) struct Meters(());

impl Meters {
    /// Opens an account for each hardware thread. A frame takes `per_frame` of work under the lock.
    pub(crate) fn open(threads: u32, per_frame: Cycles) -> Self {
        let account = Account { per_frame, ..Account::default() };
        ACCOUNTS.set(vec![account; threads as usize]);
        Self(())
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        ACCOUNTS.take();
    }
}

/// Calls `look` with the account of the calling hardware thread, if it has one.
fn account<R>(look: impl FnOnce(&mut Account) -> R) -> Option<R> {
    let thread = Sim::cpu().0 as usize;
    ACCOUNTS.with_borrow_mut(|accounts| accounts.get_mut(thread).map(look))
}

/// How long the calling hardware thread has spent in acquisitions so far.
pub(crate) fn waited() -> Cycles {
    account(|account| account.waited).unwrap_or_default()
}

/// Says that a frame of this stripe is about to be put into the calling hardware thread's batch.
/// Returns how many are in it then.
pub(crate) fn put_in(stripe: u32) -> usize {
    let put = account(|account| {
        account.batch.push_back(stripe);
        account.batch.len()
    });
    put.unwrap_or(0)
}

/// Says that the lists will sort the batch by stripe.
pub(crate) fn sort() {
    account(|account| account.batch.make_contiguous().sort_unstable());
}

impl Account {
    /// Takes the frames of the first stripe out, and returns how long they are worked on.
    fn take_stripe(&mut self) -> Cycles {
        let first = self.batch.front().copied();
        let frames = self.batch.iter().take_while(|&&stripe| Some(stripe) == first).count();
        self.batch.drain(..frames);
        self.per_frame * frames as u64
    }
}

/// A lock whose waiting time is measured and whose holders do the kernel's other work.
#[derive(Debug)]
pub(crate) struct Metered<L>(L);

// SAFETY: every promise is that of the lock inside, to which each call is passed on once.
unsafe impl<L: RawLock<Sim, Thread = ()>> RawLock<Sim> for Metered<L> {
    type Thread = ();

    fn new() -> Self {
        Self(L::new())
    }

    fn acquire(&self, thread: &mut ()) {
        let before = Sim::now();
        self.0.acquire(thread);
        let waited = Sim::now().since(before);
        account(|account| {
            account.waited += waited;
            account.worked = Sim::times().of(Activity::Working);
        });
    }

    fn try_acquire(&self, thread: &mut ()) -> bool {
        self.0.try_acquire(thread)
    }

    unsafe fn release(&self, thread: &mut ()) {
        let held = |account: &mut Account| {
            let by_lists = Sim::times().of(Activity::Working).since(account.worked);
            (by_lists, account.take_stripe())
        };
        let (by_lists, work) = account(held).unwrap_or_default();
        Sim::slow_down(by_lists);
        Sim::work(work);
        // SAFETY: by the caller's promise.
        unsafe { self.0.release(thread) };
    }

    unsafe fn forget_waiters(&self, thread: &mut ()) {
        // SAFETY: by the caller's promise.
        unsafe { self.0.forget_waiters(thread) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Meters, account, put_in, sort};
    use kilocore_platform::Cycles;

    #[test]
    fn a_hold_is_paid_for_the_frames_of_one_stripe() {
        let _meters = Meters::open(1, Cycles(10));
        for stripe in [3, 3, 1, 3] {
            put_in(stripe);
        }
        let pay = || account(super::Account::take_stripe).unwrap();
        assert_eq!([pay(), pay(), pay(), pay()], [20, 10, 10, 0].map(Cycles));
        assert_eq!([3, 1, 3].map(put_in), [1, 2, 3]);
        sort();
        assert_eq!([pay(), pay()], [10, 20].map(Cycles));
    }
}
