//! What the checkers find, or do not find, in the pool.

mod loom;
mod scarce;
mod shared;
mod shuttle;
mod watched;
