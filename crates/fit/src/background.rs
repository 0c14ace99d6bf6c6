//! What a program does beside contending for locks, and no lock can mend.

/// A phase whose time does not depend on the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Background {
    /// One thread works and all others wait.
    Serial,
}

impl Background {
    /// All of them.
    pub(crate) const ALL: &'static [Background] = &[Background::Serial];

    /// What it is, for a reader.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Background::Serial => "serial",
        }
    }
}
