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
