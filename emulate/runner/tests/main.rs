//! Programs on simulated machines.

mod causes;
mod closed_forms;
mod ends;
mod seen;
mod simulated;
mod support;
