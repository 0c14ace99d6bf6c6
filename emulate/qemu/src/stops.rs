//! QEMU stops all threads for a moment, as before it starts another process for the program.
//!
//! It waits until each has left its translated code, and one that waits for its turn inside of that does not. So those are
//! let go ([`Guests::let_go`]), one after the other and in the order in which they were made, so that it is the same each time. Each
//! executes the rest of its block, where nothing is simulated, and QEMU holds it before the next one. When QEMU lets them
//! run again, each waits for its turn as soon as it comes to something that the plugin sees. For the simulator they have
//! waited all the time.
//!
//! A call that starts a process says before that this comes. Of other reasons, such as an atomic instruction on an
//! unaligned word, nobody knows before: the [watchdog](crate::watchdog) sees that nothing happens any more.

use std::ffi::c_uint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kilocore_sim::{Filter, Guests};

use crate::dying;
use crate::guest::{self, Thread};
use crate::host::Status;
use crate::site::Site;
use crate::whereabouts::{self, IN_CALL, IN_CODE, LET_GO, Whereabouts};

/// How often somebody looks whether a thread has left its code.
const EVERY: Duration = Duration::from_micros(50);
/// A thread that was seen asleep so many times in a row waits for others.
const LOOKS: u32 = 3;
/// Nobody is let go more often for one stop. If QEMU does not hold it then, it never will, and the watchdog says so.
const MOST_TIMES: u32 = 10_000;

/// Whether QEMU stops all threads, or is about to.
static HAPPENS: AtomicBool = AtomicBool::new(false);
/// Whether the thread for which it does has come back from that.
static IS_DONE: AtomicBool = AtomicBool::new(false);
/// Whom to let go.
static ORDER: Mutex<Option<Order>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

/// An order to let threads go.
#[derive(Debug)]
struct Order {
    /// The thread that waits for them.
    for_whom: libc::c_long,
    whom: Vec<Arc<Whereabouts>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread goes into the system, or comes back. One that was let go waits for its turn first.
pub(crate) fn in_call(thread: &Thread, is: bool) {
    is_at(&thread.whereabouts, if is { IN_CALL } else { IN_CODE });
    if is && thread.guest.is_let_go() {
        thread.guest.wait_again();
        guest::goes_on(thread);
    }
}

/// The thread that runs starts another process next: those that wait in translated code are to be let go.
pub(crate) fn happens_next(thread: &Thread) {
    let me = thread.guest.task();
    let whom: Vec<_> = whereabouts::in_code().into_iter().filter(|one| one.task != me).collect();
    if !whom.is_empty() {
        IS_DONE.store(false, Ordering::Relaxed);
        HAPPENS.store(true, Ordering::Release);
        *lock(&ORDER) = Some(Order { for_whom: thread.whereabouts.number, whom });
        CHANGED.notify_all();
    }
}

/// The thread that runs has started a process, or failed to. Returns when all wait for their turn again, and whether any of
/// them had to be let go.
pub(crate) fn is_over() -> bool {
    if !HAPPENS.load(Ordering::Acquire) {
        return false;
    }
    IS_DONE.store(true, Ordering::Release);
    // It sleeps for a reason that has nothing to do with QEMU.
    dying::runs(0);
    let mut order = lock(&ORDER);
    while order.is_some() {
        order = CHANGED.wait(order).unwrap_or_else(PoisonError::into_inner);
    }
    drop(order);
    wait_until_all_are_back();
    true
}

fn wait_until_all_are_back() {
    let mut order = lock(&ORDER);
    while !is_machine_over() && whereabouts::is_any_let_go() {
        // Nobody says so when the machine is over.
        order =
            CHANGED.wait_timeout(order, LOOKS * EVERY).unwrap_or_else(PoisonError::into_inner).0;
    }
    HAPPENS.store(false, Ordering::Release);
}

/// A thread is somewhere else now: somebody may wait for that.
fn is_at(one: &Whereabouts, at: u8) {
    one.at.store(at, Ordering::Release);
    if HAPPENS.load(Ordering::Acquire) {
        CHANGED.notify_all();
    }
}

fn is_machine_over() -> bool {
    guest::machine().is_none_or(Guests::is_over)
}

/// Waits so long for an order, and carries it out. Whether there was one.
pub(crate) fn carry_out_orders(time: Duration) -> bool {
    let order = CHANGED.wait_timeout_while(lock(&ORDER), time, |order| order.is_none());
    let order = order.unwrap_or_else(PoisonError::into_inner).0;
    let Some(Order { for_whom, whom }) = &*order else { return false };
    let (for_whom, whom) = (*for_whom, whom.clone());
    drop(order);
    if waits_for_others(for_whom) {
        for one in whom {
            // One that comes to a further block before QEMU holds it waits there again. So does one that QEMU has let run again.
            let is_to_wait_again =
                |_: &u32| !let_go(&one) && one.is_at(IN_CODE) && waits_for_others(for_whom);
            (0..MOST_TIMES).take_while(is_to_wait_again).count();
        }
    }
    *lock(&ORDER) = None;
    CHANGED.notify_all();
    true
}

/// Lets all go that wait for their turn in translated code, as nothing happens any more. Whether there were any. They come back
/// some time later.
pub(crate) fn let_all_go() -> bool {
    IS_DONE.store(false, Ordering::Relaxed);
    HAPPENS.store(true, Ordering::Release);
    let all = whereabouts::in_code();
    all.iter().filter(|one| let_go(one)).count() > 0
}

/// Waits until the thread for which it happens waits for others. Not if it has come back.
fn waits_for_others(for_whom: libc::c_long) -> bool {
    let mut seen = 0;
    while seen < LOOKS {
        let status = Status::of(for_whom).filter(|_| !is_over_or_done());
        let Some(status) = status else { return false };
        seen = if status.sleeps() { seen + 1 } else { 0 };
        thread::sleep(EVERY);
    }
    true
}

fn is_over_or_done() -> bool {
    IS_DONE.load(Ordering::Acquire) || is_machine_over()
}

/// Lets a thread go that waits for its turn. Returns when it has left its block, and whether QEMU holds it.
fn let_go(one: &Whereabouts) -> bool {
    let before = one.times.load(Ordering::Acquire);
    if !guest::machine().is_some_and(|machine| machine.let_go(one.task)) {
        return false;
    }
    while one.times.load(Ordering::Acquire) == before && !is_machine_over() {
        thread::sleep(EVERY);
    }
    let mut asleep = 0;
    while one.is_at(LET_GO) && asleep < LOOKS && !is_over_or_done() {
        let sleeps = Status::of(one.number).is_none_or(Status::sleeps);
        asleep = if sleeps { asleep + 1 } else { 0 };
        thread::sleep(EVERY);
    }
    asleep == LOOKS
}

/// The calling thread has waited for its turn at a place with this rest of its block, and may have been let go.
#[inline]
pub(crate) fn has_waited(rest: impl FnOnce() -> Range<usize>) {
    if HAPPENS.load(Ordering::Acquire) {
        note(rest());
    }
}

#[cold]
fn note(rest: Range<usize>) {
    let Some(thread) = guest::this_thread().filter(|thread| thread.guest.is_let_go()) else {
        return;
    };
    let mine = &thread.whereabouts;
    *lock(&mine.rest) = rest;
    is_at(mine, LET_GO);
    mine.times.fetch_add(1, Ordering::Release);
}

/// Whether the thread on this processor is the one that runs, at a place with this rest of its block, or is now: one that was
/// let go and has come to another block waits for its turn.
#[inline(always)]
pub(crate) fn runs(vcpu: c_uint, rest: impl FnOnce() -> Range<usize>) -> bool {
    guest::runs(vcpu) || (HAPPENS.load(Ordering::Acquire) && comes_back(false, rest()))
}

/// The same for the lines of its core.
#[inline(always)]
pub(crate) fn lines(vcpu: c_uint, rest: impl FnOnce() -> Range<usize>) -> Option<&'static Filter> {
    guest::lines(vcpu).or_else(|| runs(vcpu, rest).then(|| guest::lines(vcpu)).flatten())
}

/// The same for the beginning of a block.
#[inline]
pub(crate) fn begins(vcpu: c_uint, rest: impl FnOnce() -> Range<usize>) -> bool {
    guest::runs(vcpu) || (HAPPENS.load(Ordering::Acquire) && comes_back(true, rest()))
}

#[cold]
fn comes_back(is_other: bool, rest: Range<usize>) -> bool {
    let thread = guest::this_thread().filter(|thread| thread.guest.is_let_go());
    let Some(thread) = thread else { return false };
    let mine = &thread.whereabouts;
    let mut left = lock(&mine.rest);
    if !is_other && left.end == rest.end && rest.start >= left.start {
        *left = rest;
        return false;
    }
    drop(left);
    is_at(mine, IN_CODE);
    thread.guest.wait_again();
    if thread.guest.is_let_go() {
        note(rest);
        return false;
    }
    guest::goes_on(&thread);
    true
}

/// What is left of its block before a site is executed.
pub(crate) fn before(site: &Site) -> Range<usize> {
    site.rest_of_block()
}

/// What is left of its block when a site has been executed.
pub(crate) fn after(site: &Site) -> Range<usize> {
    let Range { start, end } = site.rest_of_block();
    start + size_of::<Site>()..end
}
