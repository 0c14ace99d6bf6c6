//! Simulations of small programs.

mod address_space;
mod blocks;
mod chain;
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
