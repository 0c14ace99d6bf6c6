//! `kilocore forecast FILE`: how a program behaves on a machine, from what was recorded of it.

mod lock_of;
mod measurements;
mod pages;
pub(crate) mod profile;
mod references;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_lock_profile::Profile;

use self::lock_of::LockOf;
use self::references::Nodes;
use crate::examples;
use crate::file_kind::{Applicability, FileKind, refuse_unfit};
use crate::page_pool::PagePool;
use crate::plan_file::PlanFile;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{Destination, Failure};

#[derive(Debug, Args)]
#[command(after_help = examples::FORECAST)]
pub(crate) struct Arguments {
    /// A lock profile, a table of measured throughputs or times (text or JSON), a trace of references or a
    /// trace of pages
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    target: profile::Target,
    #[command(flatten)]
    plan: PlanFile,
    #[command(flatten)]
    reports: Reports,
    /// A lock profile of the same program, for a forecast from measured throughputs: its locks are then
    /// known
    #[arg(long, value_name = "FILE", help_heading = "Measured throughputs")]
    profile: Option<PathBuf>,
    /// The lock under which a variant of the table was measured, if the variant is not called as
    /// `kilocore list locks` calls it; may be given for several variants
    #[arg(long, value_name = "VARIANT=LOCK", help_heading = "Measured throughputs")]
    lock_of: Vec<LockOf>,
    #[command(flatten, next_help_heading = "Traces of references")]
    nodes: Nodes,
    #[command(flatten, next_help_heading = "Traces of pages")]
    pool: PagePool,
}

pub(crate) fn forecast(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { file, target, reports, nodes, pool, .. } = arguments;
    if let Some(written) = arguments.plan.written(reports.output.len())? {
        return Ok(written);
    }
    let kind = FileKind::of(file)?;
    refuse_unfit(file, kind, &arguments.applicabilities())?;
    match kind {
        FileKind::LockProfile => {
            let machine = target.machine()?;
            let files = reports.files()?;
            let profile = Profile::read(file)?;
            let shown = target.forecast(&profile, &machine).and_then(|forecast| {
                let subject = (&profile, target, &machine);
                profile::show(&forecast, subject, reports, &files, Destination::Stdout)
            });
            shown.map_err(|failure| failure.about(file))?;
        }
        FileKind::Measurements => {
            let profile = arguments.profile.as_deref();
            let lock_of = &arguments.lock_of;
            let question = measurements::Question { target, profile, lock_of };
            measurements::forecast(file, &question, reports)?;
        }
        FileKind::References => {
            references::forecast(file, target.machine.as_deref(), nodes, reports)?;
        }
        FileKind::PageTrace => {
            pages::forecast(file, target, pool, reports)?;
        }
        FileKind::EmulatedProgram => {
            return Err(Failure::new(format!(
                "{}: this is {kind}, from which nothing is forecast; give the table that `emulate --output \
                 FILE.csv` writes",
                file.display()
            )));
        }
        FileKind::SampledProfile
        | FileKind::BenchRun
        | FileKind::Machine
        | FileKind::EmulatedStacks => {
            return Err(Failure::new(format!(
                "{}: this is {kind}, from which nothing is forecast; give a lock profile, a table of \
                 measured throughputs, a trace of references or a trace of pages",
                file.display()
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// Which option goes with which kinds of file.
    fn applicabilities(&self) -> Vec<Applicability> {
        const LOCKS: &[FileKind] = &[FileKind::LockProfile];
        const CURVES: &[FileKind] = &[FileKind::LockProfile, FileKind::Measurements];
        const POINTS: &[FileKind] =
            &[FileKind::LockProfile, FileKind::Measurements, FileKind::PageTrace];
        const MEASUREMENTS: &[FileKind] = &[FileKind::Measurements];
        const REFERENCES: &[FileKind] = &[FileKind::References];
        const PAGES: &[FileKind] = &[FileKind::PageTrace];
        let Self { target, nodes, pool, .. } = self;
        vec![
            Applicability::new("--cores", target.cores.is_some(), CURVES),
            Applicability::new("--lock", !target.lock.is_empty(), CURVES),
            Applicability::new("--rwlock", !target.rwlock.is_empty(), LOCKS),
            Applicability::new("--all", target.all, LOCKS),
            Applicability::new("--seed", target.seed.is_some(), CURVES),
            Applicability::new("--no-cache", target.no_cache, POINTS),
            Applicability::new("--profile", self.profile.is_some(), MEASUREMENTS),
            Applicability::new("--lock-of", !self.lock_of.is_empty(), MEASUREMENTS),
            Applicability::new("--cpus", nodes.cpus.is_some(), REFERENCES),
            Applicability::new("--nodes", nodes.nodes.is_some(), REFERENCES),
            Applicability::new("--period", nodes.period.is_some(), REFERENCES),
            Applicability::new("--pool-policy", !pool.pool_policy.is_empty(), PAGES),
            Applicability::new("--other-pages", pool.other_pages.is_some(), PAGES),
            Applicability::new("--used-before-release", pool.used_before_release.is_some(), PAGES),
        ]
    }
}
