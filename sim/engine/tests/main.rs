//! Simulations of small programs.

mod blocks;
mod execution;
mod features;
mod guests;
mod locals;
mod long;
mod machine;
mod occupancy;
mod scheduling;
mod stream;
mod uncached;
