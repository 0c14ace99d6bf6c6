//! Telling a loop that waits for another thread from one that works, by its code.
//!
//! From a sampled address, code is read on, both ways at branches. If it comes back to where it was
//! within a few instructions, that is a turn of a loop ([`spin_loop`]). If a turn reads memory, writes
//! none, and leaves nothing for the next turn to go on from, then all turns are the same until
//! somebody else writes to that memory. So the thread waits for somebody else. A search, a walk along a
//! list, a countdown and a generator of random numbers all make something from what it was a turn before
//! (`turn.rs`).
//!
//! Two things are allowed besides. A loop with `pause` says itself that it waits, and may count its turns.
//! And a turn may try to take a lock by an exchange, which changes nothing while another has it. Such
//! a turn looks the same when the lock is free and taken at once, so [`SpinLoop::tries`] tells of it.
//!
//! What cannot be told: a loop that counts its turns without `pause` may wait or work, and so may one that
//! calls a function. Neither is taken for waiting.

mod code;
mod turn;

pub use code::{REACH, spin_loop};
pub use turn::SpinLoop;

#[cfg(test)]
mod tests;
