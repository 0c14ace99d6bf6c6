//! Compares pools with plain models, and uses real pages, on this host.

mod certain;
mod huge_pages;
mod model;
mod pool;
mod process;
mod tiers;
