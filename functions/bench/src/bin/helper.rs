//! The helper processes of a program that measures, for this crate's own tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    kilocore_kernel_bench::helper(&words)
}
