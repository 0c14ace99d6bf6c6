//! What the papers say holds on the simulated machines as well.

mod displaced;
mod ldu;
mod lru;
mod numa_programs;
mod sched;

/// Simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;
