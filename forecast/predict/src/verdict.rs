//! Whether locks limit a program, or its threads leave cores unused for another reason.

use serde::Serialize;

/// What is known of whether locks limit a program.
///
/// A forecast alone is no verdict. It needs evidence: threads that ran, locks that were acquired,
/// cores that were busy. And whoever says that locks do *not* matter must have seen them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The locks that were seen are forecast to limit it.
    LimitedByLocks,
    /// They are not, and enough was seen to say that no others do.
    NotByLocks,
    /// Its threads do not use the cores that they have, and not because of locks: they wait for one
    /// another, or for work.
    CoresUnused,
    /// The locks that were seen do not limit it, but there may be others.
    Unknown,
    /// The profiled run showed too little of the program.
    TooLittleEvidence,
}

impl Verdict {
    /// In a few words, to stand before a colon.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::LimitedByLocks => "Limited by locks",
            Verdict::NotByLocks => "Not limited by locks",
            Verdict::CoresUnused => "More cores would be unused",
            Verdict::Unknown => "Unknown whether locks limit it",
            Verdict::TooLittleEvidence => "Too little evidence",
        }
    }
}
