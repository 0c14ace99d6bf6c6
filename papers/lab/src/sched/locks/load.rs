//! What the processes of a load do, over and over.

use kilocore_platform::Nanos;
use kilocore_show::Parameter;

/// A section under a lock that all processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// What the lock is called in the kernel.
    pub lock: &'static str,
    /// Computing under it, with all data at hand, on average.
    pub hold: Nanos,
    /// Cache lines that are read and written under it, and move from holder to holder. Each section of
    /// one lock goes to the same lines.
    pub lines: u32,
    /// How often an operation goes through it.
    pub times: u32,
}

/// A parametric load: one process on each core in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Its name on the command line.
    pub name: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// What a process computes for itself in an operation, on average.
    pub user: Nanos,
    /// What the kernel computes for it outside of the sections, on average.
    pub kernel: Nanos,
    /// The sections of an operation.
    pub sections: &'static [Section],
    /// How long the process sleeps in an operation, as for a device.
    pub sleep: Nanos,
    /// Whether the thesis shows it to collapse under the spin lock.
    pub collapses: bool,
    /// Where the figures come from.
    pub source: &'static str,
}

impl Load {
    /// The locks, each once, in the order of their first sections.
    #[must_use]
    pub fn locks(&self) -> Vec<&'static str> {
        let mut locks = Vec::new();
        for section in self.sections {
            if !locks.contains(&section.lock) {
                locks.push(section.lock);
            }
        }
        locks
    }

    /// How long an operation takes on one core at the least: without anything but computing.
    #[must_use]
    pub fn computing(&self) -> Nanos {
        let held: u64 =
            self.sections.iter().map(|section| section.hold.0 * u64::from(section.times)).sum();
        Nanos(self.user.0 + self.kernel.0 + held)
    }

    /// How many sections an operation has.
    #[must_use]
    pub fn sections_of_operation(&self) -> u32 {
        self.sections.iter().map(|section| section.times).sum()
    }

    /// Its parameters with their sources.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name, value| Parameter::new(name, value, self.source);
        let section = |section: &Section| {
            let Section { lock, hold, lines, times } = section;
            format!("{times} × {lock}: {} ns and {lines} lines", hold.0)
        };
        let sections: Vec<String> = self.sections.iter().map(section).collect();
        vec![
            parameter("operation", self.operation.to_owned()),
            parameter("computing of the process", format!("{} ns", self.user.0)),
            parameter("work of the kernel without locks", format!("{} ns", self.kernel.0)),
            parameter("sections under locks", sections.join(", ")),
            parameter("sleep", format!("{} ns", self.sleep.0)),
        ]
    }
}
