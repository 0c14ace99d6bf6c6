//! Whether locks limit a program, or whether its threads leave cores unused for another reason.

use serde::Serialize;

/// What is known of whether locks limit a program.
///
/// A forecast alone is no verdict. A verdict needs evidence: threads that ran, locks that were
/// acquired, cores that were busy. To say that locks do *not* matter, one must have seen all of
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// According to the forecast, the locks that were seen limit the program.
    LimitedByLocks,
    /// The program's threads wait for locks of the kernel, which no forecast has. Its own locks do not
    /// limit it, as far as they were seen.
    LimitedByKernelLocks,
    /// The locks that were seen do not limit it, and enough was seen to say that no other lock does either.
    NotByLocks,
    /// The program's threads do not use the cores that they have. The reason is not locks: the
    /// threads wait for one another, or for work.
    CoresUnused,
    /// The locks that were seen do not limit the program, but there may be others.
    Unknown,
    /// The profiled run showed too little of the program.
    TooLittleEvidence,
}

impl Verdict {
    /// The verdict in a few words, which stand before a colon.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::LimitedByLocks => "Limited by locks",
            Verdict::LimitedByKernelLocks => "Limited by locks of the kernel",
            Verdict::NotByLocks => "Not limited by locks",
            Verdict::CoresUnused => "More cores would be unused",
            Verdict::Unknown => "Unknown whether locks limit it",
            Verdict::TooLittleEvidence => "Too little evidence",
        }
    }
}
