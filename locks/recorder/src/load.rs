//! How many threads of the whole system run or want to while a program is measured.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kilocore_linux::runnable_threads;

/// How long between two looks. Nothing that a program does repeats itself after a prime number of
/// milliseconds, as clocks' ticks do after 10.
const BETWEEN: Duration = Duration::from_millis(17);

/// What the looks add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Looks {
    count: u64,
    runnable: u64,
}

/// A thread that looks at the whole system again and again.
#[derive(Debug)]
pub(crate) struct LoadSampler {
    /// Dropping it ends the thread.
    until: Sender<()>,
    /// Nothing if it could not be started.
    sampler: Option<JoinHandle<Looks>>,
}

impl LoadSampler {
    /// Begins to look.
    pub(crate) fn start() -> Self {
        let (until, over) = mpsc::channel::<()>();
        let sample = move || {
            let mut looks = Looks::default();
            while over.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                let Some(runnable) = runnable_threads() else { break };
                looks.count += 1;
                // The thread that looks runs, too.
                looks.runnable += u64::from(runnable.saturating_sub(1));
            }
            looks
        };
        Self { until, sampler: Builder::new().name("load".to_owned()).spawn(sample).ok() }
    }

    /// Returns how many threads ran or were ready to, on average, if anybody could look.
    pub(crate) fn finish(self) -> Option<f64> {
        drop(self.until);
        let looks = self.sampler?.join().ok()?;
        (looks.count > 0).then(|| looks.runnable as f64 / looks.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn threads_that_compute_are_counted() {
        let over = AtomicBool::new(false);
        let load = thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let sampler = LoadSampler::start();
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(300) {
                std::hint::spin_loop();
            }
            let load = sampler.finish();
            over.store(true, Ordering::Relaxed);
            load.expect("Linux tells")
        });
        assert!(load >= 3.0, "three threads and this one compute: {load}");
    }
}
