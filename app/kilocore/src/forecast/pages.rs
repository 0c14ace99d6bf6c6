//! Forecasts from a trace of pages: how long each policy of a page pool would take on a machine.

use std::path::Path;

use kilocore_command_line::reports::in_words;
use kilocore_command_line::{Failure, output};
use kilocore_page_trace::Trace;
use kilocore_page_trace::simulated::{Job, Load, Results, RunLength, Setting, Subject, sweep};

use super::usual_machine;
use crate::page_pool::PagePool;

/// Simulates what the trace asks for, under each policy, on all hardware threads of the machine.
pub(super) fn forecast(
    trace: &Path,
    machine: Option<&str>,
    pool: &PagePool,
    json: bool,
) -> Result<(), Failure> {
    let name = trace.display().to_string();
    let trace = Trace::read(trace)?;
    let machine = usual_machine::or_usual(machine)?;
    let usual = Setting::of(&machine);
    let setting = Setting {
        other_pages: pool.other_pages.unwrap_or(usual.other_pages),
        used_before_release: pool.used_before_release.unwrap_or(usual.used_before_release),
        ..usual
    };
    let policies = pool.policies();
    let cores = machine.hardware_threads();
    let length = RunLength::default();
    let load = Load::Trace(&trace);
    let job = |&policy| Job { setting: &setting, policy, load, cores, length };
    let jobs: Vec<_> = policies.iter().map(job).collect();
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(&jobs, &machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: &machine,
        subject: Subject::Trace { name: &name, trace: &trace },
        seed: length.seed,
        policies: &policies,
        cores: &[cores],
        points: &points,
        generated: output::generated(),
    };
    if json {
        return output::json(&results.document());
    }
    output::print(&in_words(&results.tables()));
    Ok(())
}
