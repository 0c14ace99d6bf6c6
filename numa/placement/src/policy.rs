//! Who decides where pages lie.
//!
//! The hardware counts, and a [`Policy`] is the operating system that is interrupted when a count has
//! come to its end. The hardware has four ways to get its attention; a policy implements those that
//! it uses:
//!
//! | the hardware | the policy is asked |
//! | --- | --- |
//! | counts a processor's references to a remote page down | [`Policy::first_remote`] where to begin, [`Policy::exhausted`] at 0 |
//! | counts down how often a copy is told of writes | [`Policy::update_budget`] where to begin, [`Policy::updates_exhausted`] at 0 |
//! | traps the next reference to a page ([`Machine::trap`]) | [`Policy::trapped`] |
//! | takes a sample of references | [`Policy::sample_every`] how many, [`Policy::sampled`] with one |
//! | has counters of reads and writes for every page and node | [`Policy::watched`] after each burst, if [`Policy::watches`] |
//!
//! [`Policy::daemon`] runs on every node once in a [`Policy::period`].

use std::fmt::Debug;
use std::num::NonZeroU32;

use kilocore_platform::Cycles;

use crate::machine::Machine;
use crate::units::{NEVER, Node, Page, Processor};

/// Who refers to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// The processor that refers to the page.
    pub processor: Processor,
    /// The node that the processor belongs to.
    pub node: Node,
    /// The page that it refers to.
    pub page: Page,
}

/// What is to be done with a page that is remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It stays remote, and the counter begins at this number again. [`NEVER`] asks no more.
    Stay(u32),
    /// The node gets a copy.
    Replicate,
    /// The node becomes its home.
    Migrate,
}

/// What is to be done with a copy that is told of writes often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays, and both of its counts begin again.
    Keep,
    /// It is given up.
    Drop,
}

/// References of a processor to a page, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Burst {
    /// How many reads. They come before the writes.
    pub reads: u32,
    /// How many writes. They come after the reads.
    pub writes: u32,
}

impl Burst {
    /// A burst of a single read.
    pub const READ: Self = Self { reads: 1, writes: 0 };
    /// A burst of a single write.
    pub const WRITE: Self = Self { reads: 0, writes: 1 };

    /// How many references there are.
    #[must_use]
    #[inline(always)]
    pub fn references(self) -> u64 {
        u64::from(self.reads) + u64::from(self.writes)
    }
}

/// An operating system's rule for copying and moving pages. See the [module](self).
pub trait Policy: Debug {
    /// At what number the counter of a page begins that a processor is about to refer to remotely: for
    /// the first time, or since its node has had a copy no longer. At 0 [`exhausted`](Self::exhausted)
    /// is asked before that reference, otherwise after so many.
    fn first_remote(&mut self, machine: &mut Machine, at: At) -> u32;

    /// A counter has come to 0.
    fn exhausted(&mut self, machine: &mut Machine, at: At) -> Decision;

    /// Of how many writes a copy may be told until [`updates_exhausted`](Self::updates_exhausted) is
    /// asked.
    fn update_budget(&self) -> u32 {
        NEVER
    }

    /// The copy of a page on a node has been told of so many writes.
    fn updates_exhausted(&mut self, _machine: &mut Machine, _page: Page, _node: Node) -> Fate {
        Fate::Keep
    }

    /// How often the daemon runs on each node.
    fn period(&self) -> Option<Cycles> {
        None
    }

    /// Runs on `processor` of a node, once in a period. It is late if the node's processors refer to
    /// no memory, and what became due before the last run had ended is left out.
    fn daemon(&mut self, _machine: &mut Machine, _node: Node, _processor: Processor) {}

    /// Of how many references of a processor one is a sample.
    fn sample_every(&self) -> Option<NonZeroU32> {
        None
    }

    /// A sample has been taken.
    fn sampled(&mut self, _machine: &mut Machine, _at: At, _write: bool) {}

    /// A page that was trapped is about to be referred to.
    fn trapped(&mut self, _machine: &mut Machine, _at: At) -> Decision {
        Decision::Stay(NEVER)
    }

    /// A page is gone, and its number may come to stand for another one.
    fn forget(&mut self, _machine: &Machine, _page: Page) {}

    /// Whether the hardware counts all reads and writes of shared pages for this policy.
    fn watches(&self) -> bool {
        false
    }

    /// What has just been counted. `Stay` leaves the counter as it is.
    fn watched(&mut self, _machine: &mut Machine, _at: At, _burst: Burst) -> Decision {
        Decision::Stay(NEVER)
    }
}
