//! Reports, seen from outside.

mod files;
mod page;
mod sample;
mod tables;
