//! `kilocore-watched`: trials of the watcher on planted programs.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use kilocore_planted::Program;
use kilocore_watched::{Expected, How, Score, Trial, Work, table};

/// Has planted programs watched from outside, and compares with what they say themselves.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    /// Only programs whose names contain one of these
    programs: Vec<String>,
    /// How often each program is run
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Only this way to get to the program
    #[arg(long)]
    how: Option<How>,
    /// How many threads each has
    #[arg(long, default_value_t = 3)]
    threads: usize,
    /// How long they hold the lock, in microseconds
    #[arg(long, default_value_t = 20)]
    hold: u64,
    /// How long they compute between, in microseconds
    #[arg(long, default_value_t = 50)]
    think: u64,
    /// How long each run is watched, in seconds
    #[arg(long, default_value_t = 3.0)]
    duration: f64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Ok(watched) = Duration::try_from_secs_f64(arguments.duration) else {
        eprintln!("kilocore-watched: --duration {} is no time", arguments.duration);
        return ExitCode::from(2);
    };
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let wanted = |program: &&Program| {
        let parts = &arguments.programs;
        parts.is_empty() || parts.iter().any(|part| program.name().contains(part.as_str()))
    };
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut failures = 0_u64;
    for _ in 0..arguments.runs {
        for program in Program::all().iter().filter(wanted) {
            for how in [How::Attached, How::Started] {
                if arguments.how.is_some_and(|only| only != how) {
                    continue;
                }
                let name = format!("{} {}", program.name(), format!("{how:?}").to_lowercase());
                eprint!("\r\x1b[K{name}");
                let (hold, think) =
                    Expected::times(program.name(), (arguments.hold, arguments.think));
                let work = Work {
                    threads: arguments.threads,
                    hold: Duration::from_micros(hold),
                    think: Duration::from_micros(think),
                    watched,
                };
                match Trial::run(&kilocore, program, how, &work) {
                    Ok(trial) => scores.entry(name).or_default().add(&trial),
                    Err(error) => {
                        eprintln!("\r\x1b[K{name}: {error}");
                        failures += 1;
                    }
                }
            }
        }
    }
    eprint!("\r\x1b[K");
    println!("{}", table(&scores));
    for (name, score) in &scores {
        for instead in &score.instead {
            println!("{name}: first came {instead}");
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
