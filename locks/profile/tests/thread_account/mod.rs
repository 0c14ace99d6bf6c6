//! The account as its users see it: events in, times out.

mod activities;
mod crowd;
mod findings;
mod program;
mod properties;
mod waits;
