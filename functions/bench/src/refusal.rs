//! Why a benchmark cannot be run here.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::kind::Kind;

/// Why a benchmark cannot be run here. The others still can.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// The system forbids it.
    #[error("no permission for {call}: {error}; run as a user, or in a container, that may")]
    Permission {
        /// The system call, or what it was for.
        call: String,
        /// What the system said.
        error: String,
    },
    /// The folder for scratch files cannot be used.
    #[error(
        "cannot make scratch files in {}: {error}; choose a folder that exists and may be \
         written to with --scratch",
        folder.display()
    )]
    Scratch {
        /// The folder in which files were to be made.
        folder: PathBuf,
        /// What the system said.
        error: String,
    },
    /// There is too little room for the benchmark's files.
    #[error(
        "needs {needed_mib} MiB in {}, where {free_mib} MiB are free; make room or choose another \
         folder with --scratch",
        folder.display()
    )]
    Room {
        /// The folder in which files were to be made.
        folder: PathBuf,
        /// How many MiB the benchmark needs there.
        needed_mib: u64,
        /// How many MiB are free there.
        free_mib: u64,
    },
    /// A limit of the process, the user or the system was reached.
    #[error("{call} meets a limit: {error}; raise it (ulimit, the container's or sysctl's)")]
    Limit {
        /// The system call, or what it was for.
        call: String,
        /// What the system said.
        error: String,
    },
    /// The kernel lacks what the benchmark uses.
    #[error("this system has no {facility}: {error}")]
    Facility {
        /// What this system lacks.
        facility: String,
        /// What the system said.
        error: String,
    },
    /// The benchmark makes no sense with tasks of this kind.
    #[error("cannot run as {kind}: {why}; leave --as away")]
    Kind {
        /// The kind that was asked for.
        kind: Kind,
        /// The reason, as a sentence.
        why: String,
    },
    /// A system call failed for another reason.
    #[error("{call} failed: {error}")]
    System {
        /// The name of the system call that failed.
        call: String,
        /// What the system said.
        error: String,
    },
    /// A task ended by itself.
    #[error("a task ended by itself, with {how}; was it killed for memory?")]
    Died {
        /// How it ended, in words.
        how: String,
    },
    /// The tasks made no progress for a long time.
    #[error("tasks made no progress for {seconds} s, waiting until {waiting_for}")]
    Stuck {
        /// For how long there was no progress, in seconds.
        seconds: u64,
        /// What was waited for.
        waiting_for: String,
    },
}

impl Refusal {
    /// Returns the refusal for an error of the system call `call`.
    #[cold]
    #[must_use]
    pub fn of(call: &str, error: &io::Error) -> Self {
        let (call, said) = (call.to_owned(), error.to_string());
        match error.raw_os_error().unwrap_or(0) {
            libc::EPERM | libc::EACCES => Self::Permission { call, error: said },
            libc::EMFILE
            | libc::ENFILE
            | libc::EAGAIN
            | libc::ENOMEM
            | libc::ENOSPC
            | libc::EDQUOT
            | libc::EFBIG => Self::Limit { call, error: said },
            libc::ENOSYS | libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT | libc::EOPNOTSUPP => {
                Self::Facility { facility: call, error: said }
            }
            _ => Self::System { call, error: said },
        }
    }

    /// Returns the refusal of a worker that was not given what its benchmark needs.
    #[cold]
    pub(crate) fn lacking(facility: &str) -> Self {
        Self::Facility {
            facility: facility.to_owned(),
            error: "nobody prepared it for this task".to_owned(),
        }
    }

    /// Returns the refusal for the last system call of this thread, whose error is in `errno`.
    #[cold]
    #[must_use]
    pub fn last(call: &str) -> Self {
        Self::of(call, &io::Error::last_os_error())
    }
}
