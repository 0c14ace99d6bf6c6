//! `kilocore bench NAME…`: measuring.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kilocore_command_line::{Failure, output};
use kilocore_kernel_bench::document::Outcome;
use kilocore_kernel_bench::{Document, Helpers, Plan, run};

use super::measure_arguments::MeasureArguments;
use super::{HELPER, locate};
use crate::compare::bench as compare;
use kilocore_command_line::reports;
use kilocore_show::Study;

pub(crate) fn measure(arguments: &MeasureArguments) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    arguments.pool.refuse_without_trace()?;
    arguments.scratch.as_deref().map_or(Ok(()), check_scratch)?;
    let plan = arguments.plan()?;
    if arguments.locate {
        return locate::locate(arguments, &plan);
    }
    let baseline = arguments.baseline.as_deref().map(compare::read).transpose()?;
    if let Some(first) = baseline.as_ref().filter(|first| !have_something_in_common(first, &plan)) {
        return Err(Failure::new(format!(
            "--baseline: it was measured {}, and so nothing that is to be measured now can be held \
             against it; choose benchmarks, --cores and --as that it has",
            first.generated.command
        )));
    }
    let document = carry_out(&plan)?;
    show(arguments, &document, baseline.as_ref())?;
    // After it was shown: whatever cannot be written, what was measured is not lost.
    let written = files.iter().map(|&file| reports::write(&[file], &document));
    let mut failures = written.collect::<Vec<_>>().into_iter().filter_map(Result::err);
    if let Some(last) = failures.next_back() {
        for failure in failures {
            let _ = failure.report();
        }
        return Err(last);
    }
    if document.benchmarks.iter().any(Outcome::has_run) {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::new("no benchmark could run here; the reasons stand with each"))
}

/// Whether a saved run has anything that a plan is to measure.
fn have_something_in_common(saved: &Document, plan: &Plan) -> bool {
    plan.benchmarks.iter().any(|benchmark| {
        let info = benchmark.info();
        let outcome = saved.outcome(info.name, plan.kind.unwrap_or(info.default));
        let mut points = outcome.into_iter().flat_map(|outcome| &outcome.points);
        points.any(|point| !point.samples.is_empty() && plan.cores.contains(&point.cores))
    })
}

fn show(
    arguments: &MeasureArguments,
    document: &Document,
    baseline: Option<&Document>,
) -> Result<(), Failure> {
    let against = baseline.map(|first| {
        kilocore_kernel_bench::compare(first, document, compare::LEAST_CHANGE / 100.0)
    });
    match (arguments.reports.json, against) {
        (true, None) => return output::json(document),
        (true, Some(against)) => {
            return output::json(&serde_json::json!({ "run": document, "against": against }));
        }
        (false, against) => {
            let mut tables = document.terminal_tables();
            tables.extend(against.map(|against| against.table()));
            output::print(&reports::in_words(&tables));
        }
    }
    Ok(())
}

/// Refuses a folder that cannot be handed on: tasks are told of it as text.
fn check_scratch(folder: &Path) -> Result<(), Failure> {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if folder.to_str().is_some() && whole.to_str().is_some() {
        return Ok(());
    }
    let refusal = Failure::new("its name is no UTF-8 text; choose another folder with --scratch");
    Err(refusal.about(&whole))
}

fn carry_out(plan: &Plan) -> Result<Document, Failure> {
    // Not the path it was started by: that may have been replaced meanwhile.
    let program = PathBuf::from("/proc/self/exe");
    let helpers = Helpers { program, words: vec![HELPER.into()] };
    let generated = output::generated();
    let bar = output::progress(0, "");
    let shown = |progress: kilocore_kernel_bench::Progress| {
        bar.set_length(progress.of);
        bar.set_position(progress.done);
        bar.set_message(progress.benchmark);
    };
    let document = run(plan, &helpers, generated.by, generated.command, shown);
    bar.finish_and_clear();
    Ok(document?)
}
