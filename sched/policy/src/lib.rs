//! Schedulers that see contention, as pure code: what tasks did in a window goes in, and where they
//! may run comes out.
//!
//! # The idea
//! * **A driver watches.** At the end of each window it says what each task did: how long it ran and
//!   waited for which lock, and what the processor counted. That is a [`Window`].
//! * **A [`Policy`] decides.** It answers with [`Order`]s, each the cores on which a task may run from
//!   now on. A driver inside a scheduler also asks at each context switch which task is next.
//! * **The driver obeys.** The simulated operating system and the daemon that steers unmodified
//!   programs are such drivers, and the policies that they use are these, unchanged.
//! * **No order can hurt.** An [`Order`] is never an empty set and never holds a core outside of the
//!   task's own allowance, by construction.
//!
//! A kernel may be a driver, too. So nothing here uses floating point or the standard library, time
//! comes from the driver, and chance is not needed.
//!
//! # Policies
//! | policy | what it does |
//! |---|---|
//! | [`Fair`] | leaves all to the operating system's load balancing |
//! | [`Pinned`] | a core for each task, for good |
//! | [`Confined`] | the tasks that wait for locks on a fixed number of cores |
//! | [`Malthusian`] | restricts those tasks as a Malthusian lock does: just enough to keep it busy |
//! | [`LockAware`] | finds that number while the tasks run, and gives the cores back |
//! | [`DistributedIntensity`] | spreads the tasks that miss most over the caches |
//! | [`ResourceAware::intensity`] | heavy users of shared caches beside light ones |
//! | [`ResourceAware::complement`] | the same, by what each task is seen to suffer |
//! | [`Companions`] | tasks beside those with whom they get most done, learned pair by pair |
//!
//! [`divide`] finds the best division of few tasks into sets that run side by side, for somebody who
//! knows everything beforehand, and [`Planned`] does as it says.
//!
//! The source is the thesis of Cui on the scalability of operating systems on many cores, its
//! sections on scheduling. Each file names what else it comes from.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

mod assignment;
mod companions;
mod confined;
mod confinement;
mod controller;
mod cpu_set;
mod distributed_intensity;
mod evidence;
mod fair;
mod groups;
mod ids;
mod line_up;
mod lock_aware;
mod machine;
mod malthusian;
mod metric;
mod optimum;
mod order;
mod pairs;
mod pinned;
mod planned;
mod policy;
mod registry;
mod resource_aware;
mod score;
mod search;
mod sensitivity;
mod share;
mod steering;
mod votes;
mod window;

pub use companions::Companions;
pub use confined::Confined;
pub use cpu_set::CpuSet;
pub use distributed_intensity::DistributedIntensity;
pub use fair::Fair;
pub use ids::{CacheId, ProgramId, TaskId};
pub use kilocore_platform::{CpuId, LockLabel, Nanos, NodeId};
pub use lock_aware::{LockAware, LockAwareOptions};
pub use machine::{CpuTopology, Machine};
pub use malthusian::Malthusian;
pub use metric::Metric;
pub use optimum::{DivisionError, MOST_TASKS, divide};
pub use order::Order;
pub use pinned::Pinned;
pub use planned::Planned;
pub use policy::{GroupState, GroupStatus, Policy, Ready};
pub use registry::{PolicyName, UnknownPolicy};
pub use resource_aware::{ResourceAware, ResourceAwareOptions};
pub use score::Progress;
pub use search::{Search, Step};
pub use share::Share;
pub use votes::Votes;
pub use window::{CoRun, Counters, LockWait, TaskWindow, Window};
