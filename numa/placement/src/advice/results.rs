//! What was advised, and of what.

use std::io::Read;

use kilocore_machine::Description;
use kilocore_references::{About, Ending, Reader};
use kilocore_show::Generated;

use super::{Advice, Thresholds};
use crate::Setting;

/// What was advised, and of what.
#[derive(Debug)]
pub struct Results {
    pub(super) machine: Description,
    pub(super) setting: Setting,
    pub(super) about: About,
    /// What is not in the trace, in words, the worst first.
    pub(super) unseen: Vec<String>,
    /// From where on something counted.
    pub(super) thresholds: Thresholds,
    pub(super) advice: Advice,
    pub(super) generated: Generated,
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
