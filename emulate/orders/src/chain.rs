//! The chain of waits that bounds a run.

use serde::{Deserialize, Serialize};

/// No more parts are believed.
const MOST_PARTS: usize = 1 << 14;
/// No more calls of a place are believed.
const MOST_CALLS: usize = 64;

/// The chain of waits that bounds a run: the threads that ran and could not have run earlier, one after the other, and
/// how each handed over to the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// When it ends, in ns of simulated time. It begins with the program, and its parts, but for those of threads, are
    /// as long together.
    pub end_ns: f64,
    /// The parts, the largest first.
    pub parts: Vec<ChainShare>,
    /// The places that parts name by number: the address of an instruction, and those of the calls that led there, the
    /// innermost first. The first place is none that is known.
    pub places: Vec<Vec<u64>>,
}

/// How much of a chain a part is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainShare {
    /// The part.
    pub part: ChainPart,
    /// How often it was, where that is counted.
    pub count: u64,
    /// How long it took, in ns, all together.
    pub ns: f64,
}

/// A part of a chain. Places are numbers of [`Chain::places`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChainPart {
    /// A thread computes.
    Computing {
        /// Where.
        at: u32,
    },
    /// It waits for a line.
    Lines {
        /// Where it needs it.
        at: u32,
    },
    /// It spins in vain.
    Spinning {
        /// Where.
        at: u32,
    },
    /// The kernel works for it.
    System {
        /// Where it needs that.
        at: u32,
    },
    /// It sleeps for a time that it has chosen.
    Asleep {
        /// Where.
        at: u32,
    },
    /// It waits for something that is not simulated.
    Outside {
        /// Where.
        at: u32,
    },
    /// From the event that ends a thread's wait until it runs.
    HandOver {
        /// What it waits for.
        how: Waits,
        /// Where it waits.
        waiter: u32,
        /// Where the thread is that ends its wait.
        waker: u32,
    },
    /// All that is one thread's, of what is above but hand-overs.
    Thread {
        /// Its number, in the order in which threads began. None if it is that of several.
        number: Option<u32>,
    },
}

/// What ends a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// Another thread wakes the one that sleeps.
    Woken,
    /// Another thread writes what the one reads again and again.
    Written,
    /// Another thread gives back a lock of the kernel.
    Kernel,
    /// Another thread makes the one.
    Made,
    /// Another thread leaves the core that the one wants.
    Core,
}

impl Chain {
    /// All its times.
    pub(crate) fn times(&self) -> Vec<f64> {
        self.parts.iter().map(|share| share.ns).chain([self.end_ns]).collect()
    }

    /// Whether it can be one: it is not too large, and has all places that its parts name.
    pub(crate) fn is_whole(&self) -> bool {
        let known = |place: u32| (place as usize) < self.places.len();
        let whole = |share: &ChainShare| match share.part {
            ChainPart::Computing { at }
            | ChainPart::Lines { at }
            | ChainPart::Spinning { at }
            | ChainPart::System { at }
            | ChainPart::Asleep { at }
            | ChainPart::Outside { at } => known(at),
            ChainPart::HandOver { waiter, waker, .. } => known(waiter) && known(waker),
            ChainPart::Thread { .. } => true,
        };
        self.parts.len() <= MOST_PARTS
            && self.places.iter().all(|place| place.len() <= MOST_CALLS + 1)
            && self.parts.iter().all(whole)
    }
}
