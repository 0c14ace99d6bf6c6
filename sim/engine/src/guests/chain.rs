//! What a guest says of where it is, and what it may ask about the chain of waits that bounds it.

use super::Guest;
use crate::chain::{Chain, Place};
use crate::current::with_engine;
use crate::engine::Engine;

impl Guest {
    /// Has this function asked for a place that says more, where a task waits or ends a wait of another one: with the
    /// calls that led there, for one. The thread that executes the task calls it, and it may not call this crate.
    pub fn refine_places(&self, refine: fn(Place) -> Place) {
        with_engine(|engine| {
            if let Some(chains) = &mut engine.chains {
                chains.refine_places(refine);
            }
        });
    }

    /// The task is at a place of its code from now on: what it waits for counts there.
    pub fn is_at(&self, place: Place) {
        with_engine(|engine| engine.chain_is_at(place));
    }

    /// The task computes at a place, at a moment that has nothing to do with what it does: a sample of where it
    /// computes.
    pub fn computes_at(&self, place: Place) {
        with_engine(|engine| engine.chain_samples(place));
    }

    /// Chains of waits begin now, for all tasks: what was before is forgotten.
    pub fn begin_chains_anew(&self) {
        with_engine(Engine::chains_begin_anew);
    }

    /// The chain of waits that bounds what the task has done up to now. Its parts are as long as that took.
    #[must_use]
    pub fn chain(&self) -> Chain {
        with_engine(|engine| engine.chain()).flatten().unwrap_or_default()
    }
}
