//! Where figures come from.

use serde::Serialize;

/// What kind of figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// Taken on a real machine.
    Measured,
    /// The outcome of a simulation.
    Simulated,
    /// The outcome of a program that was executed on a simulated machine.
    Emulated,
    /// Taken from a publication.
    Published,
    /// Reasoned out, as nobody published it.
    Estimated,
}

impl Provenance {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Measured, Self::Simulated, Self::Emulated, Self::Published, Self::Estimated];

    /// Returns the word that stands beside figures of this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Measured => "measured",
            Provenance::Simulated => "simulated",
            Provenance::Emulated => "emulated",
            Provenance::Published => "published",
            Provenance::Estimated => "estimated",
        }
    }

    /// Returns the kind of figure that has this word beside it.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }
}
