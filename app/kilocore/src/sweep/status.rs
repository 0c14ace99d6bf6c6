//! `kilocore sweep status PLAN`: how far the tasks of a sweep are.

use std::path::Path;
use std::process::ExitCode;

use kilocore_command_line::Failure;
use kilocore_command_line::output::{json, print};
use kilocore_show::number::count;
use kilocore_slurm::Slurm;
use kilocore_sweep::{ArrayStatus, array_statuses};
use serde::Serialize;

use super::Swept;

/// The format of what `--json` prints, and its version.
const SCHEMA: &str = "kilocore-sweep-status/1";

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    folder: &'a Path,
    arrays: &'a [ArrayStatus],
}

pub(super) fn status(swept: &Swept) -> Result<ExitCode, Failure> {
    let (_, folder) = swept.read()?;
    let arrays = array_statuses(&folder, &Slurm::default())?;
    match swept.json {
        true => json(&Document { schema: SCHEMA, folder: &folder, arrays: &arrays })?,
        false => print(&told(&folder, &arrays)),
    }
    Ok(ExitCode::SUCCESS)
}

fn told(folder: &Path, arrays: &[ArrayStatus]) -> String {
    if arrays.is_empty() {
        return format!("No tasks of a sweep into {} are known.\n", folder.display());
    }
    let number = |number: usize| count(number as u64);
    let line = |array: &ArrayStatus| {
        let ArrayStatus { name, waiting, running, ended, gone, points, computed, failed } = array;
        let gone = if *gone > 0 { format!(", {} are gone", number(*gone)) } else { String::new() };
        let failed = match failed {
            0 => String::new(),
            failed => format!(", {} cannot be", number(*failed)),
        };
        format!(
            "{name}: {} tasks run, {} wait, {} have ended{gone}; {} of {} points are computed{failed}.\n",
            number(*running),
            number(*waiting),
            number(*ended),
            number(*computed),
            number(*points),
        )
    };
    arrays.iter().map(line).collect()
}
