//! Writes the tables of `docs/evidence/replicated.md`.
//!
//! ```text
//! kilocore-replicated-data [--quick] [--page FILE]
//! ```
//! Measured are medians over rounds in which everything is measured once, with quartiles, and medians of the
//! ratios within a round. Simulated figures are the same on every host.

use std::env;
use std::process::ExitCode;

use kilocore_comparisons::page::put_tables;
use kilocore_sim::SimHeap;

use kilocore_comparisons::replicated_data::tables::{
    Effort, MEASURED, SIMULATED, measured, simulated,
};

/// Simulated memory lies the same way every time.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

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
    let simulated = simulated(effort)?;
    let measured = measured(effort);
    let Some(path) = page else {
        print!("{simulated}{measured}");
        return Ok(());
    };
    put_tables(&path, &[(SIMULATED, &simulated), (MEASURED, &measured)])
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("kilocore-replicated-data: {message}");
            ExitCode::from(2)
        }
    }
}
