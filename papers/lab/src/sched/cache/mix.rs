//! Which programs run together.
//!
//! Eight mixes of the nine programs like those of the NAS suite, sixteen tasks each, two for each core
//! of the machine: from all heavy to nearly all light. They were chosen by what the suite's programs are
//! known for, before any policy was run on them. A ninth is of programs that were made so that
//! contentiousness and sensitivity have nothing to do with each other.

use kilocore_sim::occupancy::{Program, nas, synthetic};
use thiserror::Error;

/// Programs that run together.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The name of the mix on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// A program for each task.
    pub programs: Vec<Program>,
}

/// A name that no mix has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no mix '{name}'; choose {known}")]
pub struct UnknownMix {
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

/// So many of each of these programs of the suite.
type Counts = &'static [(&'static str, usize)];

const OF_THE_SUITE: [(&str, &str, Counts); 8] = [
    ("heavy", "only what presses hard", &[("CG", 4), ("IS", 4), ("MG", 4), ("SP", 4)]),
    ("heavy-light", "what presses hardest, and arithmetic", &[("CG", 4), ("MG", 4), ("EP", 8)]),
    (
        "streams-sets",
        "streams, and working sets as large as a cache",
        &[("CG", 4), ("MG", 4), ("LU", 4), ("UA", 4)],
    ),
    (
        "all",
        "all nine, those that press or suffer most twice",
        &[
            ("BT", 1),
            ("CG", 2),
            ("EP", 1),
            ("FT", 2),
            ("IS", 2),
            ("LU", 2),
            ("MG", 2),
            ("SP", 2),
            ("UA", 2),
        ],
    ),
    (
        "half",
        "half of it presses hard, half hardly",
        &[("SP", 4), ("IS", 2), ("CG", 2), ("BT", 4), ("EP", 4)],
    ),
    ("medium", "nothing at either end", &[("BT", 4), ("FT", 4), ("LU", 4), ("UA", 4)]),
    ("medium-light", "working sets, and arithmetic", &[("LU", 4), ("UA", 4), ("EP", 8)]),
    ("light", "hardly anything to gain", &[("BT", 6), ("UA", 2), ("EP", 8)]),
];

/// All mixes: the eight of the suite, and `uncorrelated`.
#[must_use]
pub fn mixes() -> Vec<Mix> {
    let suite = nas();
    let of_the_suite = OF_THE_SUITE.iter().map(|&(name, about, counts)| {
        let tasks = counts.iter().flat_map(|&(program, many)| {
            let found = suite.iter().find(|known| known.name == program);
            std::iter::repeat_n(found.expect("a program of the suite").clone(), many)
        });
        Mix { name, about, programs: tasks.collect() }
    });
    let made =
        [synthetic::streamer(), synthetic::chains(), synthetic::tables(), synthetic::arithmetic()];
    let uncorrelated = Mix {
        name: "uncorrelated",
        about: "what presses does not suffer, what suffers does not press, and references tell neither",
        programs: made.into_iter().flat_map(|program| std::iter::repeat_n(program, 4)).collect(),
    };
    of_the_suite.chain([uncorrelated]).collect()
}

impl Mix {
    /// The mix of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, UnknownMix> {
        let all = mixes();
        let known: Vec<&str> = all.iter().map(|mix| mix.name).collect();
        let known = known.join(", ");
        let found = all.into_iter().find(|mix| mix.name == name);
        found.ok_or_else(|| UnknownMix { name: name.to_owned(), known })
    }
}
