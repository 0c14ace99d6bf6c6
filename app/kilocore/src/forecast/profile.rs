//! `kilocore predict PROFILE --machine M`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_lock_profile::Profile;
use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;
use kilocore_predict::{Forecast, Question, RunSize, forecast};
use kilocore_report::ForecastReport;
use kilocore_sim::Sim;

use crate::core_list::CoreList;
use crate::failure::Failure;
use crate::lock_name::{lock_named, rw_lock_for_programs_named};
use crate::{examples, output, target};

/// Forecasts a profiled program.
#[derive(Debug, Args)]
#[command(after_help = examples::PREDICT)]
pub(crate) struct Arguments {
    /// A profile that `kilocore measure` wrote
    profile: PathBuf,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    output: output::Options,
}

/// What to forecast.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Name of a machine, or a machine file; see `kilocore machines`. The largest known one of the
    /// kind of this host's processor if not given
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Numbers of cores, as in 1,6,12-48:12, each with as many threads; what suits the machine if
    /// not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Locks to compare, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = lock_named)]
    lock: Vec<LockId>,
    /// Read-write locks to compare, separated by commas; all that can be put under a program if not
    /// given. They are only compared if the program's own matter
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = rw_lock_for_programs_named)]
    rwlock: Vec<RwLockId>,
    /// Show every lock in the table, not only the most telling ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Seed of all chance in the simulations
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Sections simulated for each point: for about 1 % of chance in its throughput.
const SECTIONS: u64 = 8_000;

/// The most cores that a forecast looks at unless it is told to look further.
pub(crate) const USUAL_MOST_CORES: u32 = 128;

impl Target {
    /// The machine asked for, if it has the cores asked for.
    pub(crate) fn machine(&self) -> Result<Description, Failure> {
        let machine = match &self.machine {
            Some(name) => kilocore_machine::find(name)?,
            None => target::usual()?,
        };
        let has = machine.hardware_threads();
        match self.cores.as_ref().and_then(|cores| cores.0.last()) {
            Some(&wanted) if wanted > has => Err(Failure::new(format!(
                "{} has {has} hardware threads; cannot forecast {wanted} (choose 1 to {has})",
                machine.name
            ))),
            _ => Ok(machine),
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
        let locks = if self.lock.is_empty() { LockId::ALL.to_vec() } else { self.lock.clone() };
        let size = RunSize { sections: SECTIONS, seed: self.seed, ..RunSize::default() };
        let rw_locks = if self.rwlock.is_empty() {
            RwLockId::for_programs::<Sim>().collect()
        } else {
            self.rwlock.clone()
        };
        let question = Question { machine, cores: cores.0, locks, rw_locks, size };
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

pub(crate) fn predict(arguments: Arguments) -> Result<ExitCode, Failure> {
    output::check(&arguments.output)?;
    let machine = arguments.target.machine()?;
    let profile = Profile::read(&arguments.profile)?;
    let forecast = arguments.target.forecast(&profile, &machine);
    let forecast = forecast.map_err(|failure| failure.about(&arguments.profile))?;
    show(&arguments.output, &forecast, &profile, &machine, arguments.target.all)?;
    Ok(ExitCode::SUCCESS)
}

/// Gives a forecast out: as a table or JSON, and as a report, if one is wanted.
pub(crate) fn show(
    options: &output::Options,
    forecast: &Forecast,
    profile: &Profile,
    machine: &Description,
    all: bool,
) -> Result<(), Failure> {
    let report = ForecastReport {
        generated: output::generated(),
        forecast,
        machine: Some(machine),
        profile: Some(profile),
    };
    output::report(options, &report)?;
    print(options, forecast, all)
}

/// Gives out a forecast that has no curves. The report then has the verdict, and where the threads'
/// time went if that was seen; otherwise there is none.
pub(crate) fn show_without_curves(
    options: &output::Options,
    forecast: &Forecast,
    profile: &Profile,
) -> Result<(), Failure> {
    if let Some(path) = &options.output {
        match kilocore_report::waits_page(profile, Some(&forecast.recommendation)) {
            Ok(page) if output::is_page(path) => output::write(path, &page)?,
            _ => eprintln!(
                "kilocore: no report is written to {}: too little was seen for a forecast",
                path.display()
            ),
        }
    }
    print(options, forecast, false)
}

fn print(options: &output::Options, forecast: &Forecast, all: bool) -> Result<(), Failure> {
    if options.json {
        return output::json(forecast);
    }
    output::print(&kilocore_report::terminal::forecast_table(forecast, output::width(), all));
    Ok(())
}
