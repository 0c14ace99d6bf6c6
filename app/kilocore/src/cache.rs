//! `kilocore cache show|clear`: what commands have kept of what they computed.

use std::io;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_command_line::Failure;
use kilocore_command_line::output::{json, print};
use kilocore_kept_files::{KeptFiles, KeptName};
use kilocore_show::number::count;
use serde::Serialize;

/// What is done with it.
#[derive(Debug, Subcommand)]
pub(crate) enum Cache {
    /// Say what is kept of former computations, and how much room it takes
    Show(ShowArguments),
    /// Remove what is kept of former computations: it is computed anew when it is needed
    Clear,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

/// A kind of results that are kept, in a folder of its own.
struct Kind {
    folder: &'static str,
    what: &'static str,
    /// The bytes that it may take.
    most_bytes: u64,
}

const KINDS: [Kind; 3] = [
    Kind {
        folder: "points",
        what: "points of forecasts, fits and experiments",
        most_bytes: kilocore_points::MOST_BYTES,
    },
    Kind {
        folder: "emulations",
        what: "programs that were emulated",
        most_bytes: kilocore_emulation::MOST_KEPT_BYTES,
    },
    Kind {
        folder: "simulations",
        what: "what versions before this one have kept",
        most_bytes: kilocore_points::MOST_BYTES,
    },
];

/// The format of what `--json` prints, and its version.
const SCHEMA: &str = "kilocore-cache/1";

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    kept: Vec<KeptDocument>,
}

/// What is kept of a kind.
#[derive(Debug, Serialize)]
struct KeptDocument {
    kind: &'static str,
    files: usize,
    bytes: u64,
    most_bytes: u64,
}

pub(crate) fn cache(what: &Cache) -> Result<ExitCode, Failure> {
    match what {
        Cache::Show(arguments) => show(arguments),
        Cache::Clear => clear(),
    }
}

impl Kind {
    /// Its files, and how they are removed. `None` if there is no such folder.
    fn found(&self) -> Result<Option<(KeptFiles, Vec<KeptName>)>, Failure> {
        let found = || {
            let files = KeptFiles::found_of_user("kilocore", self.folder, self.most_bytes)?;
            files.map(|files| Ok((files.names()?, files))).transpose()
        };
        let found: io::Result<Option<(Vec<KeptName>, KeptFiles)>> = found();
        let found = found.map_err(|error| {
            Failure::new(format!(
                "what is kept in kilocore/{} cannot be looked at: {error}; set XDG_CACHE_HOME or HOME to a folder of \
                 your own that nobody else can write to",
                self.folder
            ))
        })?;
        Ok(found.map(|(names, files)| (files, names)))
    }
}

fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let mut kept = Vec::new();
    for kind in &KINDS {
        let names = kind.found()?.map(|(_, names)| names).unwrap_or_default();
        let bytes = names.iter().map(|file| file.bytes).sum();
        let (files, most_bytes) = (names.len(), kind.most_bytes);
        kept.push((kind.what, KeptDocument { kind: kind.folder, files, bytes, most_bytes }));
    }
    if arguments.json {
        let kept = kept.into_iter().map(|(_, document)| document).collect();
        json(&Document { schema: SCHEMA, kept })?;
        return Ok(ExitCode::SUCCESS);
    }
    // What former versions have left is told of only if it is there.
    for (what, KeptDocument { kind, files, bytes, most_bytes }) in &kept {
        if *files > 0 || *kind != "simulations" {
            let (files, bytes) = (count(*files as u64), megabytes(*bytes));
            print(&format!(
                "{kind}: {bytes} of at most {} MB in {files} files: {what}\n",
                most_bytes >> 20
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn clear() -> Result<ExitCode, Failure> {
    let mut removed = 0;
    for kind in &KINDS {
        let Some((files, names)) = kind.found()? else { continue };
        for file in &names {
            files.remove(&file.name).map_err(|error| {
                Failure::new(format!(
                    "kilocore/{}/{} cannot be removed: {error}; remove the folder by hand",
                    kind.folder, file.name
                ))
            })?;
            removed += file.bytes;
        }
    }
    print(&format!("{} removed\n", megabytes(removed)));
    Ok(ExitCode::SUCCESS)
}

/// So many bytes in millions of them, of 2^20.
#[allow(clippy::cast_precision_loss)] // to a tenth
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / f64::from(1 << 20))
}
