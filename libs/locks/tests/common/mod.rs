//! What the checkers run: small programs, generic over the lock and the platform.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod moderated;
pub mod programs;
pub mod read_write;
pub mod side_queues;
pub mod twins;

pub use kilocore_checking::{self as altered, Threads, explore, explore_part, model, verdict};
