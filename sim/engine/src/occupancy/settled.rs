//! How fast phases are that run side by side for ever.

use crate::occupancy::hardware::Hardware;
use crate::occupancy::model::{Executed, Model};
use crate::occupancy::phase::Phase;

/// Stretches that each phase runs until caches have settled.
const ROUNDS: usize = 500;
/// Further stretches whose mean is the result.
const MEASURED: usize = 60;
/// The part of a cache that a stretch replaces.
const PART: f64 = 1.0 / 48.0;
/// Cycles of the longest stretch, and of the first.
const LONGEST: f64 = 1e8;
const FIRST: f64 = 1e4;

/// How many instructions per cycle each of these phases does, one a hardware thread, after running
/// side by side for so long that the caches have settled.
///
/// # Panics
/// If a thread is not there or named twice.
#[must_use]
pub fn settled(hardware: &Hardware, running: &[(usize, &Phase)]) -> Vec<f64> {
    let counted = settled_counts(hardware, running);
    counted.iter().map(|counted| counted.instructions / counted.cycles).collect()
}

/// What processors count for each of these phases, one a hardware thread, for a while after the caches
/// have settled.
///
/// The phases advance in step. A stretch is as long as the one that brings most in takes to replace a
/// part of its cache.
///
/// # Panics
/// If a thread is not there or named twice.
#[must_use]
pub fn settled_counts(hardware: &Hardware, running: &[(usize, &Phase)]) -> Vec<Executed> {
    let mut threads: Vec<usize> = running.iter().map(|&(thread, _)| thread).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), running.len(), "a hardware thread runs one phase at a time");
    let mut model = Model::new(hardware.clone());
    let mut stretch = FIRST;
    let mut speeds: Vec<f64> = running.iter().map(|(_, phase)| 1.0 / phase.cpi).collect();
    let mut total = vec![Executed::default(); running.len()];
    for round in 0..ROUNDS + MEASURED {
        let mut most = 0.0_f64;
        for (task, &(thread, phase)) in running.iter().enumerate() {
            let done = model.execute(thread, task, phase, speeds[task] * stretch);
            speeds[task] = done.instructions / done.cycles;
            most = most.max(done.misses * hardware.line.0 / done.cycles);
            if round >= ROUNDS {
                total[task].add(&done);
            }
        }
        // Grows slowly, so that what has just filled its cache is not overlooked.
        stretch = (hardware.capacity().0 * PART / most.max(1e-9)).min(2.0 * stretch).min(LONGEST);
    }
    total
}
