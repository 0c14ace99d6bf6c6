//! The page pool beside the pools of Linux, LLFree, mimalloc, jemalloc and the kernel, on this machine.
//!
//! * **Cost**: threads allocate pages and release them, without using them.
//! * **Latency**: a page is initialized on one core and released on another (`latency`).
//!
//! ```text
//! kilocore-page-pools [--quick] [--page FILE]
//! ```
//! Printed, or put into a page, are tables: medians over rounds in which everything is measured once, with
//! quartiles, and medians of the ratios within a round.

use std::env;
use std::process::ExitCode;

use kilocore_comparisons::page::put_tables;

use kilocore_comparisons::page_pools::tables::{BETWEEN, Effort, tables};

/// What the command line asks for.
struct Request {
    effort: Effort,
    page: Option<String>,
}

fn request(mut words: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request { effort: Effort::FULL, page: None };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => request.effort = Effort::QUICK,
            "--page" => request.page = Some(words.next().ok_or("--page: say which")?),
            _ => return Err(format!("{word}: there are only --quick and --page FILE")),
        }
    }
    Ok(request)
}

fn run() -> Result<(), String> {
    let Request { effort, page } = request(env::args().skip(1))?;
    let tables = tables(effort)?;
    let Some(path) = page else {
        print!("{tables}");
        return Ok(());
    };
    put_tables(&path, &[(BETWEEN, &tables)])
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("kilocore-page-pools: {message}");
            ExitCode::from(2)
        }
    }
}
