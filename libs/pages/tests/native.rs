//! Compares pools with plain models, and uses real pages, on this host.

mod certain;
mod model;
mod pool;
mod process;
mod tiers;
