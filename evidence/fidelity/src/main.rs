//! `kilocore-fidelity`: forecasts from a part of published measurements, beside the rest of them.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use kilocore_fidelity::before::Before;
use kilocore_fidelity::data::{DataSet, MACHINES, Program};
use kilocore_fidelity::notes::Notes;
use kilocore_fidelity::page::{self, Contents};
use kilocore_fidelity::profiles::FromProfiles;
use kilocore_fidelity::run::{Answer, answer};
use kilocore_fidelity::split::Setting;
use kilocore_fidelity::{dump, profiles, terminal};
use kilocore_forecast::fit::Atlas;
use kilocore_points::{Elsewhere, PointSource};

/// Forecasts published measurements from a part of them, and compares with the rest.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    /// Only this machine of the data set: A48 or I48
    #[arg(long)]
    machine: Option<String>,
    /// Only programs whose names contain this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Only this setting: A (locks given up to half of the machine) or B (up to a quarter)
    #[arg(long)]
    setting: Option<String>,
    /// Also print errors by lock and number of nodes
    #[arg(long)]
    by_lock: bool,
    /// Write every held-back point to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page and its plots into this folder, with the notes that are there
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["machine", "program", "setting"])]
    docs: Option<PathBuf>,
    /// Also write into this folder what kilocore-forecast is built with: how far gains were off, and how
    /// locks did in the measurements
    #[arg(long, value_name = "FOLDER", requires = "docs")]
    forecast_data: Option<PathBuf>,
    /// Show beside the errors those of an earlier run, from what its --json wrote
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// The folder of the data: published measurements are in its folder `litl`
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    data: PathBuf,
    /// The seed of all simulations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Simulate everything anew, and keep nothing of it for the next time. The answer is the same. So is it
    /// with KILOCORE_NO_CACHE in the environment
    #[arg(long)]
    no_cache: bool,
}

/// The exit status for bad input of any kind.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    match compare(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("kilocore-fidelity: {message}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    let (sets, settings) = chosen(arguments)?;
    let before = arguments.before.as_deref().map(Before::read).transpose()?.unwrap_or_default();
    // Whatever may be wrong with the input is found before the long work.
    let material = arguments.docs.as_ref().map(|folder| Material::read(arguments, folder, &sets));
    let material = material.transpose()?;
    let source = PointSource::of_user(arguments.no_cache).map_err(|error| error.to_string())?;
    let answers = answers(arguments, &source, &sets, &settings)?;
    let profiles = material.as_ref().map(|material| material.profiles(arguments, &source, &sets));
    // Where another process computes points, the forecasts that need them are refused for no better reason.
    if !source.has_given_all() {
        return Err(Elsewhere.to_string());
    }
    if let Some((material, profiles)) = material.zip(profiles) {
        material.write_page(arguments, &sets, &answers, profiles?.as_ref())?;
    }
    if let Some(path) = &arguments.json {
        let points = dump::held_back(&answers);
        let text = serde_json::to_string_pretty(&points).map_err(|e| e.to_string())?;
        fs::write(path, text + "\n").map_err(|e| {
            format!("cannot write {}: {e}; choose a folder that may be written to", path.display())
        })?;
    }
    print(&terminal::programs(&answers, &before));
    if arguments.by_lock {
        print(&format!("\n{}", terminal::by_lock(&answers)));
    }
    print(&format!("\n{}", terminal::summaries(&answers, &before)));
    Ok(())
}

/// What goes into the page besides the answers.
struct Material<'a> {
    folder: &'a Path,
    notes: Notes,
    /// Simulations of forecasts from profiles.
    steps: u64,
}

impl<'a> Material<'a> {
    fn read(arguments: &Arguments, folder: &'a Path, sets: &[DataSet]) -> Result<Self, String> {
        let file = folder.join("fidelity-notes.toml");
        let notes = Notes::read(&file).map_err(|e| e.to_string())?;
        notes.check(sets).map_err(|why| format!("{}: {why}", file.display()))?;
        Ok(Self { folder, notes, steps: profiles::steps(&arguments.data, sets)? })
    }

    /// The forecasts from profiles.
    fn profiles(
        &self,
        arguments: &Arguments,
        source: &PointSource,
        sets: &[DataSet],
    ) -> Result<Option<FromProfiles>, String> {
        let bar = progress_bar(self.steps);
        bar.set_message("C");
        let (data, seed) = (&arguments.data, arguments.seed);
        let profiles = profiles::forecast(data, sets, source, seed, &|| bar.inc(1));
        bar.finish_and_clear();
        profiles
    }

    fn write_page(
        &self,
        arguments: &Arguments,
        sets: &[DataSet],
        answers: &[Answer],
        profiles: Option<&FromProfiles>,
    ) -> Result<(), String> {
        let (seed, folder, notes) = (arguments.seed, self.folder, &self.notes);
        if let (Some(folder), Some(profiles)) = (&arguments.forecast_data, profiles) {
            profiles.kept.write(folder)?;
        }
        let files = page::files(Contents { sets, answers, notes, profiles, seed });
        let files = files.map_err(|e| e.to_string())?;
        page::write(folder, &files).map_err(|e| {
            let folder = folder.display();
            format!("cannot write into {folder}: {e}; choose a folder that may be written to")
        })
    }
}

/// Prints text on standard output; a reader that has gone away is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The data sets and settings that are asked for, checked before any work is done.
fn chosen(arguments: &Arguments) -> Result<(Vec<DataSet>, Vec<Setting>), String> {
    let wanted = |name: &Option<String>, is: &str| {
        name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(is))
    };
    let settings: Vec<Setting> =
        Setting::ALL.into_iter().filter(|s| wanted(&arguments.setting, s.name())).collect();
    if settings.is_empty() {
        return Err("--setting: no such setting; there are A and B".to_owned());
    }
    let machines = MACHINES.into_iter().filter(|m| wanted(&arguments.machine, m.name));
    let litl = arguments.data.join("litl");
    let mut sets = machines
        .map(|machine| DataSet::read(&litl, machine).map_err(|e| e.to_string()))
        .collect::<Result<Vec<_>, _>>()?;
    if sets.is_empty() {
        return Err("--machine: no such machine in the data set; there are A48 and I48".to_owned());
    }
    if let Some(part) = &arguments.program {
        for set in &mut sets {
            set.programs.retain(|program| program.name.contains(part.as_str()));
        }
    }
    if sets.iter().all(|set| set.programs.is_empty()) {
        return Err("--program: no program of the data set has that in its name".to_owned());
    }
    Ok((sets, settings))
}

fn answers(
    arguments: &Arguments,
    source: &PointSource,
    sets: &[DataSet],
    settings: &[Setting],
) -> Result<Vec<Answer>, String> {
    let cases: usize = sets.iter().map(|set| set.programs.len() * settings.len()).sum();
    let bar = progress_bar(STEPS * cases as u64);
    let mut answers = Vec::new();
    for set in sets {
        let machine = kilocore_machine::find(set.machine.description).map_err(|e| e.to_string())?;
        let atlas = Atlas::new(source, &machine, arguments.seed);
        for &setting in settings {
            for program in &set.programs {
                answers.push(one(setting, set, program, &atlas, &bar));
            }
        }
    }
    bar.finish_and_clear();
    Ok(answers)
}

/// Steps of the progress bar for each forecast.
const STEPS: u64 = 1_000;

fn one(
    setting: Setting,
    set: &DataSet,
    program: &Program,
    atlas: &Atlas<'_>,
    bar: &ProgressBar,
) -> Answer {
    let what = format!("{} {} {}", setting.name(), set.machine.name, program.name);
    bar.set_message(what);
    let before = bar.position();
    let progress = |done: u64, all: u64| {
        if let Some(steps) = (STEPS * done).checked_div(all) {
            bar.set_position(before + steps.min(STEPS));
        }
    };
    let answer = answer(setting, set.machine, program, atlas, &progress);
    bar.set_position(before + STEPS);
    answer
}

/// A progress bar on standard error, if that is a terminal; else one that shows nothing.
fn progress_bar(steps: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:32} {wide_bar} {percent} % {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps).with_style(style)
}
