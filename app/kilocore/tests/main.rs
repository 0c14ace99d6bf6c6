//! The command line, as its users meet it.

mod bad_input;
mod command_line;
mod common;
mod files;
mod house;
mod install;
mod left_alone;
mod locate;
mod measure_trace;
mod numa_advise;
mod pages;
mod pages_run;
mod quota;
mod read_write;
mod references;
mod tables;
