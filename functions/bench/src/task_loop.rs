//! The loop of a task, from its start to its end.

use std::sync::atomic::Ordering;

use kilocore_figures::Nanoseconds;

use crate::control::{Control, Phase, Slot, Stage};
use crate::sys::{now, thread_time};
use crate::{Refusal, Task};

/// How long a batch should take. After each batch the task reads the clock and the phase, which
/// takes some hundred nanoseconds: a few ten-thousandths of a batch.
const BATCH_TIME: Nanoseconds = Nanoseconds(500_000);
/// How many times larger the next batch may be at most. The first batches say little of how long an
/// operation takes: they are slow because they are the first.
const MOST_GROWTH: u64 = 16;

/// Returns the size of the next batch: how many operations would have taken [`BATCH_TIME`], given
/// that `batch` operations took `took`.
fn next_batch(batch: u64, took: Nanoseconds) -> u64 {
    let fitting = u128::from(batch) * u128::from(BATCH_TIME.0) / u128::from(took.0.max(1));
    u64::try_from(fitting).unwrap_or(u64::MAX).clamp(1, batch.saturating_mul(MOST_GROWTH))
}

/// What a task counts while [`Phase::Measure`] lasts.
#[derive(Debug)]
struct Tally {
    begin: Nanoseconds,
    operations: u64,
    slowest_batch: Nanoseconds,
    fastest_batch: Nanoseconds,
    usage: Usage,
}

impl Tally {
    fn begin(now: Nanoseconds) -> Self {
        let (slowest_batch, fastest_batch) = (Nanoseconds(0), Nanoseconds(u64::MAX));
        let usage = Usage::now();
        Self { begin: now, operations: 0, slowest_batch, fastest_batch, usage }
    }

    #[inline]
    fn add(&mut self, operations: u64, took: Nanoseconds) {
        self.operations += operations;
        self.slowest_batch = self.slowest_batch.max(took);
        self.fastest_batch = self.fastest_batch.min(took);
    }

    fn write(&self, slot: &Slot, end: Nanoseconds, batch: u64) {
        // This comes first, so that little time passes between the end and this reading.
        let usage = Usage::now();
        slot.begin_ns.store(self.begin.0, Ordering::Relaxed);
        slot.end_ns.store(end.0, Ordering::Relaxed);
        slot.operations.store(self.operations, Ordering::Relaxed);
        slot.batch.store(batch, Ordering::Relaxed);
        slot.slowest_batch_ns.store(self.slowest_batch.0, Ordering::Relaxed);
        slot.fastest_batch_ns.store(self.fastest_batch.0, Ordering::Relaxed);
        slot.preemptions.store(usage.preemptions - self.usage.preemptions, Ordering::Relaxed);
        let on_core = usage.on_core - self.usage.on_core;
        slot.on_core_ns.store(on_core.0, Ordering::Relaxed);
    }
}

/// How this thread has used its core so far.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// How often it lost the core without asking for it.
    preemptions: u64,
    /// How long it has run on a core.
    on_core: Nanoseconds,
}

impl Usage {
    fn now() -> Self {
        // SAFETY: zero bytes are a valid rusage.
        let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
        // SAFETY: `usage` is a valid rusage for the kernel to write to.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Self {
            preemptions: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
            // Not from `usage`: its times may advance in ticks of some milliseconds.
            on_core: thread_time(),
        }
    }
}

/// Runs a task through all phases. Counting starts and stops at the ends of batches.
pub(crate) fn take_part(task: &mut dyn Task, index: u32, control: &Control) -> Result<(), Refusal> {
    control.reach(Stage::Arrived);
    control.wait_for_start();
    let (mut batch, mut warm, mut ended) = (1, false, false);
    let mut tally: Option<Tally> = None;
    let mut last = now();
    loop {
        let phase = control.phase();
        if phase == Phase::Quit {
            return Ok(());
        }
        task.run(batch)?;
        let now = now();
        let took = now - last;
        last = now;
        match (control.phase(), &mut tally) {
            (Phase::Gather | Phase::Warm, _) => {
                batch = next_batch(batch, took);
                if !std::mem::replace(&mut warm, true) {
                    control.reach(Stage::Warm);
                }
            }
            (Phase::Measure, None) => {
                tally = Some(Tally::begin(now));
                control.reach(Stage::Begun);
            }
            (Phase::Measure, Some(tally)) => tally.add(batch, took),
            (Phase::Over, Some(tally)) if !ended => {
                tally.add(batch, took);
                tally.write(control.slot(index), now, batch);
                ended = true;
                control.reach(Stage::Ended);
            }
            (Phase::Over | Phase::Quit, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_grows_to_half_a_millisecond_and_not_at_once() {
        assert_eq!(next_batch(100, Nanoseconds(50_000)), 1000);
        assert_eq!(next_batch(100, Nanoseconds(1)), 1600);
        assert_eq!(next_batch(1, Nanoseconds(u64::MAX)), 1);
        assert_eq!(next_batch(1000, Nanoseconds(1_000_000)), 500);
        assert_eq!(next_batch(u64::MAX, Nanoseconds(0)), u64::MAX);
    }
}
