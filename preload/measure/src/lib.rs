//! `libkilocore_measure.so`: put under an unmodified program with `LD_PRELOAD`, records what its
//! locks do in a file of the directory that `KILOCORE_MEASURE_DIR` names.
//!
//! # How
//! The library exports the pthread lock functions. Each wrapper calls the C library's own
//! function, which keeps all semantics, and notes the time before and after. Where nobody can tell
//! the difference a lock is first tried; only when that fails has the acquisition to wait and is
//! its wait measured. Elsewhere (robust mutexes, those with a priority protocol, deadlines) a look
//! at the lock says whether it is busy, and what the program called is all that is called. Numbers go
//! into a shared mapping of a file ([`kilocore_lock_recording`]) that is valid at every instant, so
//! that nothing is lost when the program ends without a word.
//!
//! # What keeps it cheap
//! * A lock's record is found through a number kept in bytes of the lock object that glibc does
//!   not use for that kind of lock ([`object`]); for the kinds that have no such bytes, through
//!   a hash table of addresses ([`registry`]).
//! * Counters are sharded so that recording moves no cache line between cores; most are written
//!   with plain loads and stores under the protection of the very lock they describe
//!   ([`counters`], [`shards`]).
//! * A thread that takes locks in quick succession times some of its sections only, and these
//!   stand for the others ([`sampling`]). What is counted is counted always.
//! * The clock is read with `rdtscp`: it waits for the loads before it, so that the cache misses
//!   of a critical section are counted in it and those of taking the lock are not, and it tells
//!   the core, too ([`clock`]).
//! * Per-thread state is a variable in the initial thread-local storage, one instruction away
//!   ([`thread`]).
//!
//! # Rules
//! Those of [`kilocore_preload_common`], and: whatever goes wrong (no directory, a full disk, a table
//! that overflows), the program runs on and is recorded in part or not at all.

mod acquire;
mod away;
mod calibration;
mod callers;
mod clock;
mod confined;
mod confinement;
mod counters;
mod debt;
mod environment;
mod file;
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
