//! Simulations of small programs.

mod blocks;
mod execution;
mod features;
mod long;
mod machine;
mod scheduling;
mod stream;
mod uncached;
