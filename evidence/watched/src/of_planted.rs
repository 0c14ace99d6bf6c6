//! Trials of the watcher on planted programs.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use kilocore_watched::planted::Program;
use kilocore_watched::{Attachment, Expected, Score, Trial, Work, table};

use crate::{Common, progress};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Only this way to get to the program
    #[arg(long, conflicts_with = "page")]
    how: Option<Attachment>,
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

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Ok(watched) = Duration::try_from_secs_f64(arguments.duration) else {
        eprintln!("kilocore-watched: --duration {} is no time", arguments.duration);
        return ExitCode::from(2);
    };
    let common = &arguments.common;
    let programs: Vec<&Program> =
        Program::all().iter().filter(|program| common.wants(program.name())).collect();
    if programs.is_empty() {
        let known: Vec<&str> = Program::all().iter().map(Program::name).collect();
        return common.unknown(&known);
    }
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let ways = [Attachment::Attached, Attachment::Started];
    let ways = ways.into_iter().filter(|how| arguments.how.is_none_or(|only| only == *how));
    let trials: Vec<(&'static Program, Attachment)> = (0..common.runs)
        .flat_map(|_| programs.iter().copied())
        .flat_map(|program| ways.clone().map(move |how| (program, how)))
        .collect();
    let bar = progress(trials.len());
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for (program, how) in trials {
        let name = format!("{} {}", program.name(), format!("{how:?}").to_lowercase());
        bar.set_message(name.clone());
        let score = scores.entry(name.clone()).or_default();
        match Trial::run(&kilocore, program, how, &arguments.work(program, watched)) {
            Ok(trial) => score.add(&trial),
            Err(error) => {
                bar.suspend(|| eprintln!("{name}: {error}"));
                score.failed += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let told = common.tell("planted", &table(&scores));
    for (name, score) in &scores {
        for instead in &score.instead {
            println!("{name}: first came {instead}");
        }
    }
    // A run may fail; a program of which all do is not tried at all.
    let tried = scores.values().all(|score| score.failed < common.runs);
    if tried { told } else { ExitCode::FAILURE }
}
