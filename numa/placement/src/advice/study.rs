//! Advice as it is shown, with what it is of and what it does not cover.

mod document;
mod tables;

use std::io::Read;

use document::{Document, points};
use kilocore_machine::Description;
use kilocore_references::{Ending, Reader};
use kilocore_show::{About, Generated, Host, Lines, Points, Study, Table};
use serde::Serialize;

use super::{Advice, Thresholds};
use crate::Setting;

/// What was advised, and of what.
#[derive(Debug)]
pub struct Results {
    machine: Description,
    setting: Setting,
    about: kilocore_references::About,
    /// What is not in the trace, in words, the worst first.
    unseen: Vec<String>,
    /// From where on something counted.
    thresholds: Thresholds,
    advice: Advice,
    generated: Generated,
}

impl Results {
    /// Returns advice from a trace that was read to its end, beside what is not in the trace.
    #[must_use]
    pub fn new(
        machine: Description,
        setting: Setting,
        trace: &Reader<impl Read>,
        thresholds: Thresholds,
        advice: Advice,
        generated: Generated,
    ) -> Self {
        let unseen = unseen(trace, &advice);
        let about = trace.about().clone();
        Self { machine, setting, about, unseen, thresholds, advice, generated }
    }
}

/// What the figures do not cover, in words.
fn unseen(trace: &Reader<impl Read>, advice: &Advice) -> Vec<String> {
    let contents = trace.contents().copied().unwrap_or_default();
    let mut unseen = Vec::new();
    if contents.threads_unrecorded > 0 {
        let unrecorded = contents.threads_unrecorded;
        unseen.push(format!("{unrecorded} threads, as too many lived at a time"));
    }
    match contents.ending {
        Ending::Exited(_) => {}
        Ending::Killed(signal) => {
            unseen.push(format!("the last moments of each thread, as signal {signal} ended it"));
        }
        Ending::Replaced => unseen.push("the program that was executed in its place".to_owned()),
        Ending::Stopped => unseen.push("what came after the recording was stopped".to_owned()),
    }
    if advice.forks > 0 {
        unseen.push(format!("the processes that it forked, {} times", advice.forks));
    }
    unseen.extend(trace.about().not_covered.iter().cloned());
    unseen
}

impl Study for Results {
    fn about(&self) -> About {
        let options = &self.setting.options;
        About {
            generated: self.generated.clone(),
            kind: "A program's references, simulated",
            title: format!("Where the memory of {} should lie", self.about.command.join(" ")),
            host: Host::Real {
                name: self.machine.name.clone(),
                title: format!(
                    "{} processors on {} memory nodes",
                    options.processors(),
                    options.nodes
                ),
                facts: Vec::new(),
            },
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
