//! Threads that wait in the simulator for descriptors.
//!
//! A thread sleeps there until another thread's call of the system has made its descriptor ready, or its time is up, and then
//! makes its call, which returns at once. For what may come from outside it looks now and then, if it has a time. If it has
//! none, it goes [outside](crate::outside).
//!
//! # Decisions
//! * **Who is woken looks again**, and sleeps on if somebody else was quicker.
//! * **Of those that read from one pipe, one is woken at a time**, the one that waits longest, as Linux does since 5.5: it wakes
//!   the next one by its own call, if it leaves something. The same holds for an empty place at the end of a file.
//! * **While a thread is outside at a descriptor of the program's own, nobody waits for one here**: it may need what that one
//!   would do, or that one what it takes. Who goes there wakes the others, and they go there, too.
//! * **If nothing can happen any more, it is a deadlock**, unless the program handles signals that come from outside: a handler
//!   may write to a pipe. Then those who wait here go outside.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_platform::Cycles;
use kilocore_sim::{Guest, TaskId};

use crate::awaits::Awaits;
use crate::guest::{self, Thread};
use crate::sent::{Receiver, sent};
use crate::timers::{self, Sleeps};
use crate::{asked, depends, internal, machine, outside, signals};

/// How soon somebody looks for the first time whether something has come from outside, in ns.
const FIRST_LOOK_NS: u64 = 100_000;
/// From then on, it looks when it has waited longer by one part of so many.
const LOOKS: u64 = 8;

/// A thread that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    task: TaskId,
    awaits: Awaits,
    has_end: bool,
    /// The signal that has been sent to it.
    signal: Option<u64>,
    /// Whether it is to go outside, as nothing can happen here any more.
    is_stuck: bool,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
/// How many wait.
static COUNT: AtomicU32 = AtomicU32::new(0);

fn waiting() -> MutexGuard<'static, Vec<Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The call returns at once.
    Ready,
    /// A signal is to be handled, which has ended the wait: then it does so as well.
    Signalled(u64),
    /// Its time is up.
    InVain,
    /// It has not ended: it is to be waited for outside.
    Elsewhere,
}

/// Whether what descriptors of the program's own do is known here.
fn all_are_here() -> bool {
    !internal::are_shared() && !outside::is_anybody_at_own()
}

/// Whether what somebody waits for is simulated, so that nothing comes from outside.
pub(crate) fn is_simulated(awaits: Awaits) -> bool {
    awaits.is_internal() && (all_are_here() || awaits.call().is_some_and(asked::is_sleep))
}

/// Waits for something, and no longer than so long.
pub(crate) fn wait(thread: &Thread, awaits: Awaits, time: Option<Cycles>) -> Ended {
    let begun = guest::simulate(thread, Guest::now);
    let until = time.map(|time| begun.0.saturating_add(time.0));
    let mut is_stuck = false;
    let mut signal = None;
    loop {
        if signals::is_pending() {
            return handle(thread, awaits, signal);
        }
        let is_known = is_simulated(awaits) && !is_stuck;
        if !is_known && time.is_some() {
            depends::also("it waits for something that is not simulated");
        }
        if !is_known && time.is_none() {
            // Somebody who is outside may take what is there now.
            let stays = !awaits.is_asked() && !outside::is_anybody_at_own() && awaits.has_come();
            return if stays { Ended::Ready } else { Ended::Elsewhere };
        }
        let now = guest::simulate(thread, Guest::now);
        let is_over = guest::machine().is_none_or(kilocore_sim::Guests::is_over)
            || until.is_some_and(|until| now.0 >= until);
        if is_over {
            return if awaits.has_come() { Ended::Ready } else { Ended::InVain };
        }
        let left = until.map(|until| Cycles(until - now.0));
        let look = || (now.since(begun).0 / LOOKS).max(machine::cycles(FIRST_LOOK_NS).0);
        let next = left.map(|left| if is_known { left } else { Cycles(left.0.min(look())) });
        let Some(woken) = sleep(thread, awaits, next) else { return Ended::Ready };
        is_stuck = woken.is_stuck;
        // If nobody has sent one, it is the timer's.
        signal = woken.signal.or(Some(libc::SIGALRM as u64));
        // It may let signals come only for as long as it waits. Then QEMU does not know yet.
        if woken.signal.is_some() && time.is_some() && awaits.lets_signals_come() {
            return Ended::Ready;
        }
    }
}

/// Sleeps for so long or until somebody wakes it, unless what it awaits has come.
fn sleep(thread: &Thread, awaits: Awaits, time: Option<Cycles>) -> Option<Waiting> {
    let task = thread.guest.task();
    let has_come = || {
        if awaits.has_come() {
            return true;
        }
        let has_end = time.is_some();
        let one = Waiting { task, awaits, has_end, signal: None, is_stuck: false };
        waiting().push(one);
        COUNT.fetch_add(1, Ordering::Relaxed);
        timers::sleeps(thread, Sleeps::Waits);
        false
    };
    guest::simulate(thread, |guest| guest.sleep_unless(has_come, time));
    timers::sleeps(thread, Sleeps::Not);
    let mut waiting = waiting();
    let place = waiting.iter().position(|it| it.task == task)?;
    COUNT.fetch_sub(1, Ordering::Relaxed);
    Some(waiting.remove(place))
}

/// A signal is to be handled. If it is the one that has ended a wait, and not something that has come, the call is interrupted.
fn handle(thread: &Thread, awaits: Awaits, signal: Option<u64>) -> Ended {
    let has_come = awaits.has_come();
    if has_come && awaits.takes_turns_at().is_some() {
        // Who is woken to read and does not leaves that to the next one.
        wake(thread, |_| false);
    }
    signal.filter(|_| !has_come).map_or(Ended::Ready, Ended::Signalled)
}

/// A thread's call of the system has returned: those are woken whose descriptors it has made ready, and those to whom it has
/// sent a signal.
pub(crate) fn has_called(thread: &Thread, call: i64, arguments: [u64; 6]) {
    if COUNT.load(Ordering::Relaxed) == 0 || makes_nothing_ready(call) {
        return;
    }
    if let Some(sent) = sent(call, arguments) {
        let gets = |task: TaskId| match sent.to {
            Receiver::Process(_) => true,
            Receiver::Thread { number, .. } => timers::is_known_as(task, number),
        };
        let mut waiting = waiting();
        waiting.iter_mut().filter(|it| gets(it.task)).for_each(|it| it.signal = Some(sent.signal));
    }
    // What is watched has become another thing.
    let has_changed = |it: &Waiting| {
        call == libc::SYS_epoll_ctl && it.awaits.is_asked() && !it.awaits.is_internal()
    };
    wake(thread, |it| it.signal.is_some() || has_changed(it));
}

/// Wakes those for whom something has come, and others.
fn wake(thread: &Thread, others: impl Fn(&Waiting) -> bool) {
    let mut turns = Vec::new();
    let mut woken = waiting().clone();
    woken.retain(|it| {
        if others(it) {
            return true;
        }
        let turn = it.awaits.takes_turns_at();
        if turn.is_some_and(|pipe| turns.contains(&pipe)) {
            return false;
        }
        let has_come = it.awaits.has_come();
        if has_come {
            turns.extend(turn);
        }
        has_come
    });
    for Waiting { task, .. } in woken {
        guest::simulate(thread, |guest| {
            // Others may go on first, and it may be one of them that sleeps elsewhere by then.
            guest.catch_up();
            if waiting().iter().any(|it| it.task == task) {
                guest.wake(task);
            }
        });
    }
}

/// All who wait here have to look whether they still may: a thread goes outside at a descriptor of the program's own, or the
/// program has started another process.
pub(crate) fn all_look(thread: &Thread) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        wake(thread, |_| true);
    }
}

/// Whether a call can end nobody's wait for a descriptor: those that programs make most often, and `clone`. After that, the
/// clock has what the new thread has done already, until it is its own ([`threads::bear`](crate::threads::bear)), and nobody
/// may be woken.
fn makes_nothing_ready(call: i64) -> bool {
    matches!(
        call,
        libc::SYS_clone
            | libc::SYS_futex
            | libc::SYS_sched_yield
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_clock_gettime
            | libc::SYS_gettimeofday
            | libc::SYS_getpid
            | libc::SYS_gettid
            | libc::SYS_mmap
            | libc::SYS_munmap
            | libc::SYS_mprotect
            | libc::SYS_madvise
            | libc::SYS_brk
            | libc::SYS_rt_sigprocmask
            | libc::SYS_rt_sigaction
    )
}

/// Nothing can happen any more. Those go on who wait here and may be woken from outside all the same.
pub(crate) fn when_stuck() -> Vec<TaskId> {
    if !signals::may_come_from_outside() {
        return Vec::new();
    }
    let mut waiting = waiting();
    let all = waiting.iter_mut().filter(|it| !it.has_end);
    all.map(|it| {
        it.is_stuck = true;
        it.task
    })
    .collect()
}
