//! Experiments with schedulers, in one program.

mod cache;
mod driver;
mod locks;

/// What simulations print the same bytes with.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;
