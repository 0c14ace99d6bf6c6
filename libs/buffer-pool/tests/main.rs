//! What the checkers find, or do not find, in the pool.

mod durable;
mod loom;
mod memory;
mod shuttle;
