//! `kilocore-lab numa --trace`: what the references of a real program cost under each policy.

mod document;
mod results;
mod tables;

use std::path::Path;

use document::{Document, points};
use kilocore_command_line::reports::{ReportFile, Reports};
use kilocore_command_line::{Failure, output};
use kilocore_lab::numa::Replay;
use kilocore_references::Reader;
use kilocore_show::{About, Host, Lines, Points, Study, Table};
use results::Results;
use serde::Serialize;

/// Gives the references of a trace to all policies, and their outcomes out.
pub(super) fn simulate(
    trace: &Path,
    mut replay: Replay,
    machine: Option<&str>,
    reports: &Reports,
    files: &[ReportFile<'_>],
) -> Result<(), Failure> {
    let mut reader = Reader::open(trace)?;
    for event in reader.by_ref() {
        replay.take(&event?);
    }
    let outcomes = replay.outcomes();
    let results = Results {
        setting: replay.setting(),
        machine,
        about: reader.about(),
        threads: replay.threads(),
        outcomes: &outcomes,
    };
    reports.deliver_study(files, &results)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: output::generated(),
            kind: "A program's references, simulated",
            title: format!("Where the pages of {} lie", self.about.command.join(" ")),
            host: Host::named(self.machine_name(), self.setting.processors_on_nodes()),
            parameters: self.setting.parameters(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        Vec::new()
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
