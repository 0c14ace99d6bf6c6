//! Whether locks limit a program.

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
            Verdict::Unknown => "Unknown whether locks limit it",
            Verdict::TooLittleEvidence => "Too little evidence",
        }
    }
}
