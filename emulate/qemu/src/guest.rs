//! The task that a thread of the program is, and its way into the simulator.

use std::cell::{Cell, RefCell};
use std::ffi::c_uint;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use kilocore_platform::Cycles;
use kilocore_qemu_plugin::frames::Frames;
use kilocore_sim::{Filter, Guest, Guests, SimError};

use crate::call::{Call, Interrupted};
use crate::counts::HANDOVERS;
use crate::whereabouts::Whereabouts;
use crate::{calls, clock, conditions, dying, host, repeats, report, stacks, stuck};

/// The number of no processor of QEMU's.
const NOBODY: c_uint = c_uint::MAX;

/// The simulated machine.
static GUESTS: OnceLock<Guests> = OnceLock::new();
/// Which processor of QEMU's the thread has that runs.
static RUNS: AtomicU32 = AtomicU32::new(NOBODY);
/// The lines of the core that it runs on.
static FILTER: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

/// What is called when a time has come that somebody waits for ([`clock::set_due`]).
static AT_DUE: OnceLock<fn(Cycles)> = OnceLock::new();

/// Has this function called when a time has come that somebody waits for.
pub(crate) fn call_when_due(happens: fn(Cycles)) {
    AT_DUE.get_or_init(|| happens);
}

/// A thread of the program, as its own code knows it.
#[derive(Debug)]
pub(crate) struct Thread {
    /// The processor of QEMU's that it has.
    processor: c_uint,
    pub(crate) guest: Guest,
    pub(crate) repeats: repeats::Repeats,
    /// The address of the last load for which a line had to come.
    pub(crate) fetched: Cell<u64>,
    /// Where it is, as others see it.
    pub(crate) whereabouts: Arc<Whereabouts>,
    /// What it did by atomic operations.
    pub(crate) updates: conditions::Updates,
    /// Who called whom in it.
    pub(crate) frames: RefCell<Frames>,
    /// The word that the kernel clears when the thread has ended, or 0.
    pub(crate) clears: Cell<u64>,
    /// What was left of the process's timer when it set that anew.
    pub(crate) left: Cell<[u64; 4]>,
    /// The call of the system that it is in.
    pub(crate) call: RefCell<Call>,
    /// Which one was the last.
    pub(crate) last_call: Cell<i64>,
    /// The call that a signal has interrupted, until it comes again.
    pub(crate) interrupted: Cell<Option<Interrupted>>,
}

thread_local! {
    static THREAD: RefCell<Option<Rc<Thread>>> = const { RefCell::new(None) };
}

/// Gives the program its machine.
pub(crate) fn set_machine(guests: Guests) {
    assert!(GUESTS.set(guests).is_ok(), "there is one machine");
}

pub(crate) fn machine() -> Option<&'static Guests> {
    GUESTS.get()
}

/// Makes the calling thread the one that runs, with this task.
pub(crate) fn settle(vcpu: c_uint, guest: Guest, clears: u64) {
    let thread = Thread {
        processor: vcpu,
        whereabouts: Whereabouts::of(guest.task(), host::number()),
        guest,
        repeats: repeats::Repeats::default(),
        fetched: Cell::new(0),
        updates: conditions::Updates::default(),
        frames: RefCell::default(),
        clears: Cell::new(clears),
        left: Cell::default(),
        call: RefCell::default(),
        last_call: Cell::new(-1),
        interrupted: Cell::default(),
    };
    let thread = Rc::new(thread);
    THREAD.set(Some(Rc::clone(&thread)));
    goes_on(&thread);
}

/// The calling thread, if it is a task.
pub(crate) fn this_thread() -> Option<Rc<Thread>> {
    THREAD.with_borrow(Clone::clone)
}

/// The calling thread is no task any more.
pub(crate) fn leave() -> Option<Rc<Thread>> {
    dying::runs(0);
    RUNS.store(NOBODY, Ordering::Relaxed);
    let left = THREAD.take();
    if let Some(thread) = &left {
        thread.whereabouts.end();
    }
    left
}

/// The lines that the core has, if the thread on this processor is the one that runs.
#[inline(always)]
pub(crate) fn lines(vcpu: c_uint) -> Option<&'static Filter> {
    if RUNS.load(Ordering::Relaxed) != vcpu {
        return None;
    }
    // SAFETY: null, or the filter of the core that the calling thread runs on. The machine lives as long as this
    // process, and only the thread that runs reaches its filters.
    unsafe { FILTER.load(Ordering::Relaxed).as_ref() }
}

/// Whether the thread on this processor is the one that runs.
#[inline(always)]
pub(crate) fn runs(vcpu: c_uint) -> bool {
    RUNS.load(Ordering::Relaxed) == vcpu
}

/// Lets the simulator do something for the calling thread, which runs. Others may run meanwhile. In translated code, the thread
/// may be let go from that, and runs no more.
pub(crate) fn simulate<R>(thread: &Thread, work: impl FnOnce(&Guest) -> R) -> R {
    dying::runs(0);
    thread.guest.compute(clock::take_passed());
    let before = stacks::times(&thread.guest);
    let done = work(&thread.guest);
    if thread.guest.is_let_go() {
        return done;
    }
    goes_on(thread);
    stacks::passed(&thread.guest, before);
    done
}

/// The calling thread goes on: it is the one that runs, and the clock is its own.
pub(crate) fn goes_on(thread: &Thread) {
    let Some(machine) = machine() else { return };
    if machine.is_over() {
        dying::stay_if_in_call();
        return stop();
    }
    if RUNS.swap(thread.processor, Ordering::Relaxed) != thread.processor {
        HANDOVERS.more();
    }
    dying::runs(thread.whereabouts.number);
    let filter = machine.filter().map_or(ptr::null_mut(), <*const Filter>::cast_mut);
    FILTER.store(filter, Ordering::Relaxed);
    repeats::goes_on(&thread.repeats);
    calls::goes_on(&thread.frames);
    let now = thread.guest.now();
    clock::set(now, thread.guest.limit());
    if clock::is_due()
        && let Some(happens) = AT_DUE.get()
    {
        happens(now);
    }
}

/// Lets all happen that is earlier than the time of the thread that runs.
#[inline(never)]
pub(crate) fn let_others_go_on() {
    if let Some(thread) = this_thread() {
        simulate(&thread, Guest::catch_up);
    }
}

/// Nothing is simulated any more: all threads go on, and nothing costs anything.
pub(crate) fn stop() {
    forget();
    match machine().and_then(Guests::failure) {
        None => {}
        Some(SimError::Deadlock { at, tasks, places }) => stuck::report(at, &tasks, &places),
        Some(failure) => report::fail(&failure.to_string()),
    }
}

/// This process is one that the program has forked, in which nothing is simulated.
pub(crate) fn forget() {
    RUNS.store(NOBODY, Ordering::Relaxed);
    clock::stop();
}
