//! The same program on one core, where its threads are never in one another's way.

use kilocore_lock_profile::{Histogram, Process, Profile, Run};

use super::busy::uses;

/// Caches that are shared and clocks that vary make thinking last longer on several cores than on
/// one. From this many times as long on, there is another reason.
const DISTURBED: f64 = 2.0;
/// If thinking takes longer, the processor time grows by at least this part of it.
const MOST: f64 = 0.5;

/// The process of another run of the same program that was confined to one core. `None` if `run`
/// itself was, or if there is no such run.
pub(super) fn confined<'a>(
    profile: &'a Profile,
    run: &Run,
    process: &Process,
) -> Option<&'a Process> {
    let confined = profile.runs.iter().skip(1).find(|run| run.cores == 1);
    confined
        .filter(|_| run.cores > 1)
        .into_iter()
        .flat_map(|run| &run.processes)
        .filter(|of| of.executable == process.executable)
        .max_by_key(|of| of.threads.think.count)
}

/// How long threads think in the confined run, if in the other they are in one another's way
/// between locks. `None` if they are not.
pub(super) fn undisturbed<'a>(process: &Process, confined: &'a Process) -> Option<&'a Histogram> {
    let (think, alone) = (&process.threads.think, &confined.threads.think);
    // Thinking is sampled. If a few times are long, the means of two runs differ by chance.
    // Processor time is exact, so it has to have grown as well.
    let longer = (think.mean() - alone.mean()) * think.count as f64;
    let scale = uses(process) / uses(confined).max(1.0);
    let more = process.threads.cpu_time - confined.threads.cpu_time * scale;
    let disturbed = think.mean() > alone.mean() * DISTURBED && more > longer * MOST;
    (alone.count > 0 && disturbed).then_some(alone)
}
