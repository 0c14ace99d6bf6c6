//! Reports, seen from outside.

mod answers;
mod files;
mod fit;
mod page;
mod sample;
mod tables;
mod threads;
mod waits;
