//! What is known of one event: its own tree, and when and where its samples came.

use std::collections::BTreeSet;

use kilocore_figures::Nanoseconds;

use super::header::Header;
use crate::event_name::plain;
use crate::{Contexts, Rate, Unit};

/// Threads have numbers below this: Linux's `PID_MAX_LIMIT`.
const THREADS: u32 = 1 << 22;

/// The threads that samples came from, a bit for each.
#[derive(Debug, Default)]
struct Threads {
    words: Vec<u64>,
}

impl Threads {
    fn insert(&mut self, thread: u32) {
        if thread < THREADS {
            let word = (thread / 64) as usize;
            if word >= self.words.len() {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= 1 << (thread % 64);
        }
    }

    fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Samples of an event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Its name with its modifiers, or without them if samples have several: those of a hybrid
    /// processor's kinds of cores. Empty if the text does not name events.
    pub(crate) name: Vec<u8>,
    pub(crate) contexts: Contexts,
    pub(crate) samples: u64,
    /// Whether its samples say what they stand for; the first one decides.
    pub(crate) has_periods: bool,
    /// The period of all samples so far, none if they differ.
    period: Option<u64>,
    times: Option<(u64, u64)>,
    pub(crate) processors: BTreeSet<u32>,
    threads: Threads,
}

impl Event {
    /// An event of which the first sample was seen.
    pub(crate) fn new(header: &Header<'_>) -> Self {
        Self {
            name: header.event.unwrap_or_default().to_owned(),
            contexts: Contexts::default(),
            samples: 0,
            has_periods: header.period.is_some(),
            period: header.period,
            times: None,
            processors: BTreeSet::new(),
            threads: Threads::default(),
        }
    }

    /// Counts a sample's first line.
    pub(crate) fn count(&mut self, header: &Header<'_>) {
        self.samples += 1;
        if header.period != self.period {
            self.period = None;
        }
        if let Some(time) = header.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        if let Some(processor) = header.processor {
            self.processors.insert(processor);
        }
        if let Some(thread) = header.thread {
            self.threads.insert(thread);
        }
    }

    /// From the first sample to the last one.
    pub(crate) fn span(&self) -> Option<Nanoseconds> {
        self.times.map(|(first, last)| Nanoseconds(last - first))
    }

    /// How many threads samples came from.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The name as text; none if there is none.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.name.is_empty()).then(|| String::from_utf8_lossy(&self.name).into_owned())
    }

    /// Whether samples of this name are this event's. If their names differ, it goes by what they
    /// have in common from now on.
    pub(crate) fn takes(&mut self, name: &[u8]) -> bool {
        if self.name == name {
            return true;
        }
        let is_same = plain(&self.name) == plain(name);
        if is_same {
            self.name = plain(name).to_owned();
        }
        is_same
    }

    /// What its weights count.
    pub(crate) fn unit(&self) -> Unit {
        match plain(&self.name) {
            _ if !self.has_periods => Unit::Samples,
            b"" => Unit::Events("events".to_owned()),
            b"cpu-clock" | b"task-clock" => Unit::Nanoseconds,
            name => Unit::Events(String::from_utf8_lossy(name).into_owned()),
        }
    }

    /// The rate that the samples themselves show: a period that never changes.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.period.filter(|&period| self.samples > 1 && period > 0).map(Rate::Period)
    }
}

/// Whether somebody who asks for an event by this name means an event that is printed so.
pub(crate) fn is_called(printed: &[u8], name: &str) -> bool {
    printed == name.as_bytes() || plain(printed) == name.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_once() {
        let mut threads = Threads::default();
        for thread in [0, 63, 64, 64, 4_194_303, 4_194_304, u32::MAX] {
            threads.insert(thread);
        }
        assert_eq!(threads.len(), 4);
    }
}
