//! numa
mod run;
pub use run::{Outcome, run};
