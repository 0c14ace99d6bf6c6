//! Forecasts from throughputs that were measured on some numbers of cores.

use std::path::Path;

use indicatif::ProgressBar;
use kilocore_forecast::fit::{Atlas, LeftOut, Measurements, Named, Outlook, ReadError};
use kilocore_forecast::from_profile;
use kilocore_lock_profile::Profile;
use kilocore_lock_report::FitReport;
use kilocore_locks::LockId;
use kilocore_machine::Description;

use super::profile::{Target, USUAL_MOST_CORES};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, output, say};

/// A forecast that is asked for, and what it starts from.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) target: &'a Target,
    /// A profile of the program: its locks are then known.
    pub(super) profile: Option<&'a Path>,
}

/// Forecasts a program from throughputs that were measured.
pub(super) fn forecast(
    file: &Path,
    question: &Question<'_>,
    reports: &Reports,
) -> Result<(), Failure> {
    let files = reports.files()?;
    let about = |failure: Failure| failure.about(file);
    let name = question.target.machine.as_deref().ok_or_else(|| {
        about(Failure::new(
            "these are measured throughputs, and only who measured them knows on which machine that was; \
             say it with --machine (`kilocore list machines` has those that are known, and `kilocore \
             record machine` describes this host)",
        ))
    })?;
    let machine = kilocore_machine::find(name)?;
    let profile = question.profile.map(Profile::read).transpose()?;
    let measurements = read(file, &machine)?;
    let cores = question.cores(&machine, &measurements)?;
    let atlas = question.atlas(&machine, profile.as_ref())?;

    let progress = output::progress(0, "weighing workloads");
    let fit = kilocore_forecast::fit::fit(&atlas, &measurements, &show(&progress));
    progress.finish_and_clear();
    let fit = fit.map_err(Failure::from).map_err(about)?;

    let curves = Named::curves(&question.locks(), &measurements);
    let progress = output::progress(0, "forecasting");
    let seed = question.target.seed();
    let outlook =
        Outlook::new(&fit, &atlas, seed, &measurements, &curves, &cores, &show(&progress));
    progress.finish_and_clear();
    let outlook = outlook.map_err(Failure::from).map_err(about)?;
    let curves = outlook.curves();
    let report = FitReport {
        generated: output::generated(),
        outlook: &outlook,
        curves: &curves,
        machine: &machine,
    };
    reports.deliver(&files, &report, &outlook, || {
        kilocore_lock_report::terminal::fit_table(&report, output::width())
    })
}

impl Question<'_> {
    /// The locks to forecast, as typed where they were.
    fn locks(&self) -> Vec<(LockId, Option<&str>)> {
        let locks = &self.target.lock;
        if locks.is_empty() {
            return LockId::ALL.iter().map(|&lock| (lock, None)).collect();
        }
        locks.iter().map(|lock| (lock.lock, Some(lock.typed.as_str()))).collect()
    }

    /// The numbers of cores to forecast.
    fn cores(
        &self,
        machine: &Description,
        measurements: &Measurements,
    ) -> Result<Vec<u32>, Failure> {
        self.target.check_cores(machine)?;
        if let Some(CoreList(cores)) = &self.target.cores {
            return Ok(cores.clone());
        }
        let has = machine.hardware_threads();
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
        let Some((profile, path)) = profile.zip(self.profile) else {
            return Ok(Atlas::new(machine, self.target.seed()));
        };
        let profiled = from_profile(profile).map_err(|gap| Failure::from(gap).about(path))?;
        Ok(Atlas::for_workload(machine, self.target.seed(), &profiled.workload))
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
        say(&format!("{}: left out: {left_out}", file.display()));
    }
    if left_out.len() > MOST_NAMED {
        let more = left_out.len() - MOST_NAMED;
        say(&format!("{}: left out: {more} more; --json lists all", file.display()));
    }
}

/// What moves a progress bar whose length is known only on the way.
fn show(progress: &ProgressBar) -> impl Fn(u64, u64) + Sync {
    |done, all| {
        progress.set_length(all);
        progress.set_position(done);
    }
}
