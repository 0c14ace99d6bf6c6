//! The workloads, and where their parameters come from.
//!
//! No parameter depends on the scheme. If the paper and its sources do not give a parameter, it is
//! calibrated or it is a guess; [`Setting::parameters`] says which. Parameters are calibrated only
//! on the [levels](crate::ldu::levels) of the *stock* kernel on 15, 30, 60 and 120 cores:
//!
//! * AIM7: the forks of a job. Values from 2.5 to 3.25 in steps of 0.25 were tried. For the value
//!   that is used here, the squares of the logarithms of simulated over published throughput are
//!   least, with a mean error of 4 %.
//! * Exim: the time of other work, for which three values were tried, and the time under a
//!   directory's lock, for which four values were tried. The mean error is 17 %.
//!
//! For lmbench no level is known.

use std::fmt;
use std::str::FromStr;

use kilocore_machine::names::{UnknownName, find};
use kilocore_show::Parameter;
use serde::Serialize;

/// One of the paper's three workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// AIM7's multiuser mix: jobs of simulated users.
    Aim7,
    /// The Exim mail server of MOSBENCH: messages.
    Exim,
    /// lmbench's measurement of `fork`, a hundred of them at a time: child processes.
    LmbenchFork,
}

impl Workload {
    /// All workloads, in the order of the variants.
    pub const ALL: [Workload; 3] = [Workload::Aim7, Workload::Exim, Workload::LmbenchFork];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aim7 => "aim7",
            Self::Exim => "exim",
            Self::LmbenchFork => "lmbench-fork",
        }
    }

    /// The unit of its throughput.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Aim7 => "jobs",
            Self::Exim => "messages",
            Self::LmbenchFork => "forks",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Workload {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("workload", name, Self::ALL.map(|workload| (workload.name(), workload)))
    }
}

/// Everything about a workload that is not the scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which workload the figures are of.
    pub workload: Workload,
    /// Files that the program maps: the program itself, its libraries, the linker.
    pub files: u32,
    /// The number of areas that map each of these files.
    pub areas_per_file: u32,
    /// The number of those areas that have anonymous pages.
    pub written_per_file: u32,
    /// Anonymous areas: heap, stack and others.
    pub anonymous: u32,
    /// Processes that are created, and end, for each unit of throughput.
    pub forks: f64,
    /// The share of these processes that start another program.
    pub execs: f64,
    /// Areas that are mapped and unmapped again for each unit.
    pub mmaps: f64,
    /// Computing in user mode for each unit, in microseconds.
    pub user_us: f64,
    /// The time in the kernel for creating a process and for its end, besides the reverse mapping,
    /// in microseconds.
    pub fork_us: f64,
    /// The time for which the lock of the process table is held, in microseconds. It is held at a
    /// process's creation, at its end, and when the parent collects it.
    pub table_us: f64,
    /// The additional time for starting a program, in microseconds.
    pub exec_us: f64,
    /// All other time of a unit in the kernel, in microseconds.
    pub system_us: f64,
    /// The number of directories whose locks units take at any one time. It may be zero.
    pub directories: u32,
    /// How many times a unit takes the lock of a directory.
    pub directory_sections: f64,
    /// The time for which it holds the lock each time, in microseconds.
    pub directory_us: f64,
    /// The period at which logs that nobody reads are applied, in microseconds.
    pub flush_us: f64,
    /// The largest number of units that are under way at a time. `None` means no bound.
    pub at_once: Option<u32>,
}

impl Setting {
    /// Returns the setting of a workload.
    #[must_use]
    pub fn of(workload: Workload) -> Self {
        let common = Self {
            workload,
            files: 3,
            areas_per_file: 5,
            written_per_file: 2,
            anonymous: 3,
            forks: 1.0,
            execs: 0.0,
            mmaps: 0.0,
            user_us: 0.0,
            fork_us: 142.0,
            table_us: 1.0,
            exec_us: 510.0,
            system_us: 0.0,
            directories: 0,
            directory_sections: 0.0,
            directory_us: 0.0,
            flush_us: 10_000.0,
            at_once: None,
        };
        match workload {
            Workload::Aim7 => Self {
                files: 4,
                forks: 2.75,
                execs: 0.2,
                mmaps: 2.0,
                user_us: 3_240.0,
                system_us: 1_350.0,
                ..common
            },
            Workload::Exim => Self {
                files: 10,
                forks: 2.1,
                user_us: 285.0,
                system_us: 2_500.0,
                directories: 1,
                directory_sections: 12.0,
                directory_us: 6.0,
                ..common
            },
            Workload::LmbenchFork => Self { user_us: 8.0, at_once: Some(100), ..common },
        }
    }

    /// Returns the parameters with their sources.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut all = Vec::new();
        let mut add = |name, value: String, source| all.push(Parameter::new(name, value, source));
        add("files mapped", self.files.to_string(), self.files_source());
        add(
            "areas for each file",
            format!(
                "{}, {} of them with anonymous pages",
                self.areas_per_file, self.written_per_file
            ),
            "measured: /proc/PID/smaps of dash and exim4 on Debian 12, linker and libraries alike",
        );
        add(
            "anonymous areas",
            self.anonymous.to_string(),
            "the same: heap, stack and the C library's own",
        );
        add("forks for each unit", self.forks.to_string(), self.forks_source());
        if self.execs > 0.0 {
            add("share that start a program", self.execs.to_string(), "a guess");
            add(
                "kernel time to start a program",
                format!("{} µs", self.exec_us),
                "measured: fork and exec of /bin/true less fork alone, best of 3 times 300, one core of a virtual machine",
            );
        }
        if self.mmaps > 0.0 {
            add("areas mapped and unmapped", self.mmaps.to_string(), "a guess");
        }
        add("user time for each unit", format!("{} µs", self.user_us), self.time_source());
        add(
            "kernel time for each fork and exit",
            format!("{} µs", self.fork_us),
            "measured: fork, _exit and wait of a small process, best of 5 times 1,000, one core of a virtual machine: 148 µs, less two wake-ups and switches, which are simulated",
        );
        add(
            "time under the lock of the process table",
            format!("{} µs, at a fork, an exit and a wait", self.table_us),
            "a guess: some five lines that come from other sockets; Linux 3.19 has a ticket lock there",
        );
        if self.system_us > 0.0 {
            let name = "other kernel time for each unit";
            add(name, format!("{} µs", self.system_us), self.time_source());
        }
        if self.directories > 0 {
            add(
                "directories in use at a time",
                format!(
                    "{}, taken {} times a unit for {} µs",
                    self.directories, self.directory_sections, self.directory_us
                ),
                "Exim names a message's directory by the sixth character of its number, the last digit of the second: all messages of a second share one. About a dozen files are created, renamed or removed for each; the time is calibrated on the stock kernel's levels",
            );
        }
        add(
            "logs that nobody reads are applied every",
            format!("{} µs", self.flush_us),
            "the paper flushes them periodically; the period is a guess",
        );
        if let Some(at_once) = self.at_once {
            add("processes at a time", at_once.to_string(), "the paper, section 2.6.4");
        }
        all
    }

    fn files_source(&self) -> &'static str {
        match self.workload {
            Workload::Aim7 => "the program, libm, libc and the linker, as AIM7's makefile links it",
            Workload::Exim => {
                "MOSBENCH's Exim with Berkeley DB, PCRE and the C library's parts; Debian 12's has 33"
            }
            Workload::LmbenchFork => "the program, libc and the linker",
        }
    }

    fn forks_source(&self) -> &'static str {
        match self.workload {
            Workload::Aim7 => {
                "calibrated: the stock kernel's levels on 15, 30, 60 and 120 cores, no other scheme's"
            }
            Workload::Exim => {
                "Exim forks for each connection, of ten messages, and twice to deliver each (Boyd-Wickizer and others, as remembered)"
            }
            Workload::LmbenchFork => "what it measures",
        }
    }

    fn time_source(&self) -> &'static str {
        match self.workload {
            Workload::Aim7 => {
                "published: 616,000 jobs a minute where the stock kernel stops scaling, taken as 60 cores, make 5.84 ms a job; divided between user and system as table 2.1 has them for the stock kernel, less the forks and programs"
            }
            Workload::Exim => {
                "calibrated: the stock kernel's levels on 15 and 30 cores, which are 3.75 ms a message; divided between user and system as in table 2.1"
            }
            Workload::LmbenchFork => "published: user to system time as in table 2.1",
        }
    }
}
