//! The data set, and what the program makes of it.

mod bad_input;
mod lock_names;
mod profiles;
