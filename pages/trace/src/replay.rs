//! A recorded trace of a program's pages, done again on this host by any policy of the page pool.
//!
//! A thread on each processor does in the trace's order what the trace's threads did that were dealt to it
//! ([`Script`](crate::Script)): it allocates pages of a real pool, makes them zero, and releases
//! them. Nobody waits for the times of the recording, so it takes less time than the program did; who releases
//! a page waits until it has been allocated.
//!
//! What the program did with its memory no trace says. As in the simulation of traces, that is left to two
//! figures ([`Program`]).
//!
//! Each initialization is measured with the time-stamp counter, between fences, so that it has reached the
//! cache. Times of allocations and releases are without fences.

mod dealt;
mod measured;
mod memory;
mod results;
mod sizes;

pub use dealt::{Program, Replay, ReplayError};
pub use measured::Measured;
pub use memory::fenced_now;
pub use results::Results;
pub use sizes::{kernel_lists, sizes_here};
