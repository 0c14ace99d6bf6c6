//! What the checkers find, or do not find, in the pool.

mod loom;
mod shuttle;
mod watched;
