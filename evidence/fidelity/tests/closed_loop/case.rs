//! Programs whose threads think and take one mutex, in rounds that end in barriers, and beside a serial part.

use kilocore_figures::Nanoseconds;
use kilocore_forecast::{Barriers, Duration, LockUse, Range, Workload};

use crate::{SECTIONS, THINK_NS, THREADS};

/// Rounds, if there are barriers.
const ROUNDS: u32 = 100;
/// The share of the thinking times, and of the work, that is in the long ones where those differ.
const LONG: f64 = 0.01;

/// How the times that a thread thinks for are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Think {
    Exponential,
    FewLong,
}

/// What ends a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    Nothing,
    Barrier,
    Condition,
}

/// A program of the loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) think: Think,
    pub(crate) hold: Nanoseconds<f64>,
    /// Of the thinking of all threads.
    pub(crate) serial_share: f64,
    pub(crate) ends: Ends,
}

impl Case {
    pub(crate) fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for think in [Think::Exponential, Think::FewLong] {
            for hold in [200.0, 1_000.0].map(Nanoseconds) {
                for serial_share in [0.0, 0.1] {
                    for ends in [Ends::Nothing, Ends::Barrier, Ends::Condition] {
                        cases.push(Self { think, hold, serial_share, ends });
                    }
                }
            }
        }
        cases
    }

    fn serial_ns(&self) -> f64 {
        self.serial_share * THINK_NS * f64::from(SECTIONS)
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let rounds = if self.ends == Ends::Nothing { 1 } else { ROUNDS };
        let how = if self.think == Think::Exponential { "e" } else { "h" };
        let barrier = match self.ends {
            Ends::Nothing => "n",
            Ends::Barrier => "p",
            Ends::Condition => "c",
        };
        vec![
            THREADS.to_string(),
            rounds.to_string(),
            (SECTIONS / THREADS / rounds).to_string(),
            THINK_NS.to_string(),
            how.to_owned(),
            self.hold.0.to_string(),
            self.serial_ns().to_string(),
            barrier.to_owned(),
        ]
    }

    /// What the program does, in cycles of the clock that it was measured by.
    pub(crate) fn truth(&self, ghz: f64) -> Workload {
        let think = match self.think {
            Think::Exponential => Duration::Exponential(THINK_NS * ghz),
            Think::FewLong => {
                let of = |up_to, mean: f64| Range { up_to, low: mean * ghz, high: mean * ghz };
                let ratio = (1.0 - LONG) / LONG;
                Duration::Observed(vec![
                    of(1.0 - drawn_long(), THINK_NS / ratio),
                    of(1.0, THINK_NS * ratio),
                ])
            }
        };
        let barriers = Barriers {
            sections: f64::from(SECTIONS / ROUNDS),
            imbalance: 0.0,
            lock: (self.ends == Ends::Condition).then_some(1),
        };
        Workload {
            serial: self.serial_share * THINK_NS * ghz,
            barriers: (self.ends != Ends::Nothing).then_some(barriers),
            locks: vec![LockUse::ONE; 2],
            ..Workload::single_lock(think, Duration::Constant(self.hold.0 * ghz), 0.0)
        }
    }
}

/// The share of long thinking times that the program's generator of random numbers really gives:
/// there are some hundred of them, so that it is not [`LONG`].
fn drawn_long() -> f64 {
    let of_thread = |thread: u32| {
        let mut random = 88_172_645_463_325_252 + u64::from(thread) * 2_654_435_761;
        let long = |_: &u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005);
            random = random.wrapping_add(1_442_695_040_888_963_407);
            ((random >> 11) + 1) as f64 / (1_u64 << 53) as f64 <= LONG
        };
        (0..SECTIONS / THREADS).filter(long).count()
    };
    (0..THREADS).map(of_thread).sum::<usize>() as f64 / f64::from(SECTIONS)
}
