//! Where what hardware counters count comes from, and why it may not come.

use std::fmt::Debug;
use std::io;

use kilocore_sched_policy::{Counters, Nanos};

/// What was counted for a thread since it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// How long the thread has had a core.
    pub enabled: Nanos,
    /// For how much of that the counters counted. It is less if there are more events than counters,
    /// which then take turns.
    pub running: Nanos,
    /// Cycles in which the thread had a core.
    pub cycles: u64,
    /// Instructions that it executed.
    pub instructions: u64,
    /// References to the last-level cache.
    pub references: u64,
    /// References that had to go on to memory.
    pub misses: u64,
}

impl Reading {
    /// What was counted since another reading, as if the counters had counted all the time. `None` if
    /// the thread ran and they did not count at all. Neighbours are not known yet.
    #[must_use]
    pub fn since(&self, then: &Self) -> Option<Counters> {
        let enabled = self.enabled.0.saturating_sub(then.enabled.0);
        let running = self.running.0.saturating_sub(then.running.0);
        if running == 0 && enabled > 0 {
            return None;
        }
        let scaled = |now: u64, then: u64| {
            let counted = u128::from(now.saturating_sub(then));
            let scaled = counted * u128::from(enabled.max(running)) / u128::from(running.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Some(Counters {
            cycles: scaled(self.cycles, then.cycles),
            instructions: scaled(self.instructions, then.instructions),
            references: scaled(self.references, then.references),
            misses: scaled(self.misses, then.misses),
            ..Counters::default()
        })
    }
}

/// What counts for threads, small enough to be played by a test.
pub trait CounterSource: Debug + Send {
    /// What it is, in words.
    fn describe(&self) -> String;

    /// Begins to count for a thread, from nothing.
    ///
    /// # Errors
    /// `ESRCH` if it is gone, `EMFILE` if there is no room for more threads.
    fn begin(&mut self, tid: u32) -> io::Result<()>;

    /// What was counted for a thread since.
    ///
    /// # Errors
    /// If it is not counted.
    fn read(&mut self, tid: u32) -> io::Result<Reading>;

    /// Counts no more for a thread.
    fn end(&mut self, tid: u32);
}

/// Why nothing is counted.
#[derive(Debug, thiserror::Error)]
pub enum NoCounters {
    /// The processor, or what plays one, does not have the event.
    #[error(
        "this host has no counter for {0} (ENOENT): run where the machine or the virtual machine has \
         one; `perf stat -e {0} true` shows that"
    )]
    Absent(&'static str),
    /// The event is there but cannot count for threads.
    #[error(
        "this host's counter for {0} cannot count for threads (EOPNOTSUPP): run on the machine itself \
         or give the virtual machine a PMU of its own"
    )]
    Unsupported(&'static str),
    /// This user may not.
    #[error(
        "this user may not count {event} (kernel.perf_event_paranoid is {}): run as root or with the \
         capability CAP_PERFMON, or lower the setting to 2, and outside of containers that forbid it",
        .paranoid.map_or("not to be read".to_owned(), |level| level.to_string())
    )]
    Forbidden {
        /// What was to be counted.
        event: &'static str,
        /// The kernel's setting, if it can be read.
        paranoid: Option<i32>,
    },
    /// The kernel has no perf events at all.
    #[error("this kernel cannot count for threads (ENOSYS): run one with CONFIG_PERF_EVENTS")]
    NoKernel,
    /// The user excluded counters by an option.
    #[error("--metrics proc asks for none: take --metrics auto")]
    NotAskedFor,
    /// Another reason of the kernel's.
    #[error("this host does not count {event} ({error}): `dmesg` may say why")]
    Other {
        /// What was to be counted.
        event: &'static str,
        /// What the kernel said.
        error: io::Error,
    },
}

impl NoCounters {
    /// What the kernel's answer to a wish for an event means.
    #[must_use]
    pub fn of(event: &'static str, error: io::Error, paranoid: Option<i32>) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOENT) => Self::Absent(event),
            Some(libc::EOPNOTSUPP) => Self::Unsupported(event),
            Some(libc::EACCES | libc::EPERM) => Self::Forbidden { event, paranoid },
            Some(libc::ENOSYS) => Self::NoKernel,
            _ => Self::Other { event, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_of_the_kernel_has_words_of_its_own() {
        let of = |error| {
            NoCounters::of("cycles", io::Error::from_raw_os_error(error), Some(4)).to_string()
        };
        let words = [
            (libc::ENOENT, "no counter for cycles"),
            (libc::EOPNOTSUPP, "virtual machine a PMU"),
            (libc::EACCES, "perf_event_paranoid is 4"),
            (libc::EPERM, "CAP_PERFMON"),
            (libc::ENOSYS, "CONFIG_PERF_EVENTS"),
            (libc::EINVAL, "does not count cycles (Invalid argument"),
        ];
        for (error, word) in words {
            assert!(of(error).contains(word), "{}", of(error));
            let others = words.iter().filter(|(other, _)| of(*other) != of(error));
            assert!(others.clone().count() >= words.len() - 2);
            assert!(others.map(|(other, _)| of(*other)).all(|other| !other.contains(word)));
        }
    }

    #[test]
    fn counters_that_took_turns_are_scaled_and_idle_ones_are_not_believed() {
        let reading = |enabled, running, cycles| Reading {
            enabled: Nanos(enabled),
            running: Nanos(running),
            cycles,
            instructions: 2 * cycles,
            references: cycles / 10,
            misses: cycles / 100,
        };
        let then = reading(1_000, 1_000, 5_000);
        let quarter = reading(5_000, 2_000, 6_000).since(&then).expect("they counted");
        assert_eq!((quarter.cycles, quarter.instructions), (4_000, 8_000));
        assert_eq!((quarter.references, quarter.misses), (400, 40));
        assert_eq!(reading(5_000, 1_000, 5_000).since(&then), None, "never their turn");
        assert_eq!(then.since(&then), Some(Counters::default()), "it did not run");
        assert_eq!(Reading::default().since(&then), Some(Counters::default()), "no underflow");
    }
}
