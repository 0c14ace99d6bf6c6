//! What the checkers find, or do not find, in the lists.

mod loom;
mod shuttle;
