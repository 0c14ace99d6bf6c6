//! Programs as loops over phases.

use crate::occupancy::hardware::Hardware;
use crate::occupancy::phase::Phase;
use crate::occupancy::settled::settled;

/// A phase of a program, and how long it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it asks of the processor.
    pub phase: Phase,
    /// Instructions in each iteration.
    pub instructions: f64,
}

/// A serial program: a number of iterations, each all of its parts in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The name of the program.
    pub name: &'static str,
    /// Its parts: at least one.
    pub parts: Vec<Part>,
    /// Iterations of a run.
    pub iterations: u32,
}

impl Program {
    /// Instructions of a run.
    #[must_use]
    pub fn instructions(&self) -> f64 {
        let iteration: f64 = self.parts.iter().map(|part| part.instructions).sum();
        iteration * f64::from(self.iterations)
    }

    /// Instructions per cycle alone on a machine, each part with its caches settled.
    #[must_use]
    pub fn alone(&self, hardware: &Hardware) -> f64 {
        let cycles = |part: &Part| part.instructions / settled(hardware, &[(0, &part.phase)])[0];
        let iteration: f64 = self.parts.iter().map(cycles).sum();
        self.instructions() / (iteration * f64::from(self.iterations))
    }

    /// The mean over its parts: cycles without misses, references and misses at each size are what
    /// they are over a whole iteration.
    ///
    /// What stands for a mean of overlaps is that of the part with most references.
    ///
    /// # Panics
    /// If the program has no part.
    #[must_use]
    pub fn mean(&self) -> Phase {
        let all: f64 = self.parts.iter().map(|part| part.instructions).sum();
        let sum = |of: &dyn Fn(&Phase) -> f64| -> f64 {
            self.parts.iter().map(|part| of(&part.phase) * part.instructions / all).sum()
        };
        let references = sum(&|phase| phase.references);
        let weighed = |of: &dyn Fn(&Phase) -> f64| {
            sum(&|phase| of(phase) * phase.references) / references.max(f64::MIN_POSITIVE)
        };
        let heaviest = |one: &&Part, other: &&Part| {
            let references = |part: &Part| part.phase.references * part.instructions;
            references(one).total_cmp(&references(other))
        };
        let main = &self.parts.iter().max_by(heaviest).expect("a program has a part").phase;
        let curves: Vec<(f64, &crate::occupancy::MissCurve)> = self
            .parts
            .iter()
            .map(|part| {
                let share = part.phase.references * part.instructions / all / references;
                (share, &part.phase.curve)
            })
            .collect();
        Phase {
            cpi: sum(&|phase| phase.cpi),
            references,
            curve: if references > 0.0 {
                crate::occupancy::MissCurve::mean(&curves)
            } else {
                main.curve.clone()
            },
            overlap: main.overlap,
            written_back: weighed(&|phase| phase.written_back),
            private: main.private,
        }
    }
}
