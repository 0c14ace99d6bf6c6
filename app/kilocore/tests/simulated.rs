//! What the program only computes, with fixed seeds: `tools/once` does not run it again while no file of the
//! checkout has changed.

mod common;
mod fit;
