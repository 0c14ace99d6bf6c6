//! All tests of the crate, in one program.

mod beside;
mod planted;
mod planted_programs;
