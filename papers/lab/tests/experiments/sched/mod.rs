//! Experiments with schedulers, in one program.

mod cache;
mod driver;
mod locks;
