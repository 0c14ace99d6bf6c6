//! The locks of any program, seen from outside: in any language, linked statically or not, also of
//! one that runs already.
//!
//! # How
//! 1. In a short window, all switches of threads are recorded (`cores`, or `threads` and `looks`
//!    where the kernel shows an ordinary user only his own; `off_core`). They tell which words
//!    threads wait for (`calls`); a timer tells which they spin on (`spins`), and calls of some
//!    functions which goroutines wait for (`slow_paths`).
//! 2. In most windows the worst words are watched by the processor (`watchpoints`). The instruction
//!    before each hit tells what was written (`instruction`, `history`), and all of them together
//!    what it means (`pairing`, `model`).
//!    Where the kernel may be traced (`traces`), it says who woke whom, and who waited for one of its
//!    own locks (`contention`).
//! 3. Times are taken less what the hits cost (`cost`, `figures`), and the rest becomes a profile
//!    (`document`).
//!
//! [`watch`] does all that until it is told to stop.
//!
//! # Decisions
//! * **Everything is recorded in short windows.** A hit of a watchpoint costs a microsecond, and
//!   twelve in a virtual machine. So a pause follows each window, as long as the window's cost
//!   demands: all together takes twelve thousandths of the cores, by estimate, and four thousandths
//!   after three seconds, when most is known. Of the servers in `docs/evidence/servers.md`, some
//!   lost nothing and some four times what was meant. With two per cent all the time, one lost 8 %.
//!   Pauses are random in part, so that windows do not keep step with the program.
//! * **Nothing cheaper counts acquisitions from outside.** Tried in a virtual machine, on locks
//!   that are taken two to four million times a second: a probe in the code of
//!   `pthread_mutex_unlock` costs 10.5 µs a hit, as a watchpoint does, because every trap leaves
//!   the virtual machine. Reading the lock's word again and again costs the program nothing, but a
//!   reading by `process_vm_readv` takes 0.4 µs, in which such a lock changes hands once or more
//!   often, and the share of readings that found it taken was half to nearly all of the truth. So
//!   locks that are held for less than a hit's cost have open intervals.
//! * **Switches tell which words to watch.** A thread that goes to sleep has the futex's word among
//!   its registers. The number of the system call is not among them; the code before the call tells
//!   it, or the code of its caller. A thread that spins is found by a timer, by its code
//!   (`kilocore_symbols::spin_loops`). Goroutines, and threads at locks that let each sleep on a word of its
//!   own, call a slow path with the lock as its argument. Such calls are watched in some windows
//!   (`slow_paths.rs`). A goroutine waits from there, or from where it parks, until `runtime.ready`
//!   is called for it. Time in loops that wait is apart from computing (`spinning` in
//!   `kilocore_lock_profile::thread_account`), and where there is much of it, it is not said that nothing is
//!   contended.
//! * **The instruction tells what a write did.** A watchpoint reports after the write. The
//!   instruction before is the one that, with the registers as they are, writes to just that word.
//!   A failed compare-and-swap is told apart from one that succeeded by the flags
//!   (`instruction.rs`). What a write does not tell, the writes before and after it tell
//!   (`history.rs`).
//! * **Nobody says what a lock's bits mean.** Several meanings are tried. The right one is the one
//!   by which threads take and give back in turn (`pairing.rs`, `model.rs`). A word for which there
//!   is none is no lock.
//! * **The cost of a hit is measured before each window, and taken off.** Our own thread pays a
//!   little less for a hit than the program's threads do, so that part is a constant with a margin.
//!   Only windows count for times in which nothing else was watched and no stacks were copied
//!   (`figures.rs`). If there are no such windows, the hits at other words are taken off as well.
//! * **A cost that is nearly all of the time leaves the figure open.** Of a section that lasts less
//!   than what the cost of its hits is uncertain by, only an upper end is known. The interval has
//!   to say that, whatever the best guess is (`queue.rs`, `progress.rs`).
//! * **A thread that is ready and has no core does not run**, though the system says so. In a
//!   window in which the timer ticks a few times and never finds it, it had no core.
//! * **Acquisitions come from processor time** (`progress.rs`). Hits hold threads up, and these
//!   hold up others, on cores and at locks. What a thread computes from one acquisition to the next
//!   stays the same, less the hits. The system counts exactly what the program computes in the
//!   whole run, and so the ratio is the number of acquisitions. Where waiters spin, that does not
//!   hold. Then, and where threads hardly compute, rates are corrected by a closed queue, or come
//!   from windows in which few of the threads are watched. Of these ways, the one with the
//!   narrowest interval counts: its upper end is the fewest times its lower one.
//! * **Windows with stacks are as short as their buffers demand** (`session.rs`). A copy takes
//!   eight kilobytes. Where threads leave their cores ten thousand times a second, buffers are full
//!   long before a survey's end, and a window with losses tells nothing. So it is shortened until
//!   nothing is lost.
//! * **The kernel says who wakes whom and who waits for its own locks, where it may be traced**
//!   (`traces.rs`, `contention.rs`). Three of its trace points tell: that a thread is about to be
//!   woken, that one begins to wait for a lock of the kernel, and that it has the lock. What an
//!   interrupt does is not blamed on the thread that it interrupts. Spinning in the kernel is then
//!   waiting and not computing, and a thread that sleeps for such a lock does not seem to wait for
//!   what its system call is for. The fields of the records are described in tracefs, which many
//!   machines have not mounted. Whoever may mount it gets a mount without a place, which ends with
//!   its descriptor. The events stay open and are on in windows only, because to open one changes
//!   the kernel's code. Locks of the kernel have no names in memory; the function that acquires
//!   one, and a short table, name it.
//! * **Whoever wrote last to a condition's word gave its waiter what it waited for** (`wakers.rs`),
//!   where the kernel may not be traced. Waiters that come back write there as well, and that write
//!   tells nothing. Only windows in which the word is watched show this, a few per cent of the
//!   time; the other waits of a role at that word are taken to be for the same (`locks/profile`, `findings.rs`).
//! * **Threads of one name are told apart by the function that each is in all the time**
//!   (`functions.rs`). The first depth of their stacks counts at which they differ, from the
//!   outermost function inwards. What one thread does in turn tells nothing of what it is.
//! * **Goroutines pair acquisitions and releases, not threads.** A goroutine may take a lock on one
//!   thread and give it back on another. Its address is in a register (`history.rs`).
//! * **The C library's read-write locks have a word for waiters and another for holders.** Their
//!   waiters sleep on the former. A return address in the C library's code on the waiter's stack
//!   says so, and then the latter is watched. A reader who announces himself while a writer has the
//!   lock, or a writer while readers have it, has still to wait: such sections count, but not as
//!   holds.
//! * **A Java virtual machine says where its threads wait** (`java.rs`). Its locks are objects
//!   without names, and compiled code keeps no frames that others could follow. So it is asked a
//!   few times, by a thread of ours, as it may be slow.
//! * **A Java virtual machine's memory says which words its locks are** (`java_locks.rs`, and
//!   `inside.rs` in `kilocore_lock_watcher::java_threads`). Its waiters sleep on words of their own. But a thread
//!   that waits for a monitor notes for which, and one that parks notes for which object. After
//!   each window, some threads are looked at. This needs no watchpoints, and it stops nothing.
//!   HotSpot has a table of its own fields for such tools, so no offset is guessed. A monitor's
//!   word tells its owner; a synchronizer's is its `state`.
//! * **Who gives a monitor back may take it once more.** If there are waiters and none of them is
//!   awake, it does that to choose whom to wake. That is no acquisition. Only the code tells, which
//!   is that of `ObjectMonitor::exit`. Without a symbol table of `libjvm.so` there is no telling,
//!   and so monitors are not watched.
//! * **What no longer is that lock is not watched.** An idle monitor may be deflated, and then its
//!   place for the object's address is another one. A synchronizer may be moved by any collection,
//!   and the machine counts these. Both are looked at before and after each window, and a window in
//!   between is thrown away. What was known of a deflated monitor is forgotten. A lock that was
//!   moved takes along what was known, if it is the only one of its class that a thread was not yet
//!   found waiting for again. If it is one of several, each new place counts as a lock of its own,
//!   and those that were not found again are left out.
//! * **Stretches off the core that began before a window have no reason.** On average they are as
//!   long as those that go on after it. So the latter count twice.
//! * **Ordinary users follow their own threads** (`threads.rs`, `source.rs`). The kernel refuses
//!   them events of whole cores, and gives events of a thread. Each thread has a buffer for these,
//!   as large as the user's share of locked memory allows. New threads do not inherit them, because
//!   the kernel gives inherited events a buffer only if there is one event for each thread and
//!   core, which needs too many descriptors. If there are too many threads, a random part is
//!   followed. The others count as threads without switches: they are looked at once a window, and
//!   stand for all of it.
//! * **What was not watched is set against what the process computed** (`covered.rs`). Threads that
//!   begin in a window are watched from the next one on, and of very many threads only those are
//!   that were seen to do anything. The system counts the processor time of the whole process. If
//!   the watched threads had less than half of it, only waits are told, and the profile says so in
//!   `left_out`.
//! * **A process is told from the program that it executes next by its image** (`Image` in
//!   `kilocore_linux`): where its code ends, and where its stack and environment begin. A
//!   window in which it changed is thrown away, and what was known of the former program is
//!   forgotten. Figures of a process stand for the time that it was there, not for the whole
//!   measurement.
//! * **What the kernel hides, the processor shows.** By default, ordinary users see switches
//!   without registers. `/proc` tells in which call a thread sleeps, but most waits end without a
//!   look, and long ones are looked at more often. So looks (`looks.rs`) are only used to find the
//!   places that enter the kernel. There, execution breakpoints show every call with its number and
//!   its arguments. They delay the threads that wait, so they are never set while words are
//!   watched.
//! * **Where only waits can be seen, there is no forecast.** Java's `Semaphore`, for example, lets
//!   each thread sleep on a word of its own. Such locks have their place, their kind and their
//!   waits, and no acquisitions.

mod allowance;
mod budget;
mod calls;
mod constants;
mod contention;
mod cores;
mod cost;
mod covered;
mod document;
mod error;
mod estimate;
mod events;
mod family;
mod figures;
mod functions;
mod history;
mod ids;
mod instruction;
mod java;
mod java_locks;
pub mod java_threads;
mod ledger;
mod looks;
mod memory;
mod model;
mod off_core;
mod pairing;
mod progress;
mod queue;
mod registers;
mod samples;
mod session;
mod slow_paths;
mod source;
mod span;
mod spins;
mod spun;
mod stored;
mod threads;
mod times;
mod traces;
mod unnamed;
mod wakers;
mod watch;
mod watched;
mod watchpoints;
mod window;
pub mod word_names;

pub use error::WatchError;
pub use family::ProcessScope;
pub use ids::Pid;
pub use watch::{Options, check, check_file, possible, watch};
