//! From a stream of references to what each policy has come to.

use std::path::{Path, PathBuf};

use clap::Args;
use kilocore_command_line::{Failure, output};
use kilocore_placement::{Memory, Outcome, Rule, Streamed, Told};
use kilocore_platform::Cycles;
use kilocore_published::numa::Setting;
use kilocore_references::{About, Event};
use kilocore_show::{Format, Report, ReportError, in_csv, in_json};

use super::delays::Delays;
use super::document::{Document, csv_rows};
use super::machine::Machine;
use super::page::page;
use super::results::Results;
use super::tables;

/// What to simulate, and what to do with the results.
#[derive(Debug, Args)]
pub(super) struct Wanted {
    /// Policies, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    policy: Vec<Rule>,
    /// Initial delays, separated by commas, for policies that have one
    #[arg(long, default_value = "100,1000,5000", value_name = "LIST")]
    delay: Delays,
    #[command(flatten)]
    machine: Machine,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    pub(super) json: bool,
    /// Also write the results; its ending chooses the format: .html, .csv or .json. May be given for
    /// several files
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
}

/// A simulation that waits for references.
pub(super) struct Simulation {
    setting: Setting,
    machine: Option<String>,
    /// The policies, with their delays.
    jobs: Vec<(Rule, u32)>,
    streamed: Streamed,
}

impl Wanted {
    /// Checks all that can be checked before there are references.
    pub(super) fn begin(&self) -> Result<Simulation, Failure> {
        self.formats()?;
        let mut setting = self.machine.setting()?;
        // Threads of a stream have clocks of their own, so that one that is ahead would queue behind
        // references that come later.
        setting.options.costs.service = Cycles(0);
        let rules = kilocore_command_line::chosen(&self.policy, &Rule::ALL);
        let mut jobs = Vec::new();
        for rule in rules {
            let delays = if rule.has_delay() { &self.delay.0[..] } else { &[1] };
            jobs.extend(delays.iter().map(|&delay| (rule, delay)));
        }
        let memory = |&(rule, delay): &(Rule, u32)| {
            let told = Told { delay, ..setting.told };
            let memory = Memory::new(setting.options.clone(), rule.make(&told))?;
            Ok(if rule == Rule::Optimum { memory.with_optimum() } else { memory })
        };
        let memories = jobs.iter().map(memory).collect::<Result<Vec<Memory>, Failure>>()?;
        let streamed = Streamed::new(memories, setting.page)?;
        let machine = self.machine.name().map(str::to_owned);
        Ok(Simulation { setting, machine, jobs, streamed })
    }

    fn formats(&self) -> Result<Vec<(&Path, Format)>, Failure> {
        output::files(&self.output)
    }

    /// Prints and writes what has come out.
    pub(super) fn deliver(
        &self,
        simulation: &Simulation,
        about: &About,
        not_covered: &[String],
    ) -> Result<(), Failure> {
        let outcomes = simulation.outcomes();
        let results = Results {
            setting: &simulation.setting,
            machine: simulation.machine.as_deref(),
            about,
            threads: simulation.streamed.threads(),
            not_covered,
            outcomes: &outcomes,
        };
        let document = self.json.then(|| Document::new(&results));
        output::deliver(&results, &self.formats()?, document, || tables::all(&results))
    }
}

impl Simulation {
    /// Takes the next event.
    pub(super) fn take(&mut self, event: &Event) {
        self.streamed.take(event);
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let memories = self.streamed.memories().zip(&self.jobs);
        memories.map(|(memory, &(rule, delay))| Outcome::of(memory, rule, delay)).collect()
    }
}

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        let title = format!("Where the pages of {} lie", self.about.command.join(" "));
        page(title, self.machine_name().to_owned(), self.setting, tables::all(self))
    }

    fn svg(&self) -> Result<String, ReportError> {
        Err(ReportError::NoCurves)
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(csv_rows(self))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&Document::new(self))
    }
}
