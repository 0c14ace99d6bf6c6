//! Applies a scheduling policy to unmodified programs that run, and puts everything back.
//!
//! # The idea
//! * **Tasks** are the threads of the steered programs and of all that they start. Each window they
//!   are listed anew ([`Tree`]).
//! * **Metrics** come from what the machine offers ([`Meter`]): the scheduler's own times, samples
//!   whose code is a spin loop, looks at threads that sleep for a lock, if the policy decides by
//!   them, hardware counters ([`CounterSource`]), and, if asked for, what the measuring library counts in
//!   programs that are started with it ([`recordings_folder`]).
//! * **A policy** of `kilocore-sched-policy` decides, and its orders become affinities ([`Daemon`]) or
//!   cgroups with cpusets ([`Control`]).
//! * **Everything is put back** ([`restore`](restore())), whatever ends the daemon. Before an order is given, a
//!   [`Journal`] says what was there. A [`Guardian`], a process of its own, reads it if the daemon dies.
//!   If both die, the next daemon finds the journal ([`restore_orphans`]).
//!
//! # What cannot be told
//! A thread inherits the affinity of its creator. Who that is, the kernel's records tell, where this user may have
//! them; else, a new thread whose mask is one that was ordered for its program is taken to have inherited it, unless
//! threads of the program choose masks themselves: then it is left as it is, and told. If a confined thread
//! chooses exactly the mask that it was given, this is not seen. Where cgroups carry orders out, membership
//! tells.
#![warn(missing_docs)]

mod affinity;
mod births;
mod caches;
mod control;
mod counted;
mod counters;
mod coverage;
mod cpu_list;
mod cpusets;
mod daemon;
mod descriptors;
mod error;
mod futexes;
mod group;
mod guardian;
mod hardware;
mod hierarchy;
mod homecoming;
mod host;
mod journal;
mod journal_name;
mod ledger;
mod lineage;
mod looks;
mod machine;
mod meter;
mod monitored_group;
mod named;
mod orphans;
mod ours;
mod outcome;
mod pace;
mod places;
#[cfg(test)]
mod played_cgroups;
mod recording_folder;
mod recordings;
mod resctrl;
mod restore;
mod snapshot;
mod spins;
mod stat;
mod sums;
mod tree;
mod waits;

pub use control::Control;
pub use counters::{CounterSource, NoCounters, Reading};
pub use daemon::{Daemon, Options, Summary, check_control};
pub use error::{DaemonError, NoCpusets};
pub use guardian::{Guardian, guard};
pub use host::{Host, Linux};
pub use journal::Journal;
pub use ledger::Ledger;
pub use machine::this_machine;
pub use meter::{Meter, Metrics};
pub use named::Named;
pub use orphans::{Orphan, restore_orphans, steered_by};
pub use outcome::Outcome;
pub use recording_folder::recordings_folder;
pub use resctrl::CacheUse;
pub use restore::restore;
pub use snapshot::{GroupView, Other, Snapshot};
pub use stat::Stat;
pub use tree::{Order, Thread, Tree};
