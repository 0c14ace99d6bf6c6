//! Experiments with schedulers, in one program.

mod cache;
