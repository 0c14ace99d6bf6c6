//! Why profiles cannot be compared at all.

use thiserror::Error;

/// Why profiles cannot be compared at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// A profile without samples.
    #[error(
        "{name}: there is no sample in it; record for longer, or check that the program ran while \
         it was recorded"
    )]
    NoSamples {
        /// The name of the profile's file.
        name: String,
    },
    /// The profiles count different things.
    #[error(
        "{one} counts {one_counts} and {other} counts {other_counts}; record both with the same \
         event, or, if one has bare samples, say how many were taken in a second \
         (--base-frequency, --scaled-frequency)"
    )]
    Units {
        /// The name of a profile's file.
        one: String,
        /// The unit of its weights.
        one_counts: String,
        /// The name of the file of a profile with another unit.
        other: String,
        /// What the other one counts.
        other_counts: String,
    },
    /// Work is known for some runs only.
    #[error(
        "how much work was done is known of {known} and not of {unknown}; give both (--base-work, \
         --scaled-work) or neither"
    )]
    WorkOfSome {
        /// A run whose work is known.
        known: String,
        /// A run whose work is not known.
        unknown: String,
    },
    /// Runs of one side had different cores.
    #[error(
        "{one} had {one_cores} cores and {other} {other_cores}; runs of one side have the same"
    )]
    Cores {
        /// A run of that side.
        one: String,
        /// How many cores that run had.
        one_cores: u32,
        /// Another run of that side.
        other: String,
        /// How many cores that run had.
        other_cores: u32,
    },
    /// Sums beyond what can be added exactly.
    #[error("{name}: more time or work than can be added up exactly; count work in larger units")]
    TooLarge {
        /// The name of the file of the profile with which it became too much.
        name: String,
    },
    /// One side has no runs.
    #[error("there is no profile for one of the sides; two are compared")]
    NoRuns,
}
