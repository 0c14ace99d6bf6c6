//! A hit ratio as a point.

use kilocore_points::{Elsewhere, Job, Key};

use crate::hit_ratios::contender::Contender;
use crate::hit_ratios::trace::{Kind, Trace};

/// What all traces have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traces {
    /// How many uses of pages each has.
    pub uses: u32,
    /// What chance begins with.
    pub seed: u64,
}

/// The hit ratio of a contender under a trace, in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// What the trace is like.
    pub kind: Kind,
    /// How many pages stay in memory.
    pub capacity: u32,
    /// Who decides which.
    pub contender: Contender,
}

impl Job for Ratio {
    type Shared = Traces;
    type Point = f64;
    type Error = Elsewhere;

    const COMPUTATION: &'static str = "hit-ratio";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        // More pages are found in memory less often by the processor's caches.
        f64::from(self.capacity).log2()
    }

    fn compute(&self, shared: &Traces) -> Result<f64, Elsewhere> {
        let trace = Trace::new(self.kind, self.capacity, shared.uses, shared.seed);
        Ok(self.contender.hit_ratio(self.capacity, trace))
    }

    fn shared_words(shared: &Traces) -> String {
        format!("hit ratios of {} uses", shared.uses)
    }

    fn words(&self) -> String {
        let Self { kind, capacity, contender } = self;
        format!("{}, {capacity} pages, {contender:?}", kind.name())
    }
}
