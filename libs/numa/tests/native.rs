//! Compares with plain data, and uses real threads, on this host.

mod model;
mod panics;
mod placed;
mod threads;
