//! Tests of the recorder with real programs.

mod common;
mod lost;
mod other_users;
mod programs;
mod unchanged;
