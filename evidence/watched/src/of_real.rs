//! Real programs under both recorders, in turn.

use std::path::Path;
use std::process::ExitCode;

use kilocore_watched::{Comparison, RealProgram, RecordError, Recorded, Recorder, Round, tables};

use crate::{Common, progress};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Keep the profiles in this folder
    #[arg(long)]
    keep: Option<std::path::PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let common = &arguments.common;
    let programs: Vec<&RealProgram> =
        RealProgram::all().iter().filter(|program| common.wants(program.name)).collect();
    if programs.is_empty() {
        let known: Vec<&str> = RealProgram::all().iter().map(|program| program.name).collect();
        return common.unknown(&known);
    }
    let missing: Vec<&str> = programs.iter().flat_map(|program| program.missing()).collect();
    if !missing.is_empty() {
        eprintln!("kilocore-watched: {}", RecordError::Missing(missing.join(" ")));
        return ExitCode::from(2);
    }
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let bar = progress(programs.len() * common.runs as usize);
    let mut comparisons = Vec::new();
    for program in programs {
        bar.set_message(program.name);
        let fails = |error: RecordError| {
            bar.suspend(|| eprintln!("{}: {error}", program.name));
        };
        let mut rounds = Vec::new();
        match in_memory().map_err(RecordError::from).and_then(|folder| {
            Recorded::prepare(program, folder.path())?;
            Ok(folder)
        }) {
            Ok(folder) => {
                for number in 0..common.runs {
                    match round(&kilocore, program, folder.path(), number) {
                        Ok(round) => rounds.push(round),
                        Err(error) => fails(error),
                    }
                    bar.inc(1);
                    keep(arguments, program, number, rounds.last());
                }
            }
            Err(error) => fails(error),
        }
        let failed = common.runs - rounds.len() as u64;
        comparisons.push((program.name, Comparison { failed, ..Comparison::of(&rounds) }));
    }
    bar.finish_and_clear();
    let told = common.tell("beside", &tables(&comparisons));
    let tried = comparisons.iter().all(|(_, comparison)| comparison.failed < common.runs);
    if tried { told } else { ExitCode::FAILURE }
}

/// A run under each recorder. Either goes first, in turn.
fn round(
    kilocore: &Path,
    program: &RealProgram,
    folder: &Path,
    number: u64,
) -> Result<Round, RecordError> {
    let run = |recorder| {
        let Recorded { profile, forecast } = Recorded::run(kilocore, program, recorder, folder)?;
        Ok::<_, RecordError>((profile, forecast))
    };
    if number.is_multiple_of(2) {
        let preload = run(Recorder::Preload)?;
        Ok(Round { preload, watch: run(Recorder::Watch)? })
    } else {
        let watch = run(Recorder::Watch)?;
        Ok(Round { preload: run(Recorder::Preload)?, watch })
    }
}

/// A folder for the programs' files, in memory if there is such a place.
fn in_memory() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn keep(arguments: &Arguments, program: &RealProgram, number: u64, round: Option<&Round>) {
    let (Some(folder), Some(round)) = (&arguments.keep, round) else { return };
    for (recorder, (profile, _)) in [("preload", &round.preload), ("watch", &round.watch)] {
        let name = program.name.replace(' ', "-").to_lowercase();
        let file = folder.join(format!("{name}-{number}-{recorder}.json"));
        if let Err(error) = profile.write(&file) {
            eprintln!("kilocore-watched: {error}");
        }
    }
}
