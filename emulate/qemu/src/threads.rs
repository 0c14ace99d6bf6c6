//! Threads of the program: how they become tasks, and how they end.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{c_uint, c_void};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use kilocore_emulation_orders::Orders;
use kilocore_platform::Cycles;
use kilocore_qemu_plugin::api::PluginId;
use kilocore_sim::{Guests, Newborn, Options, TaskId};

use crate::guest::{self, Thread};
use crate::{binding, calls, clock, dying, lives, memory, repeats, results, timers, waits, window};

/// What making a thread takes its parent besides the call. Estimated: 10 to 20 µs with the mapping of its stack,
/// on machines of the last fifteen years, half of them in the kernel.
const BIRTH: Cycles = Cycles(15_000);

/// The task that is the program's first thread.
const FIRST: TaskId = TaskId(0);

/// Those that are not tasks yet.
static UNBORN: Mutex<Unborn> = Mutex::new(Unborn { waiting: 0, born: VecDeque::new() });
static CHANGED: Condvar = Condvar::new();

/// Threads on their way to become tasks.
#[derive(Debug)]
struct Unborn {
    /// Threads that have come to their first call of the system and wait for their task.
    waiting: usize,
    /// Tasks that a thread is to arrive for, with the word that the kernel clears when that thread ends.
    born: VecDeque<(Newborn, u64)>,
}

thread_local! {
    /// Whether the calling thread was a task and has ended.
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this process is one that the program has forked.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The program begins.
pub(crate) fn begin(orders: &Orders) -> Result<(), String> {
    let options = Options { cores: orders.cores, seed: orders.seed };
    let guests = Guests::new(&orders.machine, options, Cycles(orders.disorder));
    let guests = guests.map_err(|error| error.to_string())?;
    let first = guests.begin();
    if orders.interleaved {
        first.interleave_pages();
    }
    first.refine_places(calls::with_calls);
    guests.when_stuck(waits::when_stuck);
    guest::set_machine(guests);
    guest::settle(0, first, 0);
    timers::thread_begins(FIRST, u64::from(std::process::id()));
    Ok(())
}

/// The calling thread, which calls the system. If it is not a task yet, it becomes one, and this returns when it is
/// its turn.
pub(crate) fn this_or_born(vcpu: c_uint) -> Option<Rc<Thread>> {
    let machine = guest::machine()?;
    if machine.is_over() || FORKED.load(Ordering::Relaxed) {
        return None;
    }
    if let Some(thread) = guest::this_thread() {
        return Some(thread);
    }
    // If a signal has come meanwhile, QEMU has the thread handle that first, and makes the call anew by which it ends.
    if HAS_ENDED.get() {
        return None;
    }
    let mut unborn = UNBORN.lock().unwrap_or_else(PoisonError::into_inner);
    unborn.waiting += 1;
    CHANGED.notify_all();
    let (newborn, clears) = loop {
        match unborn.born.pop_front() {
            Some(next) => break next,
            None => unborn = CHANGED.wait(unborn).unwrap_or_else(PoisonError::into_inner),
        }
    };
    unborn.waiting -= 1;
    drop(unborn);
    CHANGED.notify_all();
    let guest = newborn.arrive();
    guest::settle(vcpu, guest, clears);
    guest::this_thread()
}

/// The calling thread, if it is a task and not one of a process that the program has forked.
pub(crate) fn this_thread() -> Option<Rc<Thread>> {
    if FORKED.load(Ordering::Relaxed) { None } else { guest::this_thread() }
}

/// Whether a call of `clone` with these flags makes a thread.
pub(crate) fn is_thread(flags: u64) -> bool {
    flags & libc::CLONE_THREAD as u64 != 0
}

/// The calling thread has made another one, which the kernel knows by a number. The clock was at `kept` before.
pub(crate) fn bear(thread: &Thread, [flags, _, _, clears, ..]: [u64; 6], kept: u64, number: u64) {
    // What the new thread executes up to its first call is added to the clock, at some time or other. It may end the
    // program in that.
    dying::runs(number as libc::c_long);
    let mut unborn = UNBORN.lock().unwrap_or_else(PoisonError::into_inner);
    while unborn.waiting == 0 {
        unborn = CHANGED.wait(unborn).unwrap_or_else(PoisonError::into_inner);
    }
    drop(unborn);
    clock::put_back(kept);
    let clears = if flags & libc::CLONE_CHILD_CLEARTID as u64 == 0 { 0 } else { clears };
    // Nobody else may go on here: when the first thread is made, QEMU has to stop all of them next, and one that has
    // run since would wait for its turn where it cannot be stopped.
    let newborn = guest::simulate(thread, |guest| {
        guest.in_system(BIRTH);
        lives::thread_begins(guest.now());
        guest.fork()
    });
    binding::thread_begins(number, newborn.task());
    timers::thread_begins(newborn.task(), number);
    let mut unborn = UNBORN.lock().unwrap_or_else(PoisonError::into_inner);
    unborn.born.push_back((newborn, clears));
    CHANGED.notify_all();
    // If two were waited for, nobody could tell which is which.
    while !unborn.born.is_empty() || unborn.waiting > 0 {
        unborn = CHANGED.wait(unborn).unwrap_or_else(PoisonError::into_inner);
    }
}

/// The calling thread ends.
pub(crate) fn end() {
    let Some(thread) = guest::this_thread() else { return };
    let clears = thread.clears.get();
    timers::thread_ends(thread.guest.task());
    guest::simulate(&thread, |guest| {
        guest.catch_up();
        lives::thread_ends(guest.now(), guest.task() != FIRST);
    });
    if !lives::has_threads() {
        window::threads_have_ended();
    }
    repeats::stop();
    calls::stop();
    if let Some(thread) = guest::leave() {
        HAS_ENDED.set(true);
        let futex = (clears != 0).then_some(clears);
        thread.guest.clone().end(futex, move || wait_until_cleared(clears));
    }
}

/// Waits in real time until the kernel has cleared the word of a thread that has ended.
fn wait_until_cleared(address: u64) {
    while address != 0 && memory::load(address).is_some_and(|word| word != 0) {
        std::thread::yield_now();
    }
}

/// The program exits with this status.
///
/// The process ends here, and not in QEMU's call. QEMU would have all threads leave their translated code first, so those
/// that wait in the simulator would have to go on. Each would find that its wait is over, though nothing that it waits for
/// has happened, and QEMU would not say any more when its call returns, so the word of a futex would stay changed. What a
/// program does then is not its own doing: Go's threads run into an address that is not there.
pub(crate) fn exit(status: u64) -> ! {
    if let Some(thread) = guest::this_thread() {
        let (outcome, chain) = guest::simulate(&thread, |guest| {
            guest.leave_address_space();
            guest.catch_up();
            (guest.outcome(), guest.chain())
        });
        let page_faults = guest::machine().map_or(0, Guests::page_faults);
        if let Some(outcome) = outcome {
            results::write(outcome, &chain, page_faults, window::seen());
        }
    }
    // SAFETY: it ends the process at once, as the call would, whatever its threads do.
    unsafe { libc::_exit(status as libc::c_int) }
}

/// QEMU calls this when the program has ended in another way than by [`exit`].
pub(crate) extern "C" fn at_exit(_: PluginId, _: *mut c_void) {
    if FORKED.load(Ordering::Relaxed) {
        return;
    }
    if let Some(machine) = guest::machine() {
        machine.stop();
    }
    guest::stop();
}

/// Sees to it that processes that the program forks are not tasks.
pub(crate) fn forget_in_children() -> Result<(), String> {
    unsafe extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
        guest::forget();
    }
    // SAFETY: a function that only uses atomics and a thread local without a destructor to run.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        _ => Err("there is no memory".to_owned()),
    }
}
