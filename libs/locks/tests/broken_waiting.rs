//! Broken twins of the locks whose releases watch their waiters, `mutexee` and `mcs-tp`; see
//! `broken.rs`.

use crate::common;

use std::marker::PhantomData;
use std::ptr;

use common::altered::{Altered, Sound};
use common::programs;
use common::twins::{
    LOST_WAKE_UP, Pointer, RACE, Word, assert_caught, assert_caught_in, assert_passes,
    rest_of_the_lock,
};
use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Shuttle, Wait};

/// The errors of a mutex whose release watches whether somebody takes it.
trait WatcherError: Send + Sync + 'static {
    /// Whoever takes the lock while it is watched does not wait for the watcher to go.
    const LEAVES_THE_WATCHER: bool = false;
    /// A watcher that saw nobody clears the word, but does not wake.
    const WATCHES_AND_GOES: bool = false;
    /// A watcher that saw nobody wakes without having cleared the word, which a new holder may
    /// have taken since.
    const CLEARS_BLINDLY: bool = false;
}

/// Bit 0: held. Bit 1: somebody may sleep. Bit 2: the last holder watches.
struct BrokenWatcher<P: Platform, E>(P::U32, PhantomData<E>);

impl<P: Platform, E: WatcherError> BrokenWatcher<P, E> {
    fn exchange(&self, from: u32, to: u32) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<P: Platform, E: WatcherError> RawLock<P> for BrokenWatcher<P, E> {
    type Thread = ();
    fn new() -> Self {
        Self(P::U32::new(0), PhantomData)
    }
    fn acquire(&self, (): &mut ()) {
        let mut bits = 1;
        loop {
            let state = self.0.load(Ordering::Relaxed);
            if state & 1 == 0 {
                if self.exchange(state, state | bits) {
                    return;
                }
            } else if state & 2 != 0 || self.exchange(state, state | 2) {
                P::park(&self.0, state | 2, None);
                bits = 3;
            }
        }
    }
    unsafe fn release(&self, (): &mut ()) {
        if self.exchange(1, 0) {
            return;
        }
        if !E::LEAVES_THE_WATCHER {
            P::wait_until(&self.0, Wait::Spin, |state| state & 4 == 0);
        }
        if self.exchange(1, 0) {
            return;
        }
        self.0.store(2 | 4, Ordering::Release);
        P::pause(1);
        if E::CLEARS_BLINDLY {
            self.0.store(0, Ordering::Release);
            P::unpark(&self.0, 1);
        } else if self.exchange(2 | 4, 0) {
            if !E::WATCHES_AND_GOES {
                P::unpark(&self.0, 1);
            }
        } else {
            self.0.fetch_and(!4, Ordering::Release);
        }
    }
    rest_of_the_lock!();
}

struct LeavesTheWatcher;
impl WatcherError for LeavesTheWatcher {
    const LEAVES_THE_WATCHER: bool = true;
}

struct WatchesAndGoes;
impl WatcherError for WatchesAndGoes {
    const WATCHES_AND_GOES: bool = true;
}

struct ClearsBlindly;
impl WatcherError for ClearsBlindly {
    const CLEARS_BLINDLY: bool = true;
}

#[test]
fn a_taker_that_leaves_the_watcher_is_caught() {
    type Checked = Altered<Shuttle, Sound>;
    assert_caught_in(
        programs::destroyed_by_last_holder::<Checked, BrokenWatcher<Checked, LeavesTheWatcher>>,
        &["touched after its last holder destroyed it"],
    );
}

#[test]
fn a_watcher_that_goes_without_waking_is_caught() {
    assert_caught::<BrokenWatcher<Shuttle, WatchesAndGoes>>(LOST_WAKE_UP);
}

#[test]
fn a_watcher_that_clears_blindly_is_caught() {
    assert_caught::<BrokenWatcher<Shuttle, ClearsBlindly>>(RACE);
}

/// The errors of a queue whose releases pass over absent waiters.
trait PassingOverError: Send + Sync + 'static {
    /// A release admits the waiter that it passes over.
    const ADMITS_THE_ABSENT: bool = false;
    /// A release that passes over the last waiter frees the lock without a look at the tail.
    const FREES_BLINDLY: bool = false;
}

/// An MCS lock in the K42 form that passes over waiters that have not looked yet. It leaks its
/// nodes.
struct BrokenPassingOver<E> {
    tail: Pointer<Node>,
    holder: Pointer<Node>,
    error: PhantomData<E>,
}

struct Node {
    next: Pointer<Node>,
    /// 0 waiting, 1 admitted, 2 removed.
    state: Word,
    has_looked: Word,
}

impl<E: PassingOverError> BrokenPassingOver<E> {
    fn join(&self) -> bool {
        let node: &'static Node = Box::leak(Box::new(Node {
            next: Pointer::new(ptr::null_mut()),
            state: Word::new(0),
            has_looked: Word::new(0),
        }));
        let me = ptr::from_ref(node).cast_mut();
        let before = self.tail.swap(me, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: nodes are leaked.
            unsafe { &*before }.next.store(me, Ordering::Release);
            Shuttle::yield_now();
            // Fails if it has been passed over already.
            let _ = node.has_looked.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
            if Shuttle::wait_until(&node.state, Wait::Spin, |state| state != 0) == 2 {
                return false;
            }
        }
        self.holder.store(me, Ordering::Relaxed);
        true
    }

    /// Who is behind `node`, or null if the lock is free now.
    fn behind(&self, node: &'static Node) -> *mut Node {
        let next = node.next.load(Ordering::Acquire);
        if !next.is_null() {
            return next;
        }
        let me = ptr::from_ref(node).cast_mut();
        if E::FREES_BLINDLY {
            self.tail.store(ptr::null_mut(), Ordering::Release);
            return ptr::null_mut();
        }
        let freed =
            self.tail.compare_exchange(me, ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
        if freed.is_ok() {
            return ptr::null_mut();
        }
        Shuttle::wait_until(&node.next, Wait::Spin, |next| !next.is_null())
    }
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: PassingOverError> RawLock<Shuttle> for BrokenPassingOver<E> {
    type Thread = ();
    fn new() -> Self {
        let none = || Pointer::new(ptr::null_mut());
        Self { tail: none(), holder: none(), error: PhantomData }
    }
    fn acquire(&self, (): &mut ()) {
        while !self.join() {}
    }
    unsafe fn release(&self, (): &mut ()) {
        // SAFETY: nodes are leaked, here and below.
        let mut node: &'static Node = unsafe { &*self.holder.load(Ordering::Relaxed) };
        loop {
            let behind = self.behind(node);
            if node.state.load(Ordering::Relaxed) == 0
                && node.has_looked.load(Ordering::Relaxed) == 2
            {
                let passed_over = if E::ADMITS_THE_ABSENT { 1 } else { 2 };
                node.state.store(passed_over, Ordering::Release);
            }
            if behind.is_null() {
                return;
            }
            // SAFETY: as above.
            node = unsafe { &*behind };
            // 2: passed over, to be told once it is known who is behind it.
            let looked =
                node.has_looked.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
            if looked.is_err() {
                node.state.store(1, Ordering::Release);
                return;
            }
        }
    }
    rest_of_the_lock!();
}

struct AdmitsTheAbsent;
impl PassingOverError for AdmitsTheAbsent {
    const ADMITS_THE_ABSENT: bool = true;
}

struct FreesBlindly;
impl PassingOverError for FreesBlindly {
    const FREES_BLINDLY: bool = true;
}

#[test]
fn a_release_that_admits_the_absent_is_caught() {
    assert_caught::<BrokenPassingOver<AdmitsTheAbsent>>(RACE);
}

#[test]
fn a_queue_freed_without_a_look_at_its_tail_is_caught() {
    // Whoever joined meanwhile waits for ever, beside others that go on.
    let how = &[RACE[0], RACE[1], "exceeded max_steps"];
    assert_caught::<BrokenPassingOver<FreesBlindly>>(how);
}

/// None of the errors: the twins are right but for them.
struct NoError;
impl WatcherError for NoError {}
impl PassingOverError for NoError {}

#[test]
fn the_twins_without_their_errors_pass() {
    assert_passes::<BrokenWatcher<Shuttle, NoError>>();
    assert_passes::<BrokenPassingOver<NoError>>();
}
