//! Where pages lie on a machine with several memories, and what references then cost.
//!
//! # The idea
//! * **A page has a home** on one node and may have copies on others. A reference to a page that the
//!   node has is local; all others cross the machine.
//! * **The hardware counts** references and writes, and interrupts when a count has come to its end.
//! * **A [`Policy`] decides** then whether the page is copied, moved, or stays.
//! * **Everything costs**: references, copies, faults, and telling copies of writes. What a reference
//!   costs on average, in units of a local one, is the *normalized average memory access cost*, NAMC.
//!
//! It is the machine of Lee and Cho, *Page Replication Mechanism using Adjustable DELAY Counter in NUMA
//! Multiprocessors* (1996), and its rivals. There are no caches: each reference goes to a memory.
//!
//! [`Memory`] is the whole. Programs come to it as bursts of references of one processor to one page,
//! from any front end.
//!
//! # Where it departs from the paper
//! What the paper leaves open is an option everywhere, and the defaults are said beside them. Besides:
//!
//! * **Who pays for updates** makes no difference to NAMC. Here it is the writer.
//! * **A page that a processor writes** and has a copy of is written there and at home, since a remote
//!   write would have gone home. So it costs a local reference and an update.
//! * **The reference that ends a delay** is still remote.
//! * **Nodes may have several processors**, each with counters of its own; a copy is the node's.
//!
//! # Decisions
//! * *Everything that the paper leaves open is an option*, and the defaults are said beside it
//!   (`policies/adjustable.rs`): the unit of the copy's cost, who is told, when a copy is given up,
//!   the bounds at first, and the daemon's period in cycles.
//! * *The hardware counts, and a policy is interrupted* (`policy.rs`). So the paper's rule, its
//!   rivals and Linux's see the same machine, with the same costs and the same translation buffers.
//! * *A memory takes bursts*: references of one processor to one page, one after the other. They
//!   cost what they would one by one. Programs on simulated processors bring one at a time, QEMU
//!   brings dozens.
//! * *The rule as printed does not do what the paper says of it* on these programs
//!   (`docs/evidence/numa.md`): it learns only from copies, gives none up, and counts a write as a
//!   read. `balanced` counts cycles saved and lost, gives up what does not pay, and learns how soon
//!   to copy and how late to give up.

mod account;
pub mod advice;
mod costs;
mod driven;
mod machine;
mod memory;
mod observer;
mod optimum;
mod options;
mod outcome;
mod policies;
mod policy;
mod rules;
mod setting;
mod streamed;
mod synthetic;
mod tlb;
mod units;

pub use account::Account;
pub use costs::Costs;
pub use driven::{Driven, PageSize};
pub use machine::Machine;
pub use memory::Memory;
pub use observer::{Observer, Reference};
pub use options::{Coherence, Options, OptionsError, Start};
pub use outcome::Outcome;
pub use policies::{
    Adjustable, AdjustableOptions, Audience, Balanced, BalancedOptions, Carrefour,
    CarrefourOptions, CopyCost, FirstReference, FixedDelay, LinuxBalancing, Never, Weights,
    WithUpdates,
};
pub use policy::{At, Burst, Decision, Fate, Policy};
pub use rules::{PolicyParameters, Rule};
pub use setting::{MOST_PROCESSORS, Setting};
pub use streamed::{Streamed, StreamedError};
pub use synthetic::{Synthetic, SyntheticError};
pub use tlb::TlbOptions;
pub use units::{NEVER, Node, Nodes, Page, Processor};
