//! The libraries beside the best of their kind, measured on this machine or simulated.
//!
//! Each comparison is a module and a program, which writes the tables of a page in `docs`. What is
//! measured is measured in [`rounds`].
#![warn(missing_docs)]

pub mod clusters;
pub mod command;
pub mod hit_ratios;
pub mod page_pools;
pub mod replicated_data;
pub mod rounds;
