//! Telling a loop that waits for another thread from one that works, by its code.
//!
//! From a sampled address, code is read on, both ways at branches, into functions that are called and out
//! of the one that the thread was found in ([`spin_loop`], `walk.rs`). If it comes back to where it was
//! within a few instructions, that is a turn of a loop. Along it, what is known of registers and of words
//! on the thread's own stack is kept (`turn.rs`), since code that was not optimized keeps all its variables
//! there. If a turn reads memory, writes none but its own stack, and leaves nothing for the next turn to go
//! on from, then all turns are the same until somebody else writes to that memory. So the thread waits for
//! somebody else. A search, a walk along a list and a generator of random numbers all make something from
//! what it was a turn before (`spin.rs`).
//!
//! Four things are allowed besides:
//!
//! * A loop with `pause` says itself that it waits, and may count its turns.
//! * Any other may count its turns if a branch leaves it by what it read alone, and if no address is made
//!   of the count.
//! * A turn may try to take a lock by an exchange, which changes nothing while another has it. Such a turn
//!   looks the same when the lock is free and taken at once, so [`SpinLoop::tries`] tells of it.
//! * It may let other threads run by `sched_yield`.
//!
//! What cannot be told is not taken for waiting: a loop of more than some sixty instructions, one that
//! writes to memory, one that calls through a pointer, and one that makes of a word more than a count, such
//! as a random number, while it waits for another word.

mod answers;
mod code;
mod sampled;
mod spin;
mod turn;
mod value;
mod walk;

pub use answers::Answers;
pub use sampled::{COUNT, SAMPLED, STACK_POINTER, place};
pub use spin::SpinLoop;
pub use value::{Address, Base};
pub use walk::{Answer, spin_loop};

#[cfg(test)]
mod tests;
