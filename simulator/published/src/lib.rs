//! Published figures, simulated anew.
//!
//! An experiment is a module: it says which figure it is of, where each of its parameters comes
//! from, runs the code that ships on a simulated machine, and has the published figures beside its
//! own. `kilocore simulate` is its command line.

pub mod ldu;
