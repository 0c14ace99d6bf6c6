//! The command line, as its users meet it.

mod bad_input;
mod cache;
mod command_line;
mod common;
mod compare_locks;
mod emulate;
mod emulate_ended;
mod files;
mod house;
mod install;
mod left_alone;
mod locate;
mod measure_trace;
#[path = "common/measured.rs"]
#[allow(dead_code)] // each test program uses its part
mod measured;
mod not_started;
mod numa_advise;
mod pages;
mod pages_run;
mod printed;
mod quota;
mod read_write;
mod references;
mod sections;
mod sweep;
mod tables;
