//! What the checkers find, or do not find.

mod common;
mod loom;
mod planted;
mod shuttle;
mod twin;
