//! The memory through which the runner and the tasks talk.
//!
//! The memory is an anonymous file of a few pages, which the runner and all workers map. The runner
//! writes a *phase*, and the tasks look at it after each batch. A task counts itself at each
//! *stage* that it reaches, and writes what it measured into a slot of its own. Nobody writes to a
//! line that others read often.
//!
//! ```text
//! runner   Gather ─ all arrived → Warm ─ all warm, time is up → Measure ─ all begun, time is up
//!                                     → Over ─ all ended → Quit
//! tasks    arrive, wait             run, find batch          note begin, count
//!                                     → note end, run on        → stop
//! ```

use std::fs::File;
use std::mem::size_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::Refusal;
use crate::sys::{self, Mapping};

/// What the runner orders the tasks to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Phase {
    /// Come together and wait.
    Gather = 0,
    /// Run, and find out how large a batch should be.
    Warm = 1,
    /// Run, and count the operations.
    Measure = 2,
    /// Write down what was counted, and keep running until all tasks have written.
    Over = 3,
    /// Come to an end.
    Quit = 4,
}

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is ready to run.
    Arrived = 0,
    /// It has run a batch.
    Warm = 1,
    /// It has begun to count.
    Begun = 2,
    /// It has written down what it counted.
    Ended = 3,
}

impl Stage {
    /// Returns what a waiter for this stage waits for, in words.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Stage::Arrived => "all tasks were there",
            Stage::Warm => "all tasks had run once",
            Stage::Begun => "all tasks counted",
            Stage::Ended => "all tasks had counted",
        }
    }
}

const STAGES: usize = 4;

/// A value with cache lines of its own. The alignment is that of a pair of lines, because some
/// processors fetch lines in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
struct Line<T>(T);

#[derive(Debug)]
#[repr(C)]
struct Header {
    phase: Line<AtomicU32>,
    /// How many tasks have reached each stage, how many have given up, and how many events of both
    /// kinds there were.
    counts: Line<([AtomicU32; STAGES], AtomicU32, AtomicU32)>,
}

/// What a task writes down.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Slot {
    pub(crate) begin_ns: AtomicU64,
    pub(crate) end_ns: AtomicU64,
    pub(crate) operations: AtomicU64,
    /// How many operations a batch has.
    pub(crate) batch: AtomicU64,
    pub(crate) slowest_batch_ns: AtomicU64,
    pub(crate) fastest_batch_ns: AtomicU64,
    /// How often the task lost its core while it counted.
    pub(crate) preemptions: AtomicU64,
    /// For how long the task had its core while it counted.
    pub(crate) on_core_ns: AtomicU64,
}

/// The memory that the runner shares with its tasks, mapped: the phase, how far tasks have come,
/// and a [`Slot`] for each.
#[derive(Debug)]
pub(crate) struct Control {
    mapping: Mapping,
    tasks: u32,
}

// SAFETY: the memory contains nothing but atomics.
unsafe impl Sync for Control {}

impl Control {
    /// Returns how large the file for `tasks` tasks has to be, in bytes.
    pub(crate) fn bytes(tasks: u32) -> u64 {
        (size_of::<Header>() + tasks as usize * size_of::<Slot>()) as u64
    }

    /// Maps a file of [`Control::bytes`] bytes for `tasks` tasks. A new file is all zeros, which is
    /// the state in which nothing has happened.
    ///
    /// # Errors
    /// If the file is smaller, or cannot be mapped.
    pub(crate) fn map(file: &File, tasks: u32) -> Result<Self, Refusal> {
        let size = file.metadata().map_err(|error| Refusal::of("fstat", &error))?.len();
        if size < Self::bytes(tasks) {
            return Err(Refusal::lacking("memory to talk through"));
        }
        let mapping = Mapping::shared(file, Self::bytes(tasks) as usize)?;
        Ok(Self { mapping, tasks })
    }

    fn header(&self) -> &Header {
        // SAFETY: a page is aligned for the header, `map` checked the size, and any bytes are valid
        // atomics.
        unsafe { &*self.mapping.start().cast() }
    }

    /// Returns the slot of a task.
    ///
    /// # Panics
    /// If there is no such task.
    pub(crate) fn slot(&self, task: u32) -> &Slot {
        assert!(task < self.tasks);
        // SAFETY: the slots lie behind the header, whose size is a multiple of their alignment. The
        // index is below their number, and `map` checked the size. Any bytes are valid atomics.
        unsafe { &*self.mapping.start().add(size_of::<Header>()).cast::<Slot>().add(task as usize) }
    }

    pub(crate) fn tasks(&self) -> u32 {
        self.tasks
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        match self.header().phase.0.load(Ordering::Acquire) {
            0 => Phase::Gather,
            1 => Phase::Warm,
            2 => Phase::Measure,
            3 => Phase::Over,
            _ => Phase::Quit,
        }
    }

    /// Orders a phase. Only the runner does this.
    pub(crate) fn set_phase(&self, phase: Phase) {
        let word = &self.header().phase.0;
        word.store(phase as u32, Ordering::Release);
        wake(word);
    }

    /// Sleeps until the runner ends the phase [`Phase::Gather`].
    pub(crate) fn wait_for_start(&self) {
        while self.phase() == Phase::Gather {
            wait(&self.header().phase.0, Phase::Gather as u32, None);
        }
    }

    /// Counts a task that has reached a stage. Release: whoever sees the count sees what the task
    /// wrote before.
    pub(crate) fn reach(&self, stage: Stage) {
        self.header().counts.0.0[stage as usize].fetch_add(1, Ordering::Release);
        self.notify();
    }

    /// Counts a task that has given up.
    pub(crate) fn give_up(&self) {
        self.header().counts.0.1.fetch_add(1, Ordering::Release);
        self.notify();
    }

    pub(crate) fn has_given_up(&self) -> bool {
        self.header().counts.0.1.load(Ordering::Acquire) > 0
    }

    pub(crate) fn all_reached(&self, stage: Stage) -> bool {
        self.header().counts.0.0[stage as usize].load(Ordering::Acquire) >= self.tasks
    }

    fn notify(&self) {
        let events = &self.header().counts.0.2;
        events.fetch_add(1, Ordering::Release);
        wake(events);
    }

    /// Returns a number that changes with each event. A waiter takes it before it looks whether it
    /// has to wait, so that [`wait_for_event`](Self::wait_for_event) misses nothing.
    pub(crate) fn events(&self) -> u32 {
        self.header().counts.0.2.load(Ordering::Acquire)
    }

    /// Sleeps until an event has happened since [`events`](Self::events) returned `seen`, or until
    /// `at_most` has passed. Returns false if the time has passed.
    pub(crate) fn wait_for_event(&self, seen: u32, at_most: Duration) -> bool {
        wait(&self.header().counts.0.2, seen, Some(at_most))
    }
}

/// Sleeps while the word has the value `value`, but may return early. Returns false if the time has
/// passed.
fn wait(word: &AtomicU32, value: u32, at_most: Option<Duration>) -> bool {
    let time = at_most.map(|time| libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the word and the time are valid while the call lasts. The futex is not a private one,
    // because the waiters are processes.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, time) };
    let timed_out = || std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT);
    result == 0 || !timed_out()
}

fn wake(word: &AtomicU32) {
    // SAFETY: the word is valid, and waking writes no memory.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Makes the memory for `tasks` tasks. Returns it with the file through which others map it.
pub(crate) fn new(tasks: u32) -> Result<(Control, File), Refusal> {
    let file = sys::memory_file(Control::bytes(tasks))?;
    Ok((Control::map(&file, tasks)?, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_of_a_file_are_one_memory() {
        let (ours, file) = new(2).unwrap();
        let theirs = Control::map(&file, 2).unwrap();
        assert_eq!(theirs.phase(), Phase::Gather);
        ours.set_phase(Phase::Measure);
        assert_eq!(theirs.phase(), Phase::Measure);
        theirs.slot(1).operations.store(7, Ordering::Relaxed);
        theirs.reach(Stage::Arrived);
        assert!(!ours.all_reached(Stage::Arrived));
        theirs.reach(Stage::Arrived);
        assert!(ours.all_reached(Stage::Arrived) && !ours.all_reached(Stage::Warm));
        assert_eq!(ours.slot(1).operations.load(Ordering::Relaxed), 7);
        assert_eq!(ours.slot(0).operations.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_without_room_for_all_slots_is_refused() {
        let file = sys::memory_file(Control::bytes(2) - 1).unwrap();
        assert!(Control::map(&file, 2).is_err());
    }

    #[test]
    fn slots_lie_on_lines_of_their_own() {
        assert_eq!(size_of::<Slot>() % 128, 0);
        assert_eq!(size_of::<Header>() % 128, 0);
    }

    #[test]
    fn an_event_ends_the_wait_for_it() {
        let (control, _file) = new(1).unwrap();
        let waiter = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let seen = control.events();
                // SAFETY: touches no memory.
                waiter.store(unsafe { libc::gettid() } as u32, Ordering::Release);
                control.wait_for_event(seen, Duration::from_secs(60))
            });
            while !sleeps(waiter.load(Ordering::Acquire)) {
                std::thread::yield_now();
            }
            control.reach(Stage::Arrived);
            assert!(thread.join().unwrap(), "the time passed, and nobody woke the waiter");
        });
        assert!(control.all_reached(Stage::Arrived));
        assert!(!control.wait_for_event(control.events(), Duration::from_millis(1)));
    }

    /// Returns whether a thread of this process sleeps.
    fn sleeps(thread: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
        stat.is_ok_and(|stat| {
            stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('S'))
        })
    }
}
