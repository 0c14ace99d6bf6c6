//! The recorder under real programs.

mod common;
mod lost;
mod programs;
mod unchanged;
