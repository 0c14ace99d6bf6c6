//! `kilocore fit MEASUREMENTS --machine M`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use indicatif::ProgressBar;
use kilocore_fit::{Atlas, LeftOut, Measurements, Named, Outlook, ReadError};
use kilocore_lock_profile::Profile;
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_names::UnknownName;
use kilocore_predict::from_profile;
use kilocore_report::FitReport;

use crate::core_list::CoreList;
use crate::failure::Failure;
use crate::lock_name::lock_named;
use crate::output;
use crate::predict::USUAL_MOST_CORES;

/// Forecasts a program from throughputs that were measured.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Measured throughputs: CSV with the columns lock,cores,throughput, or the same as JSON
    measurements: PathBuf,
    /// Name of the machine on which they were measured, or a machine file; see `kilocore machines`
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// Numbers of cores to forecast, as in 1,6,12-48:12; those measured and what suits the machine
    /// if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Locks to forecast, separated by commas, names of data sets included; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    lock: Vec<TypedLock>,
    /// A profile of the program from `kilocore measure`: its locks are then known
    #[arg(long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
    /// Seed of all chance in the simulations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: output::Options,
}

/// A lock and how the user calls it.
#[derive(Debug, Clone)]
struct TypedLock {
    lock: LockId,
    typed: String,
}

impl FromStr for TypedLock {
    type Err = UnknownName;

    fn from_str(typed: &str) -> Result<Self, UnknownName> {
        Ok(Self { lock: lock_named(typed)?, typed: typed.to_owned() })
    }
}

pub(crate) fn fit(arguments: &Arguments) -> Result<ExitCode, Failure> {
    output::check(&arguments.output)?;
    let machine = kilocore_machine::find(&arguments.machine)?;
    let profile = arguments.profile.as_deref().map(Profile::read).transpose()?;
    let file = &arguments.measurements;
    let about = |failure: Failure| failure.about(file);
    let measurements = read(file, &machine)?;
    let cores = arguments.cores(&machine, &measurements)?;
    let atlas = arguments.atlas(&machine, profile.as_ref())?;

    let progress = output::progress(0, "weighing workloads");
    let fit = kilocore_fit::fit(&atlas, &measurements, &show(&progress));
    progress.finish_and_clear();
    let fit = fit.map_err(Failure::from).map_err(about)?;

    let curves = Named::curves(&arguments.locks(), &measurements);
    let progress = output::progress(0, "forecasting");
    let seed = arguments.seed;
    let outlook =
        Outlook::new(&fit, &atlas, seed, &measurements, &curves, &cores, &show(&progress));
    progress.finish_and_clear();
    let outlook = outlook.map_err(Failure::from).map_err(about)?;
    give_out(&arguments.output, &outlook, &machine)?;
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// The locks to forecast, as typed where they were.
    fn locks(&self) -> Vec<(LockId, Option<&str>)> {
        if self.lock.is_empty() {
            return LockId::ALL.iter().map(|&lock| (lock, None)).collect();
        }
        self.lock.iter().map(|lock| (lock.lock, Some(lock.typed.as_str()))).collect()
    }

    /// The numbers of cores to forecast.
    fn cores(
        &self,
        machine: &Description,
        measurements: &Measurements,
    ) -> Result<Vec<u32>, Failure> {
        let has = machine.hardware_threads();
        if let Some(CoreList(cores)) = &self.cores {
            return match cores.last() {
                Some(&wanted) if wanted > has => Err(Failure::new(format!(
                    "{} has {has} hardware threads; cannot forecast {wanted} (choose 1 to {has})",
                    machine.name
                ))),
                _ => Ok(cores.clone()),
            };
        }
        let per_node = machine.topology.cores_per_node();
        let CoreList(mut cores) = CoreList::for_machine(has.min(USUAL_MOST_CORES), per_node);
        cores.extend(measurements.points.iter().map(|point| point.cores));
        cores.sort_unstable();
        cores.dedup();
        Ok(cores)
    }

    /// The workloads to weigh: all, or those that are left once the locks are known.
    fn atlas<'m>(
        &self,
        machine: &'m Description,
        profile: Option<&Profile>,
    ) -> Result<Atlas<'m>, Failure> {
        let Some((profile, path)) = profile.zip(self.profile.as_deref()) else {
            return Ok(Atlas::new(machine, self.seed));
        };
        let profiled = from_profile(profile).map_err(|gap| Failure::from(gap).about(path))?;
        Ok(Atlas::for_workload(machine, self.seed, &profiled.workload))
    }
}

/// Reads the measurements that the machine can have given, and says what is left out.
fn read(file: &Path, machine: &Description) -> Result<Measurements, Failure> {
    let about = |error: ReadError| Failure::from(error).about(file);
    let mut measurements = Measurements::read(file).map_err(about)?;
    measurements.leave_out_beyond(&machine.name, machine.hardware_threads()).map_err(about)?;
    tell(file, &measurements.left_out);
    Ok(measurements)
}

/// What is left out and not named one by one beyond this.
const MOST_NAMED: usize = 12;

/// Says on standard error what of a file is left out.
fn tell(file: &Path, left_out: &[LeftOut]) {
    for left_out in left_out.iter().take(MOST_NAMED) {
        eprintln!("kilocore: {}: left out: {left_out}", file.display());
    }
    if left_out.len() > MOST_NAMED {
        let more = left_out.len() - MOST_NAMED;
        eprintln!("kilocore: {}: left out: {more} more; --json lists all", file.display());
    }
}

/// What moves a progress bar whose length is known only on the way.
fn show(progress: &ProgressBar) -> impl Fn(u64, u64) + Sync {
    |done, all| {
        progress.set_length(all);
        progress.set_position(done);
    }
}

/// Gives the outlook out: as a table or JSON, and as a report, if one is wanted.
fn give_out(
    options: &output::Options,
    outlook: &Outlook,
    machine: &Description,
) -> Result<(), Failure> {
    let curves = outlook.curves();
    let report = FitReport { generated: output::generated(), outlook, curves: &curves, machine };
    output::report(options, &report)?;
    if options.json {
        return output::json(outlook);
    }
    output::print(&kilocore_report::terminal::fit_table(&report, output::width()));
    Ok(())
}
