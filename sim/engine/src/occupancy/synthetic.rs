//! Programs whose contentiousness and sensitivity have nothing to do with each other, and of which
//! references per instruction say neither. No program of the NAS suite is like that; others found
//! SPEC CPU2006 to be (Tang, Mars and Soffa, Contentiousness vs. sensitivity, 2011).

use crate::occupancy::nas::part;
use crate::occupancy::program::Program;

/// A streamer: contentious, as it evicts everybody's lines, and hardly sensitive, as it finds none of
/// its own again and has ten lines under way.
#[must_use]
pub fn streamer() -> Program {
    Program {
        name: "streamer",
        parts: vec![part(500.0, 2.0, 20.0, &[(0.0, 1.0)], 10.0, 0.0)],
        iterations: 10,
    }
}

/// Chains of pointers through 1.8 MB: sensitive, and not contentious, as it brings nothing in once its
/// lines are there. Two of them fit into a cache of 4 MB.
#[must_use]
pub fn chains() -> Program {
    Program {
        name: "chains",
        parts: vec![part(300.0, 0.7, 8.0, &[(0.0, 1.0), (1.8, 0.0)], 1.0, 0.1)],
        iterations: 10,
    }
}

/// Most references of all, to 0.2 MB: neither contentious nor sensitive.
#[must_use]
pub fn tables() -> Program {
    Program {
        name: "tables",
        parts: vec![part(400.0, 1.2, 60.0, &[(0.0, 1.0), (0.2, 0.0)], 3.0, 0.1)],
        iterations: 10,
    }
}

/// Arithmetic: a program that needs neither cache nor bandwidth.
#[must_use]
pub fn arithmetic() -> Program {
    Program {
        name: "arithmetic",
        parts: vec![part(600.0, 0.8, 0.5, &[(0.0, 1.0), (0.1, 0.02)], 2.0, 0.1)],
        iterations: 10,
    }
}
