//! Forecasts of a lock profile: for `kilocore forecast` and `kilocore doctor`.

use std::path::Path;
use std::str::FromStr;

use clap::Args;
use kilocore_forecast::{Extent, Forecast, Question, RunSize, forecast};
use kilocore_lock_profile::Profile;
use kilocore_lock_report::ForecastReport;
use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;
use kilocore_machine::names::UnknownName;
use kilocore_points::{OrdersError, PointSource, keeps};
use kilocore_sim::Sim;

use crate::lock_name::rw_lock_for_programs_named;
use crate::record::locks;
use crate::usual_machine;
use kilocore_command_line::reports::{self, ReportFile, Reports};
use kilocore_command_line::{CoreList, Destination, Failure, lock_named, output, say};

/// The machine and the numbers of cores that a forecast is for, and the locks that it compares.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The machine, by name or as a machine file; see `kilocore list machines` [default: the largest
    /// known one of the kind of this host's processor]
    #[arg(long, value_name = "MACHINE")]
    pub(super) machine: Option<String>,
    /// Numbers of cores, as in 1,6,12-48:12. A forecast runs as many threads on them [default: what
    /// suits the machine]
    #[arg(long, value_name = "LIST")]
    pub(super) cores: Option<CoreList>,
    /// Locks to compare, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(super) lock: Vec<TypedLock>,
    /// Read-write locks to compare, separated by commas, where the program's own matter [default: all
    /// that can be put under a program]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = rw_lock_for_programs_named)]
    pub(super) rwlock: Vec<RwLockId>,
    /// Simulate every lock on every number of cores, not only what the answer needs
    #[arg(long)]
    pub(super) thorough: bool,
    /// Show every lock in the table, not only the most telling ones; implies `--thorough`
    #[arg(long)]
    pub(super) all: bool,
    /// Seed of all chance [default: 1]
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    /// Compute everything anew, and keep nothing of it for the next time. The answer is the same. So is it
    /// with `KILOCORE_NO_CACHE` in the environment
    #[arg(long)]
    pub(super) no_cache: bool,
}

/// A lock and how the user calls it.
#[derive(Debug, Clone)]
pub(super) struct TypedLock {
    pub(super) lock: LockId,
    pub(super) typed: String,
}

impl FromStr for TypedLock {
    type Err = UnknownName;

    fn from_str(typed: &str) -> Result<Self, UnknownName> {
        Ok(Self { lock: lock_named(typed)?, typed: typed.to_owned() })
    }
}

/// Sections simulated for each point: for about 1 % of chance in its throughput.
const SECTIONS: u64 = 8_000;

/// The most cores that a forecast looks at unless it is told to look further.
pub(super) const USUAL_MOST_CORES: u32 = 128;

impl Target {
    /// The machine asked for, if it has the cores asked for.
    pub(crate) fn machine(&self) -> Result<Description, Failure> {
        let machine = usual_machine::or_usual(self.machine.as_deref(), "forecasting")?;
        self.check_cores(&machine)?;
        Ok(machine)
    }

    /// Refuses more cores than the machine has.
    pub(super) fn check_cores(&self, machine: &Description) -> Result<(), Failure> {
        let Some(cores) = &self.cores else { return Ok(()) };
        usual_machine::check_cores(machine, cores, "forecast")
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Whether anything is kept for the next time.
    pub(crate) fn keeps(&self) -> bool {
        keeps(self.no_cache)
    }

    /// Where simulated points come from.
    ///
    /// # Errors
    /// If a sweep has asked for some in a way that cannot be followed.
    pub(super) fn source(&self) -> Result<PointSource, OrdersError> {
        PointSource::of_user(self.no_cache)
    }

    /// How much is to be simulated.
    pub(super) fn extent(&self) -> Extent {
        // Who names locks wants to see them beside each other.
        let named = !self.lock.is_empty() || !self.rwlock.is_empty();
        match self.thorough || self.all || named {
            true => Extent::Every,
            false => Extent::Needed,
        }
    }

    /// Forecasts a profile on the machine, showing progress.
    pub(crate) fn forecast(
        &self,
        profile: &Profile,
        machine: &Description,
    ) -> Result<Forecast, Failure> {
        let per_node = machine.topology.cores_per_node();
        let most = machine.hardware_threads().min(USUAL_MOST_CORES);
        let cores = self.cores.clone().unwrap_or_else(|| CoreList::for_machine(most, per_node));
        let locks = match self.lock.is_empty() {
            true => LockId::ALL.to_vec(),
            false => self.lock.iter().map(|typed| typed.lock).collect(),
        };
        let size = RunSize { sections: SECTIONS, seed: self.seed(), ..RunSize::default() };
        let rw_locks = if self.rwlock.is_empty() {
            RwLockId::for_programs::<Sim>().collect()
        } else {
            self.rwlock.clone()
        };
        let extent = self.extent();
        let source = self.source()?;
        let question =
            Question { machine, cores: cores.0, locks, rw_locks, size, extent, source: &source };
        let progress = output::progress(question.simulations() as u64, "simulating");
        let count = || {
            // There may be more to do than was known at first.
            let more = progress.length().is_some_and(|length| progress.position() >= length);
            progress.inc_length(u64::from(more));
            progress.inc(1);
        };
        let forecast = forecast(profile, &question, &count)?;
        progress.finish_and_clear();
        Ok(forecast)
    }
}

/// Gives the answer to a profile out: as a table or JSON, and as reports, if any are wanted. To have seen no
/// lock or too little is an answer, too; it has no curves. A table goes to `answer`.
pub(crate) fn show(
    forecast: &Forecast,
    (profile, target, machine): (&Profile, &Target, &Description),
    reports: &Reports,
    files: &[ReportFile<'_>],
    answer: Destination,
) -> Result<(), Failure> {
    if forecast.curves.is_empty() {
        files.iter().try_for_each(|(file, _)| write_without_curves(file, forecast, profile))?;
    } else {
        let report = ForecastReport {
            generated: output::generated(),
            forecast,
            machine: Some(machine),
            profile: Some(profile),
        };
        reports::write(files, &report)?;
    }
    if reports.json {
        return output::json(forecast);
    }
    let table = kilocore_lock_report::terminal::forecast_table;
    answer.print(&table(forecast, answer.width(), target.all));
    locks::print_times(profile, answer);
    Ok(())
}

/// Writes the verdict of a forecast that has no curves, and where the threads' time went if that was seen;
/// otherwise there is no report.
fn write_without_curves(
    file: &Path,
    forecast: &Forecast,
    profile: &Profile,
) -> Result<(), Failure> {
    match kilocore_lock_report::waits_page(profile, Some(&forecast.recommendation)) {
        Ok(page) if output::is_page(file) => output::write(file, &page),
        _ => {
            say(&format!(
                "no report is written to {}: too little was seen for a forecast",
                file.display()
            ));
            Ok(())
        }
    }
}
