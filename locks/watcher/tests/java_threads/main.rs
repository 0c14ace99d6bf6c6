//! All tests of this crate that are no unit tests, linked once.

mod inside;
mod odd_dumps;
mod planted;
mod properties;
mod recorded;
mod running;
