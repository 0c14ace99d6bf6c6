//! `kilocore-watched`: trials of the watcher on planted programs.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
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

impl Arguments {
    /// What a program does.
    fn work(&self, program: &Program, watched: Duration) -> Work {
        let (hold, think) = Expected::times(program.name(), (self.hold, self.think));
        let [hold, think] = [hold, think].map(Duration::from_micros);
        Work { threads: self.threads, hold, think, watched }
    }
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
    let ways = [How::Attached, How::Started];
    let ways = ways.into_iter().filter(|how| arguments.how.is_none_or(|only| only == *how));
    let trials: Vec<(&Program, How)> = (0..arguments.runs)
        .flat_map(|_| Program::all().iter().filter(wanted))
        .flat_map(|program| ways.clone().map(move |how| (program, how)))
        .collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    let bar = ProgressBar::new(trials.len() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut failures = 0_u64;
    for (program, how) in trials {
        let name = format!("{} {}", program.name(), format!("{how:?}").to_lowercase());
        bar.set_message(name.clone());
        match Trial::run(&kilocore, program, how, &arguments.work(program, watched)) {
            Ok(trial) => scores.entry(name).or_default().add(&trial),
            Err(error) => {
                bar.suspend(|| eprintln!("{name}: {error}"));
                failures += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{}", table(&scores));
    for (name, score) in &scores {
        for instead in &score.instead {
            println!("{name}: first came {instead}");
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
