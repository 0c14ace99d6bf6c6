//! `kilocore-lab sched --experiment cache`: programs that share caches, under schedulers that see it.

mod document;
mod results;
mod tables;

use std::process::ExitCode;

use document::{Document, points};
use kilocore_command_line::{Failure, chosen, output};
use kilocore_lab::sched::cache::{self, Contender, Mix, Setting, judge, mixes};
use kilocore_platform::Nanos;
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Parameter, Points, Study, Table};
use kilocore_sim::occupancy::{Hardware, nas};
use results::Results;
use serde::Serialize;

use super::Arguments;
use super::scheduler_choice::for_caches;

pub(super) fn cache(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let setting = setting(arguments)?;
    let contenders = chosen(&for_caches(&arguments.scheduler)?, &Contender::ALL);
    let mixes = chosen_mixes(&arguments.mix)?;
    let steps = cache::results(&setting, &mixes, &contenders);
    let progress = output::progress(steps as u64, "simulating");
    let points = cache::points(source, &setting, &mixes, &contenders, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let hardware = Hardware::new(&setting.machine, setting.cores);
    let metrics = judge(&hardware, &nas());
    let results = Results {
        setting: &setting,
        mixes: &mixes,
        contenders: &contenders,
        points: &points,
        metrics: metrics.as_ref(),
    };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

fn setting(arguments: &Arguments) -> Result<Setting, Failure> {
    if !arguments.workload.is_empty() || !arguments.kernel_lock.is_empty() {
        return Err(Failure::new(
            "--workload and --kernel-lock are for --experiment locks; for caches, choose --mix",
        ));
    }
    let usual = match &arguments.machine {
        Some(name) => Setting::on(kilocore_machine::find(name)?),
        None => Setting::of_the_thesis(),
    };
    let cores = match arguments.cores.as_ref().map(|list| &list.0[..]) {
        None => usual.cores,
        Some(&[cores]) => cores,
        Some(_) => return Err(Failure::new("--cores: one number is for --experiment cache")),
    };
    let nanos = |us: u32| Nanos(u64::from(us) * 1000);
    Ok(Setting {
        cores,
        duration: Nanos(u64::from(arguments.seconds) * 1_000_000_000),
        window: arguments.window_us.map_or(usual.window, nanos),
        seed: arguments.seed,
        noise: arguments.noise,
        orders: arguments.orders,
        ..usual
    })
}

fn chosen_mixes(names: &[String]) -> Result<Vec<Mix>, Failure> {
    if names.is_empty() {
        return Ok(mixes());
    }
    let mut chosen: Vec<Mix> = Vec::new();
    for name in names {
        let mix = Mix::named(name)?;
        if !chosen.contains(&mix) {
            chosen.push(mix);
        }
    }
    Ok(chosen)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        let mixes = self.mixes.iter().map(|mix| Parameter {
            name: format!("mix {}: {}", mix.name, mix.about),
            value: results::counted(mix),
            source:
                "estimated: chosen before any policy ran; programs like those of the NAS suite, class A"
                    .to_owned(),
        });
        About {
            generated: output::generated(),
            kind: "A published experiment, simulated",
            title: "Programs that share caches, under schedulers that see it".to_owned(),
            host: Host::Machine(kilocore_show::described(&self.setting.machine)),
            parameters: mixes.collect(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        vec![self.chart()]
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
