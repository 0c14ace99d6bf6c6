//! What is published.
//!
//! The paper's figures are lost, and its text and tables remain. So there are no levels of NAMC.

use crate::numa_programs::Program;
use serde::Serialize;

/// References, by who uses the page and what is done there, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mix {
    /// Reads of pages that one processor uses.
    pub private_reads: f64,
    /// Writes to pages that one processor uses.
    pub private_writes: f64,
    /// Reads of pages that several use.
    pub shared_reads: f64,
    /// Writes to pages that several use.
    pub shared_writes: f64,
}

/// What the paper says of a program.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claims {
    /// The name of the program.
    pub program: &'static str,
    /// References, in millions (table 2).
    pub references_in_millions: f64,
    /// Its working set in megabytes (table 2).
    pub working_set_mb: f64,
    /// References with 32 processors (table 3).
    pub mix: Mix,
    /// The initial delays with which a fixed counter is best, or nearly so.
    pub best_fixed: Option<(u32, u32)>,
    /// The initial delays with which an adjustable one is.
    pub best_adjustable: Option<(u32, u32)>,
    /// What else the text says.
    pub says: &'static str,
}

/// Returns what the paper says of a program.
#[must_use]
pub fn claims(program: Program) -> Claims {
    let mix = |[private_reads, private_writes, shared_reads, shared_writes]: [f64; 4]| Mix {
        private_reads,
        private_writes,
        shared_reads,
        shared_writes,
    };
    let claims = |references_in_millions, working_set_mb, percent| Claims {
        program: program.name(),
        references_in_millions,
        working_set_mb,
        mix: mix(percent),
        best_fixed: None,
        best_adjustable: None,
        says: "the adjustable delay is as good or better at 1,000, and evener",
    };
    match program {
        Program::Mp3d => Claims {
            best_fixed: Some((3000, 5000)),
            best_adjustable: Some((100, 5000)),
            ..claims(8.935, 2.02, [37.6, 20.0, 24.5, 17.9])
        },
        Program::Barnes => Claims {
            says: "hardly any difference: little is shared and hardly anything of that written; immediate copies would do",
            ..claims(58.716, 1.20, [49.7, 36.2, 13.5, 0.6])
        },
        Program::Cholesky => Claims {
            best_fixed: Some((2000, 5000)),
            best_adjustable: Some((1, 5000)),
            ..claims(39.341, 2.88, [25.0, 8.6, 57.2, 9.2])
        },
        Program::Radix => claims(33.107, 3.76, [49.9, 25.6, 15.1, 9.4]),
    }
}
