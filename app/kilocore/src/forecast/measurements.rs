//! Forecasts from throughputs that were measured on some numbers of cores: of other locks, if the machine
//! and the locks are known, and else what the law of each variant says.

use std::path::Path;

use indicatif::ProgressBar;
use kilocore_figures::Provenance;
use kilocore_forecast::fit::{
    Atlas, Comparison, LeftOut, MeasuredTable, Measurements, Named, Outlook, ReadError, Wanted,
};
use kilocore_forecast::from_profile;
use kilocore_lock_profile::Profile;
use kilocore_lock_report::{FitReport, VariantsReport};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;

use super::lock_of::LockOf;
use super::profile::{Target, USUAL_MOST_CORES};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, output, say};

/// A forecast that is asked for, and what it starts from.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) target: &'a Target,
    /// A profile of the program: its locks are then known.
    pub(super) profile: Option<&'a Path>,
    /// Under which locks variants were measured.
    pub(super) lock_of: &'a [LockOf],
}

/// Forecasts a program from throughputs that were measured.
pub(super) fn forecast(
    file: &Path,
    question: &Question<'_>,
    reports: &Reports,
) -> Result<(), Failure> {
    let files = reports.files()?;
    let about = |failure: Failure| failure.about(file);
    let name = question.target.machine.as_deref();
    let machine = name.map(kilocore_machine::find).transpose()?;
    let profile = question.profile.map(Profile::read).transpose()?;
    if let Some(machine) = &machine {
        question.target.check_cores(machine)?;
    }
    let table = question.read(file)?;
    let has_locks = table.variants.iter().any(|variant| variant.lock.is_some());
    let Some(machine) = machine.as_ref().filter(|_| has_locks) else {
        return question.compare(file, &table, machine.as_ref(), reports);
    };
    let measurements = of_machine(file, &table, machine)?;
    let cores = question.cores(machine, &measurements);
    let source = question.target.source()?;
    let atlas = question.atlas(&source, machine, profile.as_ref())?;
    let atlas = atlas.for_extent(question.target.extent());

    let progress = output::progress(0, "weighing workloads");
    let fit = kilocore_forecast::fit::fit(&atlas, &measurements, &show(&progress));
    progress.finish_and_clear();
    let fit = fit.map_err(|refusal| {
        about(Failure::new(format!(
            "{refusal}; without --machine, the law of each variant is shown"
        )))
    })?;

    let curves = Named::curves(&question.locks(), &measurements);
    let progress = output::progress(0, "forecasting");
    let wanted = Wanted { curves: &curves, cores: &cores };
    let outlook = Outlook::new(&fit, &atlas, &measurements, wanted, &show(&progress));
    progress.finish_and_clear();
    let outlook = outlook.map_err(Failure::from).map_err(about)?;
    let curves = outlook.curves();
    let report =
        FitReport { generated: output::generated(), outlook: &outlook, curves: &curves, machine };
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

    /// Reads the table, with the locks that the user names.
    fn read(&self, file: &Path) -> Result<MeasuredTable, Failure> {
        let about = |error: ReadError| Failure::from(error).about(file);
        let mut table = MeasuredTable::read(file).map_err(about)?;
        for LockOf { variant, lock } in self.lock_of {
            table.measured_under(variant, *lock).map_err(about)?;
        }
        Ok(table)
    }

    /// Shows what was measured and what the law of each variant says, without a simulation.
    fn compare(
        &self,
        file: &Path,
        table: &MeasuredTable,
        machine: Option<&Description>,
        reports: &Reports,
    ) -> Result<(), Failure> {
        let about = |failure: Failure| failure.about(file);
        const MACHINE: &str = "--machine, the one of the measurements (`kilocore list machines` has those \
             that are known, and `kilocore record machine` describes this host)";
        const LOCK_OF: &str = "--lock-of VARIANT=LOCK, the lock under which a variant was measured";
        let has_locks = table.variants.iter().any(|variant| variant.lock.is_some());
        let missing: Vec<&str> = [(MACHINE, machine.is_none()), (LOCK_OF, !has_locks)]
            .into_iter()
            .filter_map(|(what, is_missing)| is_missing.then_some(what))
            .collect();
        let missing = missing.join(", and ");
        let Target { lock, seed, .. } = self.target;
        let of_locks = [
            ("--lock", !lock.is_empty()),
            ("--seed", seed.is_some()),
            ("--profile", self.profile.is_some()),
        ];
        if let Some((option, _)) = of_locks.iter().find(|(_, is_given)| *is_given) {
            return Err(about(Failure::new(format!(
                "{option} is for forecasts of locks; these need {missing}"
            ))));
        }
        let measured = table.variants.iter().flat_map(|variant| &variant.points);
        let cores = self.target.cores.as_ref().map(|CoreList(cores)| cores.clone());
        let cores = cores.unwrap_or_else(|| {
            let mut cores: Vec<u32> = measured.map(|point| point.cores).collect();
            cores.sort_unstable();
            cores.dedup();
            // What twice as many cores would do is what people ask first.
            let most = cores.last().copied().unwrap_or(1);
            let has = machine.map_or(u32::MAX, |machine| machine.hardware_threads().max(most));
            cores.push(most.saturating_mul(2).min(has));
            cores.dedup();
            cores
        });
        let comparison = Comparison::new(table, &cores).map_err(Failure::from).map_err(about)?;
        let files = reports.files()?;
        let report = VariantsReport { generated: output::generated(), comparison: &comparison };
        reports.deliver_study(&files, &report)?;
        say(&format!("{}: to forecast locks, give {missing}", file.display()));
        Ok(())
    }

    /// The numbers of cores to forecast.
    fn cores(&self, machine: &Description, measurements: &Measurements) -> Vec<u32> {
        if let Some(CoreList(cores)) = &self.target.cores {
            return cores.clone();
        }
        let has = machine.hardware_threads();
        let per_node = machine.topology.cores_per_node();
        let CoreList(mut cores) = CoreList::for_machine(has.min(USUAL_MOST_CORES), per_node);
        cores.extend(measurements.points.iter().map(|point| point.cores));
        cores.sort_unstable();
        cores.dedup();
        cores
    }

    /// The workloads to weigh: all, or those that are left once the locks are known.
    fn atlas<'m>(
        &self,
        source: &'m PointSource,
        machine: &'m Description,
        profile: Option<&Profile>,
    ) -> Result<Atlas<'m>, Failure> {
        let Some((profile, path)) = profile.zip(self.profile) else {
            return Ok(Atlas::new(source, machine, self.target.seed()));
        };
        let profiled = from_profile(profile).map_err(|gap| Failure::from(gap).about(path))?;
        Ok(Atlas::for_workload(source, machine, self.target.seed(), &profiled.workload))
    }
}

/// The measurements of locks that the machine can have given. Says what is left out, and what is taken to
/// be so.
fn of_machine(
    file: &Path,
    table: &MeasuredTable,
    machine: &Description,
) -> Result<Measurements, Failure> {
    let about = |error: ReadError| Failure::from(error).about(file);
    let mut measurements = table.measurements().map_err(about)?;
    measurements.leave_out_beyond(&machine.name, machine.hardware_threads()).map_err(about)?;
    for how in &table.assumed {
        say(&format!("{}: taken to be so: {how}", file.display()));
    }
    if table.provenance != Provenance::Measured {
        let from = table.provenance.name();
        say(&format!(
            "{}: its throughputs are {from}, and taken as if they were measured",
            file.display()
        ));
    }
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
