//! What is known of one event: its own tree, and when and where its samples came.

use std::collections::BTreeSet;

use super::header::Header;
use crate::{Contexts, Rate, Unit};

/// Threads have numbers below this: Linux's `PID_MAX_LIMIT`.
const THREADS: u32 = 1 << 22;

/// Letters that `perf` takes behind an event's name.
const MODIFIERS: &[u8] = b"ukhGHIpPSDWeb";

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
    /// Its name with its modifiers; empty if the text does not name events.
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
    pub(crate) fn span(&self) -> Option<u64> {
        self.times.map(|(first, last)| last - first)
    }

    /// How many threads samples came from.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The name as text; none if there is none.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.name.is_empty()).then(|| String::from_utf8_lossy(&self.name).into_owned())
    }

    /// Whether this is the event that somebody names so.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name.as_bytes() || plain(&self.name) == name.as_bytes()
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

/// An event's name without modifiers: `cycles` of `cycles:ppp`.
pub(crate) fn plain(name: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', name) else { return name };
    let modifiers = &name[colon + 1..];
    if modifiers.iter().all(|letter| MODIFIERS.contains(letter)) { &name[..colon] } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_do_not_belong_to_the_unit() {
        for (name, wanted) in [
            ("cycles", "cycles"),
            ("cpu-clock:ppp", "cpu-clock"),
            ("cycles:", "cycles"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("sched:sched_switch:u", "sched:sched_switch"),
            ("cpu/cycles/P", "cpu/cycles/P"),
        ] {
            assert_eq!(plain(name.as_bytes()), wanted.as_bytes());
        }
    }

    #[test]
    fn threads_are_counted_once() {
        let mut threads = Threads::default();
        for thread in [0, 63, 64, 64, 4_194_303, 4_194_304, u32::MAX] {
            threads.insert(thread);
        }
        assert_eq!(threads.len(), 4);
    }
}
