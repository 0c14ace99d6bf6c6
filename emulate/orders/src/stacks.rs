//! Where time went, by the calls that led there.

use serde::{Deserialize, Serialize};

/// No more calls are believed.
const MOST: usize = 1 << 17;

/// Where time went, by the calls that led there: a tree. The first call is the beginning of the main thread, the second
/// one that of all others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stacks {
    /// The calls, each behind the one that it was made in.
    pub calls: Vec<StackCall>,
}

/// A call, or the place where a thread was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackCall {
    /// The number of the call that this one was made in.
    pub before: u32,
    /// The address of the instruction that calls, or of the one where the thread was. [`Self::FORGOTTEN`] stands for
    /// calls that were not remembered.
    pub code: u64,
    /// How often a thread computed there, by samples.
    pub samples: u64,
    /// How long threads waited there for lines, in ns.
    pub waited_ns: f64,
    /// How long they spun there, in ns.
    pub spun_ns: f64,
    /// How long the kernel worked for them there, in ns.
    pub system_ns: f64,
}

impl StackCall {
    /// Calls that were not remembered, as there were too many.
    pub const FORGOTTEN: u64 = u64::MAX;
}

impl Stacks {
    /// How many calls stand for the beginnings of threads.
    pub const BEGINNINGS: usize = 2;

    /// All its times.
    pub(crate) fn times(&self) -> Vec<f64> {
        let of = |call: &StackCall| [call.waited_ns, call.spun_ns, call.system_ns];
        self.calls.iter().flat_map(of).collect()
    }

    /// Whether it is a tree, and not too large.
    pub(crate) fn is_whole(&self) -> bool {
        let others = self.calls.iter().enumerate().skip(Self::BEGINNINGS);
        self.calls.len() <= MOST && others.into_iter().all(|(at, call)| (call.before as usize) < at)
    }
}
