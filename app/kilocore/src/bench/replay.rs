//! Replaying a trace of pages on this host, under each policy of the page pool.

use std::path::Path;
use std::process::ExitCode;

use kilocore_page_trace::Trace;
use kilocore_page_trace::replay::{Program, Results};

use super::Arguments;
use kilocore_command_line::{Failure, output};

/// How often each policy is measured if nothing is said.
const ROUNDS: u32 = 5;

/// The same as what simulations of traces begin with, so that one may be laid beside the other.
const OTHER_PAGES: f64 = 1.0;
const USED_BEFORE_RELEASE: f64 = 1.0;

pub(super) fn replay(file: &Path, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files_without_charts("a replay")?;
    let (pool, rounds) = (&arguments.pool, arguments.repeats.unwrap_or(ROUNDS));
    let trace = Trace::read(file)?;
    let program = Program {
        other_pages: pool.other_pages.unwrap_or(OTHER_PAGES),
        used_before_release: pool.used_before_release.unwrap_or(USED_BEFORE_RELEASE),
    };
    let policies = pool.policies();
    let name = file.display().to_string();
    let progress = output::progress(u64::from(rounds) * policies.len() as u64, "replaying");
    let generated = output::generated();
    let results = Results::measure((&name, &trace), program, &policies, rounds, generated, || {
        progress.inc(1)
    })?;
    progress.finish_and_clear();
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}
