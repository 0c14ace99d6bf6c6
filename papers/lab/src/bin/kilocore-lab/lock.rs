//! `kilocore-lab lock`: the parametric lock workload.

use kilocore_show::Provenance;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, lock_named, output, rw_lock_named};
use kilocore_forecast::{
    Curve, Duration, ForecastPoint, PointJob, RunSize, TODAY, TriedLock, Workload, curve_on,
};
use kilocore_lock_report::CurvesReport;
use kilocore_lock_report::terminal::curves_table;
use kilocore_locks::{LockId, RwLockId};
use kilocore_points::PointSource;
use kilocore_sim::longest_run;
use serde::Serialize;

/// The parametric lock workload.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Locks to compare, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = lock_named)]
    lock: Vec<LockId>,
    /// Read-write locks to compare instead, separated by commas; all if --reads is given alone
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = rw_lock_named, conflicts_with = "lock")]
    rwlock: Vec<RwLockId>,
    /// Percentage of the acquisitions that only read; 90 if only --rwlock is given
    #[arg(long, value_name = "PERCENT", value_parser = percentage, conflicts_with = "lock")]
    reads: Option<f64>,
    /// Name of a machine, or a machine file
    #[arg(long, default_value = "opteron-6344-4s", value_name = "MACHINE")]
    machine: String,
    /// Numbers of cores, as in 1,6,12-48:12; what suits the machine if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Threads; one for each core if not given
    #[arg(long, value_name = "COUNT")]
    threads: Option<u32>,
    /// Mean computing between two acquisitions, in cycles of the machine on one core
    #[arg(long, default_value_t = 20_000.0, value_name = "CYCLES", value_parser = duration)]
    think: f64,
    /// Mean computing under the lock, in cycles on one core with nobody else there
    #[arg(long, default_value_t = 400.0, value_name = "CYCLES", value_parser = duration)]
    hold: f64,
    /// Lines of data written under the lock, which move from holder to holder
    #[arg(long, default_value_t = 0.0, value_name = "COUNT", value_parser = lines)]
    lines: f64,
    /// Number of locks, each acquisition picking one at random
    #[arg(long, default_value_t = 1, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    locks: u32,
    /// How thinking and holding vary around their means
    #[arg(long, value_enum, default_value_t = Variation::Exponential)]
    variation: Variation,
    /// Acquisitions to simulate for each point
    #[arg(long, default_value_t = RunSize::default().sections, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    acquisitions: u64,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

/// How computing times vary around their means.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Variation {
    /// Exponentially distributed
    Exponential,
    /// Always the same
    Constant,
}

#[derive(Serialize)]
struct Document<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    think_cycles: f64,
    hold_cycles: f64,
    lines: f64,
    locks: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads_percent: Option<f64>,
    points: &'a [kilocore_forecast::Point],
}

fn duration(text: &str) -> Result<f64, String> {
    positive(text, 1e12, "a number of cycles from 0 to 10^12")
}

fn lines(text: &str) -> Result<f64, String> {
    positive(text, 4096.0, "a number of cache lines from 0 to 4096")
}

fn percentage(text: &str) -> Result<f64, String> {
    positive(text, 100.0, "a percentage from 0 to 100")
}

fn positive(text: &str, most: f64, what: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=most).contains(&value) => Ok(value),
        _ => Err(format!("'{text}' is not {what}")),
    }
}

impl Arguments {
    /// The workload, for a report's reader.
    fn in_words(&self) -> String {
        let locks = if self.locks == 1 {
            "one lock".to_owned()
        } else {
            format!("one of {} locks", self.locks)
        };
        let reading = self.reads_percent().map_or_else(String::new, |percent| {
            format!("; {percent} % of the acquisitions are shared and only read the lines")
        });
        format!(
            "threads think {} cycles, then hold {locks} for {} cycles and write {} lines that move \
             with it{reading}",
            self.think, self.hold, self.lines
        )
    }

    /// The percentage of shared acquisitions, if read-write locks are compared.
    fn reads_percent(&self) -> Option<f64> {
        (self.reads.is_some() || !self.rwlock.is_empty()).then(|| self.reads.unwrap_or(90.0))
    }

    /// What is compared: each lock with its workload.
    fn candidates(&self) -> Vec<(TriedLock, Workload)> {
        let vary = match self.variation {
            Variation::Exponential => Duration::Exponential,
            Variation::Constant => Duration::Constant,
        };
        let (think, hold) = (|| vary(self.think), || vary(self.hold));
        let mut candidates: Vec<_> = if let Some(percent) = self.reads_percent() {
            let rw_locks = if self.rwlock.is_empty() { RwLockId::ALL } else { &self.rwlock[..] };
            let workload = |&lock: &RwLockId| {
                let reads = percent / 100.0;
                let workload = Workload::single_rw_lock(think(), hold(), self.lines, lock, reads);
                // No lock of this workload is a mutex.
                (TriedLock::ReadWrite { lock, beside: TODAY }, workload)
            };
            rw_locks.iter().map(workload).collect()
        } else {
            let locks = if self.lock.is_empty() { LockId::ALL } else { &self.lock[..] };
            let workload = Workload::single_lock(think(), hold(), self.lines);
            locks.iter().map(|&lock| (lock.into(), workload.clone())).collect()
        };
        for (_, workload) in &mut candidates {
            workload.locks[0].instances = self.locks;
        }
        candidates
    }
}

/// Refuses what would go on for longer than a simulation can.
fn check_length(arguments: &Arguments, cores: &CoreList) -> Result<(), Failure> {
    for &cores in &cores.0 {
        let threads = arguments.threads.unwrap_or(cores);
        let at_once = f64::from(cores.min(threads).max(1));
        let holders = at_once.min(arguments.locks.into());
        let alone = arguments.think + arguments.hold;
        // A quarter as many before those that count.
        let sections = arguments.acquisitions as f64 * 1.25;
        let cycles = sections * (alone / at_once).max(arguments.hold / holders);
        let most = longest_run(cores, threads).0 as f64;
        if cycles > most {
            return Err(Failure::new(format!(
                "too long to simulate: {} acquisitions on {cores} cores take some {cycles:.0e} \
                 cycles, of at most {most:.0e}; choose fewer --acquisitions, or a shorter --think \
                 or --hold",
                arguments.acquisitions,
            )));
        }
    }
    Ok(())
}

pub(crate) fn lock(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let machine = kilocore_machine::find(&arguments.machine)?;
    let per_node = machine.topology.cores_per_node();
    let cores = arguments
        .cores
        .clone()
        .unwrap_or_else(|| CoreList::for_machine(machine.hardware_threads(), per_node));
    check_length(arguments, &cores)?;
    let candidates = arguments.candidates();
    let size = RunSize {
        threads: arguments.threads,
        sections: arguments.acquisitions,
        seed: arguments.seed,
        ..RunSize::default()
    };
    let jobs: Vec<PointJob<'_>> = candidates
        .iter()
        .flat_map(|(lock, workload)| {
            cores.0.iter().map(move |&cores| PointJob { workload, lock: *lock, cores, size })
        })
        .collect();
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = source.points(&machine, &jobs, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let curves: Vec<Curve> = points
        .chunks(cores.0.len())
        .map(|chunk| {
            let points = chunk.iter().map(|point| ForecastPoint {
                low: point.throughput_per_s - point.throughput_error_per_s,
                high: point.throughput_per_s + point.throughput_error_per_s,
                point: point.clone(),
            });
            curve_on(&machine, chunk[0].lock, points.collect())
        })
        .collect();
    let document = Document {
        provenance: Provenance::Simulated,
        machine: &machine.name,
        seed: arguments.seed,
        think_cycles: arguments.think,
        hold_cycles: arguments.hold,
        lines: arguments.lines,
        locks: arguments.locks,
        reads_percent: arguments.reads_percent(),
        points: &points,
    };
    let report = CurvesReport {
        generated: output::generated(),
        machine: &machine,
        workload: arguments.in_words(),
        seed: arguments.seed,
        curves: &curves,
    };
    arguments
        .reports
        .deliver(&files, &report, &document, || curves_table(&curves, output::width()))?;
    Ok(ExitCode::SUCCESS)
}
