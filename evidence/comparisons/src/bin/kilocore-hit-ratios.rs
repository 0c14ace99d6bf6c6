//! Measures the hit ratios of page lists, and writes the tables of a page.
//!
//! ```text
//! kilocore-hit-ratios [--uses N] [--page FILE]
//! ```

use std::process::ExitCode;
use std::{env, thread};

use kilocore_comparisons::hit_ratios::page::{BETWEEN, tables};
use kilocore_comparisons::page::put_tables;

/// So many uses a trace has, if nobody says otherwise.
const USES: u32 = 10_000_000;

/// What the command line asks for.
struct Request {
    uses: u32,
    page: Option<String>,
}

fn request(mut words: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request { uses: USES, page: None };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word}: say which"))?;
        match word.as_str() {
            "--uses" => {
                request.uses = value.parse().map_err(|e| format!("--uses {value}: {e}"))?;
            }
            "--page" => request.page = Some(value),
            _ => return Err(format!("{word}: there are only --uses N and --page FILE")),
        }
    }
    Ok(request)
}

fn run() -> Result<(), String> {
    let Request { uses, page } = request(env::args().skip(1))?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tables = tables(uses, threads);
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
            eprintln!("kilocore-hit-ratios: {message}");
            ExitCode::from(2)
        }
    }
}
