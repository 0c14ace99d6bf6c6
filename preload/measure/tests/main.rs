//! Tests of the recorder with real programs.

mod common;
mod lost;
mod programs;
mod unchanged;
