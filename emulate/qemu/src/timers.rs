//! The timer of the process, by simulated time: `alarm`, and `setitimer` by the clock on the wall.
//!
//! The simulator calls when the time has come, in the order of simulated time. Then the thread that is to handle the signal
//! gets it from the host, and handles it as soon as it is its turn. If it sleeps, it is woken: QEMU then sees that a signal
//! is pending and does not make the call. The host's own timer is never set.
//!
//! # Decisions
//! * **The first thread handles it, unless it blocks the signal**, as in Linux; then the oldest that does not.
//! * **A call that was interrupted is made again**, as QEMU does with each call that a signal comes before. A sleep that is made
//!   again ends at once. It succeeds, where Linux would say that it was interrupted.
//! * **While all threads wait for something that is not simulated, the host's time counts.** No simulated time passes then, and
//!   nobody would ever be interrupted who waits for an answer that does not come.
//! * `alarm` returns 0, whatever was left: QEMU's interface changes no results.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kilocore_platform::Cycles;
use kilocore_sim::{Answer, TaskId};

use crate::call::Change;
use crate::guest::{self, Thread};
use crate::{machine, memory, window};

/// Of the timer, and of the signal that says that it is over.
const SIGNAL: libc::c_int = libc::SIGALRM;
const NS_PER_US: u64 = 1_000;
const US_PER_S: u64 = 1_000_000;

static STATE: Mutex<State> = Mutex::new(State {
    deadline: None,
    left_ns: 0,
    interval_ns: 0,
    is_called: false,
    threads: BTreeMap::new(),
});

#[derive(Debug)]
struct State {
    /// When it is over next.
    deadline: Option<Cycles>,
    /// How long that was when it was set.
    left_ns: u64,
    /// How long after that it is over again; 0 for never.
    interval_ns: u64,
    /// Whether the simulator knows whom to call.
    is_called: bool,
    /// Those that there are, by the numbers of their tasks.
    threads: BTreeMap<u32, Known>,
}

/// A thread that may handle the signal.
#[derive(Debug)]
struct Known {
    /// As the kernel knows it.
    number: libc::c_long,
    blocks: bool,
    sleeps: Sleeps,
    /// It was woken out of a nap for the time at this address, and will call for it again.
    napped: Option<u64>,
}

/// Whether and how a thread sleeps, so that it can be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleeps {
    Not,
    /// For the time at an address.
    Nap(u64),
    /// Until something happens.
    Waits,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread is there, which the kernel knows by a number.
pub(crate) fn thread_begins(task: TaskId, number: u64) {
    let number = number as libc::c_long;
    let known = Known { number, blocks: false, sleeps: Sleeps::Not, napped: None };
    state().threads.insert(task.0, known);
}

/// The thread is gone.
pub(crate) fn thread_ends(task: TaskId) {
    state().threads.remove(&task.0);
}

/// The numbers by which the kernel knows those that there are, the oldest first.
pub(crate) fn numbers() -> Vec<libc::c_long> {
    state().threads.values().map(|known| known.number).collect()
}

/// Whether the kernel knows a thread by this number.
pub(crate) fn is_known_as(task: TaskId, number: u64) -> bool {
    let state = state();
    state.threads.get(&task.0).is_some_and(|known| known.number == number as libc::c_long)
}

/// The thread has changed which signals it blocks, as the arguments of `rt_sigprocmask` say.
pub(crate) fn blocks(thread: &Thread, [how, set, ..]: [u64; 6]) {
    let Some([signals]) = memory::read_u64s(set) else { return };
    let is_in = signals >> (SIGNAL - 1) & 1 == 1;
    if let Some(known) = state().threads.get_mut(&thread.guest.task().0) {
        known.blocks = match how as libc::c_int {
            libc::SIG_BLOCK => known.blocks || is_in,
            libc::SIG_UNBLOCK => known.blocks && !is_in,
            _ => is_in,
        };
    }
}

/// The thread goes to sleep in this way, or has slept.
pub(crate) fn sleeps(thread: &Thread, how: Sleeps) {
    if let Some(known) = state().threads.get_mut(&thread.guest.task().0) {
        known.sleeps = how;
    }
}

/// Whether the thread calls again for a nap out of which it was woken, for the time at an address.
pub(crate) fn has_napped(thread: &Thread, time: u64) -> bool {
    let mut state = state();
    let known = state.threads.get_mut(&thread.guest.task().0);
    known.and_then(|known| known.napped.take()) == Some(time)
}

/// Whether a time is set.
pub(crate) fn is_set() -> bool {
    state().deadline.is_some()
}

/// `alarm`. Whatever it has set on the host is to be [taken back](alarm_is_set).
pub(crate) fn alarm(thread: &Thread, seconds: u64) {
    set(thread, u64::from(seconds as u32).saturating_mul(1_000_000_000), 0);
}

/// `alarm` has returned.
pub(crate) fn alarm_is_set() {
    // SAFETY: a number. It was set for a second at least, a moment ago.
    unsafe { libc::alarm(0) };
}

/// Whether a timer is the one that is simulated.
pub(crate) fn is_simulated(which: u64) -> bool {
    which as libc::c_int == libc::ITIMER_REAL
}

/// `setitimer`. Returns what has to be put back after the call, which sets nothing, and what was left before.
pub(crate) fn set_timer(thread: &Thread, new: u64) -> (Change, [u64; 4]) {
    let left = left(thread);
    let Some([interval_s, interval_us, s, us]) = memory::read_u64s(new) else {
        return (Change::None, left);
    };
    // The kernel refuses others.
    if interval_us >= US_PER_S || us >= US_PER_S {
        return (Change::None, left);
    }
    let ns =
        |s: u64, us: u64| s.saturating_mul(US_PER_S).saturating_add(us).saturating_mul(NS_PER_US);
    set(thread, ns(s, us), ns(interval_s, interval_us));
    (Change::at_once(new.wrapping_add(16)), left)
}

/// How long each time is and what is left of this one, in seconds and microseconds.
pub(crate) fn left(thread: &Thread) -> [u64; 4] {
    let now = guest::simulate(thread, kilocore_sim::Guest::now);
    let state = state();
    let left = state.deadline.map_or(0, |at| machine::ns(at.since(now)) as u64);
    let parts = |ns: u64| [ns / NS_PER_US / US_PER_S, ns / NS_PER_US % US_PER_S];
    let ([a, b], [c, d]) = (parts(state.interval_ns), parts(left));
    [a, b, c, d]
}

/// Sets the timer, or stops it if it is over in no time.
fn set(thread: &Thread, ns: u64, interval_ns: u64) {
    if ns > 0 {
        // Without callbacks, nobody would notice the time.
        window::simulate_from_here();
    }
    guest::simulate(thread, |guest| {
        let deadline =
            (ns > 0).then(|| Cycles(guest.now().0.saturating_add(machine::cycles(ns).0)));
        let mut state = state();
        state.deadline = deadline;
        state.interval_ns = interval_ns;
        state.left_ns = ns;
        if !std::mem::replace(&mut state.is_called, true) {
            guest.when_due(time_is_over);
        }
        drop(state);
        if let Some(deadline) = deadline {
            guest.call_at(deadline);
        }
    });
}

/// It is this late.
fn time_is_over(now: Cycles, nobody_runs: bool) -> Answer {
    let mut state = state();
    if state.deadline.is_none_or(|deadline| deadline > now) {
        return Answer::default();
    }
    let wakes = |task: u32| {
        let known = state.threads.get(&task);
        known.is_some_and(|known| known.sleeps != Sleeps::Not && !known.blocks)
    };
    if nobody_runs && !state.handler().is_some_and(wakes) {
        return Answer { waits: true, ..Answer::default() };
    }
    let interval = machine::cycles(state.interval_ns);
    state.deadline = (interval.0 > 0).then(|| Cycles(now.0.saturating_add(interval.0)));
    let next = state.deadline;
    Answer { interrupts: state.signal(), next, waits: false }
}

/// All threads have waited for something that is not simulated, for so long on this host. Returns whether that was the time
/// that was set.
pub(crate) fn all_have_waited(time: Duration) -> bool {
    let mut state = state();
    let is_over = state.deadline.is_some() && u128::from(state.left_ns) <= time.as_nanos();
    if is_over {
        state.left_ns = state.interval_ns;
        if state.interval_ns == 0 {
            state.deadline = None;
        }
        state.signal();
    }
    is_over
}

impl State {
    /// The thread that is to handle the signal.
    fn handler(&self) -> Option<u32> {
        let unblocked = self.threads.iter().find(|(_, known)| !known.blocks);
        unblocked.or(self.threads.iter().next()).map(|(task, _)| *task)
    }

    /// Sends it the signal. Returns its task, if it sleeps so that it has to be woken.
    fn signal(&mut self) -> Option<TaskId> {
        let task = self.handler()?;
        let known = self.threads.get_mut(&task)?;
        let sleeps = if known.blocks { Sleeps::Not } else { known.sleeps };
        if let Sleeps::Nap(time) = sleeps {
            known.napped = Some(time);
        }
        // SAFETY: numbers. QEMU's handler notes the signal, and the thread handles it when it goes on.
        unsafe {
            let process = libc::c_long::from(libc::getpid());
            libc::syscall(libc::SYS_tgkill, process, known.number, SIGNAL);
        }
        (sleeps != Sleeps::Not).then_some(TaskId(task))
    }
}
