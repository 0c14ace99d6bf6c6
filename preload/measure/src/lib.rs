//! `libkilocore_measure.so` is preloaded under an unmodified program with `LD_PRELOAD`. It records
//! what the program's locks do, in a file in the directory that `KILOCORE_MEASURE_DIR` names.
//!
//! # How it works
//! The library exports the pthread lock functions. Each of these wrappers calls the C library's own
//! function, so nothing changes for the program, and notes the time before and after. If the
//! program cannot tell the difference, the wrapper first tries the lock. Only if that fails does
//! the acquisition have to wait, and its wait is measured. In the other cases (robust mutexes,
//! mutexes with a priority protocol, deadlines) the wrapper looks at the lock object to see whether
//! the lock is held, and calls only the function that the program called. The numbers are written
//! into a shared mapping of a file ([`kilocore_lock_recording`]). The file is valid at every
//! instant, so nothing is lost if the program ends suddenly.
//!
//! # What keeps it cheap
//! * The number of a lock's record is kept in bytes of the lock object that glibc does not use for
//!   that kind of lock ([`object`]). For kinds without such bytes, the record is found by a hash
//!   table of addresses ([`registry`]).
//! * Counters are sharded, so recording transfers no cache line between cores. Most counters are
//!   written with plain loads and stores, because they are protected by the lock that they describe
//!   ([`counters`], [`shards`]).
//! * A thread that takes locks in quick succession times only some of its sections, and these stand
//!   for the others ([`sampling`]). Counts are always complete.
//! * The clock is read with `rdtscp`. This instruction waits for the loads before it. So the cache
//!   misses of a critical section are part of its time, and those of taking the lock are not. It
//!   also returns the core ([`clock`]).
//! * The state of a thread is a variable in initial thread-local storage, which takes one
//!   instruction to find ([`thread`]).
//!
//! # Rules
//! The rules of [`kilocore_preload_common`] hold. In addition, whatever goes wrong (no directory, a
//! full disk, a table that overflows), the program goes on, and is recorded in part or not at all.
//! A recording belongs to the process alone ([`folder`], [`broker`]), and still nothing that is read
//! from it decides where the program reads or writes: a number of a block is used only if the block
//! lies inside the recording ([`recorder`]), and what is handed out next is not kept there.
//!
//! # Decisions
//! * **A call returns what glibc would return.** The recorder tries a lock first, to see whether it
//!   would have to wait, only where nobody can notice the try. A try changes the state of a robust
//!   mutex that is beyond help, may change priorities, and ignores deadlines. A test goes through
//!   every kind of lock, call and state, with and without the recorder.
//! * **Holding and thinking are counted in processor time.** A short interval counts whole. For a
//!   long interval the thread's processor clock says how much of it was processor time. Sleep is
//!   counted apart, and time without a core not at all, so that no thread holds a lock for longer
//!   than the processor ran.
//! * **Sections are sampled, and their weights bounded.** A section that was timed stands for those
//!   that were passed over, but never for more time than the thread has run and not yet accounted
//!   for. Unbiased weights alone would let one long section among a thousand short ones stand for
//!   more time than there was.
//! * **Threads have numbers, and shards have slots.** Counters of readers are kept in 32 slots. The
//!   owner of a lock is looked up among 4,096 numbers.
//! * **The rate of stack walks is limited.** A walk takes microseconds, so each thread makes at
//!   most one in half a millisecond, before it asks for the lock. The walks tell how the exact
//!   counts of a lock divide among its callers.
//! * **A confined process is left in peace.** Before the process enters seccomp or another root,
//!   the recorder fetches what it needs; afterwards it makes no system call. In a file beside the
//!   recordings, or in its recording, it says what it cannot record.
//! * **A recording grows without a descriptor and without rights** (`file.rs`). The file is as long
//!   as it may become, and mostly a hole; `MADV_POPULATE_WRITE` fills in the next part or says that
//!   there is no room. It does not grow once its folder is gone.
//! * **What is read from a recording leads nowhere else.** It is memory that others might reach
//!   after all. A number of a block is compared with the size of the recording, which is kept
//!   elsewhere, as is what is handed out next. One comparison suffices, as a block begins only
//!   where the largest would have room; it costs nothing that a comparison of runs shows (5 million
//!   uncontended locks and unlocks of a mutex in a loop took 20.1 ns each, and 20.5 ns before;
//!   lower quartiles of 25 interleaved runs).

mod acquire;
mod away;
mod broker;
mod calibration;
mod callers;
mod clock;
mod confined;
mod confinement;
mod counters;
mod debt;
mod descriptors;
mod environment;
mod executed;
mod file;
mod folder;
mod held;
mod hooks;
mod lack;
mod listed;
mod lost;
mod mode;
mod modules;
mod object;
mod pace;
mod patience;
mod recorder;
mod registry;
mod release;
mod sampling;
mod shards;
mod sites;
mod state;
mod think;
mod thread;
mod walk;
