//! Schedulers that see contention, simulated beside those that do not.
//!
//! The policies are those of `kilocore-sched-policy`, unchanged, and the machine and its operating system
//! those of `kilocore-sim`. A [`Driver`] makes a scheduler of the simulated system out of a policy: it
//! turns what the system counts in a window into what the policy wants to know, and the policy's orders
//! into sets of cores.
//!
//! [`locks`] are the lock-heavy loads of the thesis on the scalability of operating systems, under four
//! algorithms of kernel locks. [`cache`] are its mixes of programs that share caches.
//!
//! # Decisions
//! * **The simulator knows no policies.** `kilocore-sim` has hooks (`Scheduler`): at each period,
//!   and at each context switch. The driver puts policies behind them.
//! * **Programs that take minutes are phases, not references.** `kilocore_sim::occupancy` says how long
//!   a stretch of instructions takes beside what runs at that moment: misses insert lines, a full
//!   cache evicts whoever uses its lines least, and misses queue for buses. Queues, slices and
//!   migrations are the engine's own, as for all other tasks. So 16 tasks on 8 cores take 1.5
//!   seconds of the host for ten simulated ones.

pub mod cache;
mod driver;
pub mod locks;
mod record;

pub use driver::{Driver, Noise, machine_for_policies};
pub use record::{Record, Span};
