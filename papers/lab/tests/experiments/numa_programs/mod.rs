//! The programs on real threads and on simulated ones.

mod common;
mod natively;
mod parameters;
mod simulated;
mod sizes;
