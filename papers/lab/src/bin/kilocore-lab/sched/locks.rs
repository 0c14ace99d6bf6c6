//! `kilocore-lab sched --experiment locks`: lock-heavy loads under kernel locks and schedulers.

mod document;
mod results;
mod tables;

use std::process::ExitCode;

use document::{Document, csv_rows};
use kilocore_command_line::reports::in_words;
use kilocore_command_line::{CoreList, Failure, chosen, output};
use kilocore_lab::sched::locks::{Choice, KernelLock, LOADS, Plan, RunLength};
use kilocore_show::{Host, LinesReport, Parameter, Report, ReportError, in_csv, in_json};
use results::Results;

use super::Arguments;
use super::scheduler_choice::for_locks;

/// The AMD machine of the thesis.
const MACHINE: &str = "opteron-8356-8s";

pub(super) fn locks(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    if !arguments.mix.is_empty() {
        return Err(Failure::new("--mix is for --experiment cache; for locks, choose --workload"));
    }
    let machine = kilocore_machine::find(arguments.machine.as_deref().unwrap_or(MACHINE))?;
    let suits = || {
        let topology = &machine.topology;
        CoreList::for_machine(topology.cores(), topology.cores_per_node())
    };
    let plan = Plan {
        loads: chosen(&arguments.workload, &LOADS),
        locks: chosen(&arguments.kernel_lock, &KernelLock::ALL),
        choices: chosen(&for_locks(&arguments.scheduler)?, &Choice::USUAL),
        cores: arguments.cores.clone().unwrap_or_else(suits).0,
        noise: arguments.noise,
        length: RunLength {
            window_us: arguments.window_us.unwrap_or(RunLength::default().window_us),
            windows: arguments.windows,
            warm_up: None,
            seed: arguments.seed,
        },
    };
    let progress = output::progress(plan.simulations() as u64, "simulating");
    let points = plan.run(&machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results { machine: &machine, plan: &plan, points: &points };
    arguments
        .reports
        .deliver(&files, &results, Document::new(&results), || in_words(&tables::all(&results)))?;
    Ok(ExitCode::SUCCESS)
}

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page(self).html()
    }

    fn svg(&self) -> Result<String, ReportError> {
        self.chart(&self.plan.loads[0]).svg()
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(csv_rows(self))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&Document::new(self))
    }
}

/// Everything on one page.
fn page(results: &Results<'_>) -> LinesReport {
    let loads = &results.plan.loads;
    let parameters = loads.iter().flat_map(|load| {
        load.parameters().into_iter().map(|parameter| Parameter {
            name: format!("{}: {}", load.name, parameter.name),
            ..parameter
        })
    });
    LinesReport {
        generated: output::generated(),
        kind: "A published experiment, simulated",
        title: "Kernel locks that many cores fight for, under schedulers that see it".to_owned(),
        host: Host::Machine(kilocore_show::described(results.machine)),
        charts: loads.iter().map(|load| results.chart(load)).collect(),
        tables: tables::all(results),
        parameters: parameters.collect(),
    }
}
