//! The readers of sampled profiles, on real, damaged and hostile files.

mod bad_input;
mod common;
mod golden;
mod gperftools;
mod hostile;
mod perf_record;
mod processors;
mod round_trip;
