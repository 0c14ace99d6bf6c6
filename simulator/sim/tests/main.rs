//! Simulations of small programs.

mod features;
mod long;
mod machine;
mod stream;
