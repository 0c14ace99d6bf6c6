//! Programs with the pool under them do what they do without it.

mod c_programs;
mod common;
mod real_programs;
mod redis;
mod settings;
