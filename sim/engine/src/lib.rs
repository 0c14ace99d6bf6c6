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
//!   it pays for the re-read. The engine evaluates the waiter's condition without switching to its
//!   fiber.
//! * **The operating system is there.** It has run queues, time slices, context switches, futexes
//!   and a latency of wake-ups, each with a cost from the machine file.
//! * **Tasks may execute elsewhere.** With [`Guests`], threads of the host stand for tasks and say what
//!   they do. So whole programs run on the simulated machine, under an emulator.
//!
//! # How the crate is built
//! Each layer uses those below it only.
//!
//! | layer | files | what it knows |
//! |---|---|---|
//! | the program's view | `simulation`, `guests`, `platform`, `region`, `blocks`, `stream`, `kernel_lock` | what tasks may call |
//! | the main loop | `main_loop`, `current` | whose turn it is, and the switch to its fiber |
//! | the kernel and the memory bus | `os`, `affinity`, `futexes`, `waiting`, `charging`, `referring`, `executing`, `chaining` | who runs, sleeps, waits and pays |
//! | the engine | `engine` | clocks, and what is planned |
//! | the state | `state`, `steering`, `execution`, `scheduler`, `counters`, `chain`, `coherence`, `guest_memory`, `found`, `uncached`, `agenda`, `costs` | what tasks, cores, lines and events are |
//!
//! Below `coherence`, `visit` has where each line is, `hierarchy` what caches above each other
//! agree on, and `frames` the lines of regions. `copies_below` and `tags` are caches, `heap` is
//! where simulated memory lies, and `fiber` has stacks, with a part for words that others may access.
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
//! All chance is seeded. What is left to a compiler and to an allocator is where words lie, and so,
//! which of them share a line and which line a core has used before. Neither may change a figure:
//!
//! * **Where an allocation lies means nothing.** A line gets its number when it is first used. Programs
//!   whose simulations allocate set [`SimHeap`] as their allocator, as `kilocore` does. Each allocation
//!   then has lines of its own, and gets those that were freed last by one of its size. So the types
//!   alone say which words share a line. What words of an allocation share is simulated as it will
//!   happen; what small allocations side by side may share is not.
//! * **Where a frame lies means nothing.** What a waiter keeps on its stack for others to see, it lends
//!   them by [`Platform::with_local`](kilocore_platform::Platform::with_local). A task has a stack of its
//!   own for that, on which each such value begins with a line, behind those that are there already. So
//!   the waits of a task one after the other use the same lines, as they mostly do on hardware, whatever
//!   code they are called from. A word that lies in a frame panics when it is first used.
//!
//! The tests displace both by some bytes ([`displace_memory`]).
//!
//! # Where it departs from its models
//! The method is that of execution-driven simulation with a directory cost model. A core may run
//! ahead of the others on lines that only it holds, by at most the time that another core's request
//! would need to reach it. Within that window the hardware may order the two accesses either way,
//! so the simulator may too. Outside the window, accesses take place in simulated order. This makes
//! private work cheap without making the result depend on the host.
//!
//! The simulator of lock thrashing by Cui and others solves a queueing model by discrete events.
//! Here the lock's own code runs, so a new lock needs no new model.
//!
//! # Decisions
//! * **Ties are broken by seeded chance.** If they were broken by core number, the waiters of a
//!   ticket lock would re-read its line in the order in which they wait. The next holder would
//!   always come first, and the lock would never collapse.
//! * **Stores are buffered.** A store leaves its core at once and takes effect when the line has
//!   arrived. An atomic read-modify-write first waits for the buffer to drain.
//! * **A request passes two queues, one after the other.** The first is at the directory of the
//!   line's home, which is busy with each request for a moment. The second is at the line itself. A
//!   long queue at one line therefore does not hold up the other lines of the same home.
//! * **Some last-level caches serve their cores side by side.** On a machine whose last-level
//!   caches know what their cores hold, a clean line is fetched once below each such cache, and
//!   then any number of cores read it there at the same time. On other machines the home serves
//!   every reader, one after another. This difference makes ticket locks fall further on one
//!   machine than on another.
//! * **A core becomes idle in steps** (`idling`), where the machine file says so. A wake costs less until
//!   then, and may take longer.
//! * **Idle cores go to sleep.** A core that was idle for longer than the machine file says takes
//!   longer to wake. In a convoy of parked waiters each waiter sleeps while the others have their
//!   turn, so convoys are slow for this reason.
//! * **Long waits yield.** A thread that has watched a line for some thousand turns of a spin loop
//!   offers its core to others, natively and in simulation. Otherwise a first-in first-out lock
//!   with more threads than cores would stand still for a time slice at every handover to a thread
//!   that lost its core.
//! * **A futex's hash bucket is a line.** Callers of one futex queue for it as they do in a kernel.
//! * **Memory is fetched by the batch.** `Sim::fetch` queues many lines at once at the channels of
//!   their node and on the link to it. It lets them in as fast as a core's limit of outstanding
//!   misses allows. Bandwidth and latency then limit a program at the cost of one event for a
//!   batch.
//! * **Pages are touched by the batch, and line by line all the same.** `Sim::initialize` and
//!   `Sim::touch` change the owner, the sharers and the places in caches of each line as a single
//!   access does, and say where each was: in the core's own cache, the last level, another core's
//!   cache or memory. But the accesses overlap. So a batch of 64 lines takes as long as the slowest
//!   of what it needs: the core's misses, the memory's channels, the farthest line (`blocks.rs` has
//!   the model, and what a page costs beside published figures). What was written and leaves the
//!   caches passes the channels, too.
//! * **Caches keep each other's rules once pages are touched.** Which line has to leave decides
//!   what the next page costs, so from then on caches are inclusive or not, as the machine file
//!   says, and blocks leave the sets in the order in which they were last used. Without blocks
//!   lines leave in the order in which they came, and a last-level cache that is full takes nothing
//!   from its cores. To change that for all would have moved every simulated figure in docs/.
//! * **Regions have addresses and no bytes.** Even the state of a page's lines is larger than the
//!   page. Only frames that some cache has a line of have lines, so a gigabyte of pages costs the
//!   host a megabyte, and the state stays as small as the simulated caches. Lines of a region find
//!   their set by address, as on hardware. Other lines find it by number, because where the host
//!   puts an object means nothing.
//! * **A woken thread may take a core at once**, if it has had much less processor time than the
//!   thread that runs there. Linux's scheduler treats sleepers in this way, and so holders of locks
//!   lose their cores.
//!
//! # What is not simulated
//! Hardware threads of a core share its cache, and each slows the other's computing down by the
//! machine's `smt_throughput`. Left out are:
//!
//! * instruction fetch
//! * out-of-order overlap of misses, and prefetching, other than in batches
//! * the first-level cache apart from the second, page-table walks, stores that bypass caches, and
//!   uses of single words in the order in which lines leave a cache
//! * what a line costs that comes from another node's last-level cache: it is found in memory
//! * frequency changes
//! * bandwidth between sockets, beyond the queues at lines, homes, memory channels and the links
//!   between nodes' memories
//! * interrupts between cores, which `munmap` sends, for example, and the timer's, but for guests
//! * the balancing of load between cores that are all busy

mod affinity;
mod agenda;
mod blocks;
mod calling;
mod chain;
mod chaining;
mod charging;
mod coherence;
mod copies_below;
mod costs;
mod counters;
mod current;
mod due;
mod engine;
mod executing;
mod execution;
mod fiber;
mod found;
mod futexes;
mod guest_memory;
mod guests;
mod heap;
mod idling;
mod ids;
mod kernel_lock;
mod main_loop;
mod noise;
pub mod occupancy;
mod os;
mod outcome;
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
pub use chain::{Chain, ChainPart, ChainShare, HandOver, Place, Waits};
pub use counters::{CoRun, LockTimes, MachineView, RunState, TaskCounters, TaskView};
pub use due::Answer;
pub use found::Found;
pub use guest_memory::Filter;
pub use guests::{Guest, GuestAccess, Guests, Newborn};
pub use heap::{SimHeap, displace_memory};
pub use ids::{CoreSet, SimAddress, TaskId};
pub use outcome::{Activity, LineTraffic, Outcome, TaskTimes};
pub use platform::futex::Requeued;
pub use platform::{Sim, SimCell, SimPtr, SimU32, SimU64, SimUsize};
pub use random::Random;
pub use region::{SimBlock, SimRegion};
pub use scheduler::{Move, ReadyTask, Scheduler};
pub use simulation::{Options, SimError, Simulation, longest_run};
pub use stream::MOST_OVERLAP;
pub use uncached::{Reference, ReferenceKind, UncachedMemory};
