//! What `perf script` says of a recording.

use std::collections::BTreeMap;
use std::path::Path;

use super::host::Host;

/// A sample: what it stands for, and its functions, the innermost first.
struct Sample {
    weight: u64,
    functions: Vec<String>,
}

/// The samples of a recording.
pub(crate) struct Script {
    samples: Vec<Sample>,
}

impl Script {
    pub(crate) fn new(host: &Host, file: &Path) -> Self {
        let file = file.display().to_string();
        Self::parse(&host.perf_prints(&["script", "-i", &file, "--no-inline", "-F", FIELDS]), None)
    }

    /// Of one of several events.
    pub(crate) fn of_event(host: &Host, file: &Path, event: &str) -> Self {
        let file = file.display().to_string();
        let text = host.perf_prints(&["script", "-i", &file, "--no-inline", "-F", FIELDS]);
        Self::parse(&text, Some(event))
    }

    /// A sample begins with a period and an event; its stack is in the same line or in those below.
    fn parse(text: &str, event: Option<&str>) -> Self {
        let mut samples: Vec<Sample> = Vec::new();
        let mut taken = false;
        for line in text.lines() {
            let mut frame = line.trim();
            if let Some((weight, sampled, rest)) = head(frame) {
                taken = event.is_none_or(|event| event == sampled);
                samples.extend(taken.then_some(Sample { weight, functions: Vec::new() }));
                frame = rest;
            }
            // An address, then the function.
            if let (true, Some((_, function))) = (taken, frame.split_once(' ')) {
                let sample = samples.last_mut().expect("it has begun");
                sample.functions.push(function.trim().to_owned());
            }
        }
        Self { samples }
    }

    /// What fell on each function itself.
    pub(crate) fn own(&self) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for Sample { weight, functions } in &self.samples {
            // perf prints no line for a stack that it cannot show.
            let name = functions.first().map_or("[unknown]", |name| name).to_owned();
            *sums.entry(name).or_insert(0) += weight;
        }
        sums
    }

    /// What fell on each function or on what it called.
    pub(crate) fn inclusive(&self) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for Sample { weight, functions } in &self.samples {
            let mut names: Vec<&String> = functions.iter().collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                *sums.entry(name.clone()).or_insert(0) += weight;
            }
        }
        sums
    }
}

/// What is asked for.
const FIELDS: &str = "period,event,ip,sym";

/// The period and the event that a sample begins with, and what follows.
fn head(line: &str) -> Option<(u64, &str, &str)> {
    let (period, rest) = line.split_once(' ')?;
    let (event, rest) = rest.trim_start().split_once(':')?;
    // Events may have modifiers after a colon of their own.
    let rest = rest.trim_start_matches(|c: char| c != ' ').trim();
    let is_event = !event.contains(' ') && event.contains(|c: char| c.is_ascii_alphabetic());
    is_event.then_some((period.parse().ok()?, event, rest))
}
