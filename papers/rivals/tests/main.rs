//! Every rival through the same suite: alone, on threads, under the checkers, simulated.

#[macro_use]
mod common;
mod alone;
mod broken;
mod loom;
mod misuse;
mod rmap;
mod shuttle;
mod simulated;
mod together;
