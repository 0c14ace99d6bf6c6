//! A workload, with what was learnt while it was made of a profile.

use kilocore_figures::Nanoseconds;

use super::conduct::Conduct;
use crate::forecast_lock::ForecastLock;
use crate::workload::Workload;

/// The words by which an assumption says that a part of the computing is taken to be serial.
pub(super) const SERIAL: &str = "of the computing is taken to be serial";

/// A workload, with what was learnt while it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiled {
    /// The workload as profiled.
    pub workload: Workload,
    /// The same workload if everything that the profile leaves open turns out well, and if it turns
    /// out badly.
    pub bounds: [Workload; 2],
    /// The locks, in the order of [`Workload::locks`].
    pub locks: Vec<ForecastLock>,
    /// Outermost sections of the run. This many sections of the workload compute for
    /// [`ProcessorTime::work`](super::ProcessorTime::work), at the host's clock.
    pub sections: f64,
    /// Mean computing between sections, on the host, without the serial part.
    pub think: Nanoseconds<f64>,
    /// Mean sleep between sections.
    pub asleep: Nanoseconds<f64>,
    /// Threads that took locks.
    pub threads: u64,
    /// How the program ran while it was profiled.
    pub conduct: Conduct,
    /// What had to be assumed.
    pub assumptions: Vec<String>,
}

impl Profiled {
    /// The same under a load that never lets threads sleep between sections. This is what a server
    /// does if requests are always waiting for it, although it was profiled when they were not.
    #[must_use]
    pub fn saturated(mut self) -> Self {
        let [well, badly] = &mut self.bounds;
        for workload in [&mut self.workload, well, badly] {
            workload.asleep = 0.0;
            // The cores were unused because there was no work.
            workload.think = workload.think.lasting(workload.think.mean() + workload.serial);
            workload.serial = 0.0;
        }
        self.conduct.time.serial = Nanoseconds(0.0);
        self.assumptions.retain(|assumption| !assumption.contains(SERIAL));
        if self.asleep > Nanoseconds(0.0) {
            self.assumptions.push(
                "Threads are taken never to sleep between locks, as if there were always work \
                 waiting for them."
                    .to_owned(),
            );
        }
        self.asleep = Nanoseconds(0.0);
        self
    }

    /// The same program with a mutex in the place of each read-write lock, so that its readers
    /// exclude each other and the lock under comparison takes the place of that mutex.
    #[must_use]
    pub fn with_mutexes_only(mut self) -> Self {
        let [well, badly] = &mut self.bounds;
        for workload in [&mut self.workload, well, badly] {
            workload.make_exclusive();
        }
        self.assumptions.push(
            "Every read-write lock is taken for a mutex, which its readers hold alone.".to_owned(),
        );
        self
    }
}
