//! An execution-driven simulator of cache-coherent machines with 1 to 1,024 cores.
//!
//! # The idea
//! * **The real code runs.** Each simulated thread is a stackful fiber that runs ordinary Rust,
//!   generic over [`Platform`](kilocore_platform::Platform); [`Sim`] is the platform that charges
//!   for what it does. A simulated figure therefore speaks about the code that ships.
//! * **Every core has its own clock.** The engine always runs the core that is furthest behind
//!   and lets it run on while it stays so. The result is the same on every run and host.
//! * **Contention emerges.** A cache line has an owner, sharers and a queue at its home, where
//!   requests are served one after the other. A ticket lock collapses because its waiters re-read
//!   one line, not because a formula says so.
//! * **Waiting is an event.** A spinning waiter sleeps in the event queue until its line is
//!   written and then pays for the re-read, so that waiting costs no host time.
//! * **The operating system is there**: run queues, time slices, context switches, futexes and
//!   the latency of a wake-up, each with a cost from the machine file.
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
//! All chance is seeded, and nothing depends on the host but where its allocator puts simulated
//! objects that are allocated anew, and with that, which of them share a line. Programs whose
//! simulations allocate set [`SimHeap`] as their allocator.
//!
//! # Where it departs from its models
//! The method is that of execution-driven simulation with a directory cost model. A core may run
//! ahead of the others on lines that it owns, but only by the time that another core's request
//! would need to reach it: up to there, the order of the two is the simulator's to choose, as it
//! is the hardware's.

mod agenda;
mod charging;
mod coherence;
mod copies_below;
mod costs;
mod current;
mod engine;
mod fiber;
mod futexes;
mod heap;
mod ids;
mod kernel_lock;
mod main_loop;
mod os;
mod outcome;
mod parallel;
mod platform;
mod random;
mod sharers;
mod simulation;
mod state;
mod stream;
mod table;
mod tags;
mod waiting;

pub use heap::SimHeap;
pub use outcome::{Activity, LineTraffic, Outcome, TaskTimes};
pub use parallel::in_parallel;
pub use platform::{Sim, SimCell, SimPtr, SimU32, SimU64, SimUsize};
pub use random::Random;
pub use simulation::{Options, SimError, Simulation, longest_run};
pub use stream::MOST_OVERLAP;
