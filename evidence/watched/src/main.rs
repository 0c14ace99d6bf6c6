//! `kilocore-watched`: watching from outside, beside what planted programs say themselves, and beside
//! the preload recorder.

mod of_planted;
mod of_real;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use kilocore_show::markdown::Marked;

/// What watching from outside says of programs, beside what is known of them otherwise
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Has planted programs watched, and compares with what they say themselves
    Planted(of_planted::Arguments),
    /// Runs real programs under the preload recorder and watched, in turn, and compares
    Beside(of_real::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().what {
        What::Planted(arguments) => of_planted::run(&arguments),
        What::Beside(arguments) => of_real::run(&arguments),
    }
}

/// Which programs, how often, and where the table goes.
#[derive(Debug, clap::Args)]
struct Common {
    /// Only programs whose names contain one of these
    programs: Vec<String>,
    /// How often each program is run
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Write the table into this page, between its marks; needs all programs
    #[arg(long, conflicts_with = "programs")]
    page: Option<PathBuf>,
}

impl Common {
    fn wants(&self, name: &str) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|part| name.contains(part.as_str()))
    }

    /// Says that no program has such a name.
    fn unknown(&self, known: &[&str]) -> ExitCode {
        let (asked, known) = (self.programs.join(", "), known.join(", "));
        eprintln!("kilocore-watched: no program is called {asked}; there are {known}");
        ExitCode::from(2)
    }

    /// Prints what was found, and writes it into the page.
    fn tell(&self, mark: &str, text: &str) -> ExitCode {
        let text = &format!("Runs of each: {}.\n\n{text}", self.runs);
        println!("{text}");
        let Some(page) = &self.page else { return ExitCode::SUCCESS };
        let written = Marked::open(page).and_then(|mut page| {
            page.put(mark, text)?;
            page.save()
        });
        match written {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("kilocore-watched: {error}");
                ExitCode::from(2)
            }
        }
    }
}

fn progress(runs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    ProgressBar::new(runs as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
