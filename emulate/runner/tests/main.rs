//! Programs on simulated machines.

mod causes;
mod closed_forms;
mod ends;
mod kept;
mod seen;
mod simulated;
mod support;
