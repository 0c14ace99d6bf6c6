//! Forecasts from a trace of pages: how long each policy of a page pool would take on a machine.

use std::path::Path;

use kilocore_command_line::reports::Reports;
use kilocore_command_line::{Failure, output};
use kilocore_page_trace::Trace;
use kilocore_page_trace::simulated::{Plan, RunLength, Setting, Subject};

use super::profile::Target;
use crate::page_pool::PagePool;
use crate::usual_machine;

/// Simulates what the trace asks for, under each policy, on all hardware threads of the machine.
pub(super) fn forecast(
    trace: &Path,
    target: &Target,
    pool: &PagePool,
    reports: &Reports,
) -> Result<(), Failure> {
    let files = reports.files_without_charts("the forecast of a trace of pages")?;
    let name = trace.display().to_string();
    let trace = Trace::read(trace)?;
    let machine = usual_machine::or_usual(target.machine.as_deref(), "forecasting")?;
    let usual = Setting::of(&machine);
    let setting = Setting {
        other_pages: pool.other_pages.unwrap_or(usual.other_pages),
        used_before_release: pool.used_before_release.unwrap_or(usual.used_before_release),
        ..usual
    };
    let policies = pool.policies();
    let plan = Plan {
        setting: &setting,
        machine: &machine,
        subject: Subject::Trace { name: &name, trace: &trace },
        seed: RunLength::default().seed,
        policies: &policies,
        cores: &[machine.hardware_threads()],
    };
    let progress = output::progress(plan.points() as u64, "simulating");
    let results = plan.run(&target.source()?, output::generated(), &|| progress.inc(1))?;
    progress.finish_and_clear();
    reports.deliver_study(&files, &results)
}
