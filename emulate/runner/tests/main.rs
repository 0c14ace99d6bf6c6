//! Programs on simulated machines.

mod closed_forms;
mod ends;
mod seen;
mod support;
