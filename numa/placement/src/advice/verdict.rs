//! What to do about a mapping.
//!
//! Three things can be done: its pages can be moved to the node that uses them, they can be dealt to all
//! nodes in turn, and each node can have a copy. The simplest of those that gain nearly as much as the
//! best is recommended, in this order. Without enough references there is no verdict, and a gain that
//! hardly anybody would notice is none.

use std::fmt::{self, Display, Formatter};

use crate::Node;
use kilocore_platform::Cycles;

use crate::advice::kind::MemoryKind;
use crate::advice::sums::{Placement, Sums};

/// From where on something counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// References that a mapping needs for a verdict.
    pub least_references: u64,
    /// The share of what all memory of the program costs under first touch that a gain must be: 0 to 1.
    pub least_share: f64,
    /// The share of the best gain that a simpler remedy must reach to be preferred: 0 to 1.
    pub nearly: f64,
    /// The share of reads among references to pages that several nodes have used, from which on copies
    /// are recommended: 0 to 1. Below it each node's copy would be busy with the writes of the others.
    pub mostly_read: f64,
    /// A mapping of which no more bytes were used at a time than this is expected to stay in the own caches of
    /// whoever uses it, so that hardly any reference goes to memory. 0 for no such mapping.
    pub cached_bytes: u64,
}

impl Default for Thresholds {
    /// 10,000 references, 1 % of the cost, nine tenths of the best gain, nine reads of ten references,
    /// and no caches.
    fn default() -> Self {
        Self {
            least_references: 10_000,
            least_share: 0.01,
            nearly: 0.9,
            mostly_read: 0.9,
            cached_bytes: 0,
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Let the pages lie with who uses them.
    Move {
        /// Where nearly all of it belongs; `None` if some pages belong on one node and some on another.
        to: Option<Node>,
    },
    /// Deal the pages to all nodes in turn.
    Interleave,
    /// Give each node a copy.
    Replicate,
}

/// How many cycles a remedy would save.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// Over the whole run, of all threads together.
    pub cycles: Cycles,
    /// For each reference to the mapping, in cycles.
    pub per_reference: f64,
    /// As a share of what all memory of the program costs under first touch: 0 to 1.
    pub share: f64,
}

/// Why a mapping is best left alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// Hardly any reference to it is remote.
    Local,
    /// What could be gained is too little.
    LittleGain,
    /// This could be gained if it were not small enough to stay in a core's own caches.
    Cached(Gain),
    /// Copies would gain this, but it is written too often while it is shared.
    Written(Gain),
}

/// What to do about a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// There are too few references to tell.
    Unknown,
    /// Leave the mapping alone, for this reason.
    Leave(Reason),
    /// Apply this remedy, which is expected to gain so much.
    Do(Remedy, Gain),
}

impl Verdict {
    /// What is gained by what is to be done.
    #[must_use]
    pub fn gain(&self) -> Option<Gain> {
        if let Self::Do(_, gain) = self { Some(*gain) } else { None }
    }

    /// In a word: `unknown`, `leave`, `move`, `interleave` or `replicate`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Leave(_) => "leave",
            Self::Do(Remedy::Move { .. }, _) => "move",
            Self::Do(Remedy::Interleave, _) => "interleave",
            Self::Do(Remedy::Replicate, _) => "replicate",
        }
    }

    /// The verdict in plain words; `kind` is what it is about.
    #[must_use]
    pub fn in_words(&self, kind: &MemoryKind) -> String {
        match self {
            Self::Unknown => "too few references to tell".to_owned(),
            Self::Leave(reason) => format!("leave it: {reason}"),
            Self::Do(Remedy::Move { to: Some(node) }, _) => {
                format!("move it to node {node}, to its user")
            }
            Self::Do(Remedy::Move { to: None }, _) => {
                "move each page to the node that uses it most".to_owned()
            }
            Self::Do(Remedy::Interleave, _) => "interleave it over the nodes".to_owned(),
            Self::Do(Remedy::Replicate, _) if kind.is_made_by_the_program() => {
                "replicate it (Replicated<T> of kilocore-numa)".to_owned()
            }
            Self::Do(Remedy::Replicate, _) => {
                "replicate it (a copy of the file on each node)".to_owned()
            }
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "it is local",
            Self::LittleGain => "no gain worth having",
            Self::Cached(_) => "small enough for a core's caches",
            Self::Written(_) => "written too often for copies",
        })
    }
}

/// Below this share of remote references a mapping counts as local.
const LOCAL: f64 = 0.01;
/// From this share of references on, to pages that belong on one node, all of it moves there.
const MOSTLY: f64 = 0.95;

/// Judges a mapping. `total` is what all memory of the program costs under first touch.
pub(crate) fn judge(sums: &Sums, total: Cycles, thresholds: &Thresholds) -> Verdict {
    let references = sums.references();
    if references < thresholds.least_references.max(1) {
        return Verdict::Unknown;
    }
    let cost = |placement| sums.costs.of(placement);
    let gain = |cycles: Cycles| Gain {
        cycles,
        per_reference: cycles.0 as f64 / references as f64,
        share: cycles.0 as f64 / total.0.max(1) as f64,
    };
    let gain_by = |placement| gain(cost(Placement::FirstTouch).since(cost(placement)));
    let copies = gain_by(Placement::Replicated);
    let shared = sums.shared_reads + sums.shared_writes;
    let mostly_read = sums.shared_reads as f64 >= thresholds.mostly_read * shared as f64;
    let moving = (Remedy::Move { to: main_home(sums) }, gain(Cycles(sums.move_gain)));
    let interleaving = (Remedy::Interleave, gain_by(Placement::Interleaved));
    let copying = mostly_read.then_some((Remedy::Replicate, copies));
    let remedies = || [Some(moving), Some(interleaving), copying].into_iter().flatten();
    let best = remedies().map(|(_, gain)| gain.cycles.0).max().unwrap_or(0) as f64;
    let nearly_best = |gain: &Gain| gain.cycles.0 as f64 >= thresholds.nearly * best;
    let chosen = remedies().find(|(_, gain)| nearly_best(gain));
    let worth_having = |gain: &Gain| gain.cycles.0 > 0 && gain.share >= thresholds.least_share;
    match chosen.filter(|(_, gain)| worth_having(gain)) {
        Some((_, gain)) if sums.bytes_at_a_time() <= thresholds.cached_bytes => {
            Verdict::Leave(Reason::Cached(gain))
        }
        Some((remedy, gain)) => Verdict::Do(remedy, gain),
        None if (sums.remote as f64) < LOCAL * references as f64 => Verdict::Leave(Reason::Local),
        None if worth_having(&copies) => Verdict::Leave(Reason::Written(copies)),
        None => Verdict::Leave(Reason::LittleGain),
    }
}

/// The node that nearly all pages belong on, weighed by their references.
fn main_home(sums: &Sums) -> Option<Node> {
    let by_home = sums.references_by_home.iter().enumerate();
    let (node, most) = by_home.max_by_key(|(_, references)| **references)?;
    (*most as f64 >= MOSTLY * sums.references() as f64).then_some(Node(node as u8))
}
