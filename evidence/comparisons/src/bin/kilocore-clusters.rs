//! Writes the tables of `docs/evidence/clusters.md`.
//!
//! ```text
//! kilocore-clusters [--quick] [--page FILE]
//! ```
//! Simulated figures are the same on every host, apart from the time that the coordinator takes.

use std::process::ExitCode;

use kilocore_comparisons::clusters::overhead::{POINTS, add_up, overhead};
use kilocore_comparisons::clusters::{measured::measured, simulated::simulated};
use kilocore_comparisons::command::run;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, count, sweep] = words.as_slice()
        && word == POINTS
    {
        return points(count, sweep);
    }
    run("kilocore-clusters", |effort| {
        let measured = measured(effort).map_err(|error| format!("a temporary folder: {error}"))?;
        let overhead = overhead(effort)?;
        Ok(vec![("simulated", simulated(effort)), ("measured", measured), ("overhead", overhead)])
    })
}

/// What the program does as the command of a sweep.
fn points(count: &str, sweep: &str) -> ExitCode {
    let numbers = count.parse().ok().zip(sweep.parse().ok());
    let numbers = numbers.ok_or_else(|| format!("{count} {sweep}: give two numbers"));
    match numbers.and_then(|(count, sweep)| add_up(count, sweep)) {
        Ok(sum) => {
            println!("{sum}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("kilocore-clusters: {message}");
            ExitCode::from(2)
        }
    }
}
