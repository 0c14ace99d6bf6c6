//! The command line, as its users meet it.

mod bad_input;
mod command_line;
mod common;
mod files;
mod fit;
mod house;
mod install;
mod left_alone;
mod locate;
mod measure_trace;
mod numa_advise;
mod numa_run;
mod pages;
mod pages_run;
mod quota;
mod read_write;
mod simulate;
mod simulate_ldu;
mod simulate_lru;
mod simulate_numa;
mod simulate_pages;
mod simulate_sched;
