//! An execution-driven simulator of cache-coherent machines with 1 to 1,024 cores.
//!
//! # The idea
//! * **The real code runs.** Each simulated thread is a stackful fiber that runs ordinary Rust,
//!   generic over [`Platform`](kilocore_platform::Platform). [`Sim`] is the platform that charges
//!   for what the code does. A simulated figure therefore speaks about the code that ships.
//! * **Every core has its own clock.** The engine always runs the core that is furthest behind
//!   and lets it run on while it stays so. The result is the same on every run and host.
//! * **Contention emerges.** A cache line has an owner, sharers and a queue at its home, where
//!   requests are served one after the other. A ticket lock collapses because its waiters re-read
//!   one line, not because a formula says so.
//! * **Waiting is an event.** A spinning waiter takes no host time until its line is written. Then
//!   it pays for the re-read.
//! * **The operating system is there.** It has run queues, time slices, context switches, futexes
//!   and a latency of wake-ups, each with a cost from the machine file.
//!
//! # How the crate is built
//! Each layer uses those below it only.
//!
//! | layer | files | what it knows |
//! |---|---|---|
//! | the program's view | `simulation`, `platform`, `region`, `blocks`, `stream`, `kernel_lock` | what tasks may call |
//! | the main loop | `main_loop`, `current` | whose turn it is, and the switch to its fiber |
//! | the kernel and the memory bus | `os`, `affinity`, `futexes`, `waiting`, `charging`, `referring`, `executing` | who runs, sleeps, waits and pays |
//! | the engine | `engine` | clocks, and what is planned |
//! | the state | `state`, `steering`, `execution`, `scheduler`, `counters`, `core_set`, `coherence`, `found`, `uncached`, `agenda`, `costs` | what tasks, cores, lines and events are |
//!
//! # An example
//! ```
//! use std::rc::Rc;
//! use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Platform};
//! use kilocore_sim::{Options, Sim, Simulation};
//!
//! let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
//! let mut simulation = Simulation::new(&machine, Options { cores: 12, seed: 1 }).unwrap();
//! let counter = Rc::new(<Sim as Platform>::U64::new(0));
//! for _ in 0..12 {
//!     let counter = Rc::clone(&counter);
//!     simulation.spawn(move || {
//!         for _ in 0..100 {
//!             Sim::work(Cycles(500));
//!             counter.fetch_add(1, Ordering::Relaxed);
//!         }
//!     });
//! }
//! let outcome = simulation.run().unwrap();
//! assert_eq!(counter.load(Ordering::Relaxed), 1200);
//! assert!(outcome.end > Cycles(50_000)); // 100 × 500, and the line on its way round
//! ```
//!
//! # The same result every time
//! All chance is seeded. One thing depends on the host: where its allocator puts the objects that
//! simulated code allocates, and so, which of them share a line. Programs whose simulations allocate
//! set [`SimHeap`] as their allocator.
//!
//! # Where it departs from its models
//! The method is that of execution-driven simulation with a directory cost model. A core may run
//! ahead of the others on lines that it owns, but only by the time that another core's request
//! would need to reach it. Up to there, the simulator may choose the order of the two, as the
//! hardware may.

mod affinity;
mod agenda;
mod blocks;
mod charging;
mod coherence;
mod copies_below;
mod core_set;
mod costs;
mod counters;
mod current;
mod engine;
mod executing;
mod execution;
mod fiber;
mod found;
mod futexes;
mod heap;
mod ids;
mod kernel_lock;
mod main_loop;
pub mod occupancy;
mod os;
mod outcome;
mod parallel;
mod platform;
mod random;
mod referring;
mod region;
mod scheduler;
mod sharers;
mod simulation;
mod state;
mod steering;
mod stream;
mod table;
mod tags;
mod uncached;
mod waiting;

pub use blocks::Touch;
pub use core_set::CoreSet;
pub use counters::{Beside, LockLabel, LockTimes, MachineView, RunState, TaskCounters, TaskView};
pub use found::Found;
pub use heap::SimHeap;
pub use ids::{SimAddress, TaskId};
pub use outcome::{Activity, LineTraffic, Outcome, TaskTimes};
pub use parallel::in_parallel;
pub use platform::{Sim, SimCell, SimPtr, SimU32, SimU64, SimUsize};
pub use random::Random;
pub use region::{SimBlock, SimRegion};
pub use scheduler::{Move, ReadyTask, Scheduler};
pub use simulation::{Options, SimError, Simulation, longest_run};
pub use stream::MOST_OVERLAP;
pub use uncached::{Reference, ReferenceKind, UncachedMemory};
