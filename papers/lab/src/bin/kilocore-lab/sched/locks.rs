//! `kilocore-lab sched --experiment locks`: lock-heavy loads under kernel locks and schedulers.

mod document;
mod results;
mod tables;

use std::process::ExitCode;

use document::{Document, points};
use kilocore_command_line::{CoreList, Failure, chosen, output};
use kilocore_lab::sched::locks::{Choice, KernelLock, LOADS, Plan, RunLength};
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Parameter, Points, Study, Table};
use results::Results;
use serde::Serialize;

use super::Arguments;
use super::scheduler_choice::for_locks;

/// The AMD machine of the thesis.
const MACHINE: &str = "opteron-8356-8s";

pub(super) fn locks(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
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
    let points = plan.run(source, &machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results { machine: &machine, plan: &plan, points: &points };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        let loads = &self.plan.loads;
        let parameters = loads.iter().flat_map(|load| {
            load.parameters().into_iter().map(|parameter| Parameter {
                name: format!("{}: {}", load.name, parameter.name),
                ..parameter
            })
        });
        About {
            generated: output::generated(),
            kind: "A published experiment, simulated",
            title: "Kernel locks that many cores fight for, under schedulers that see it"
                .to_owned(),
            host: Host::Machine(kilocore_show::described(self.machine)),
            parameters: parameters.collect(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        self.plan.loads.iter().map(|load| self.chart(load)).collect()
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
