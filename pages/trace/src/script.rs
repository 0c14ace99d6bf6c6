//! A trace as what each hardware thread of another machine has to do.
//!
//! The trace's threads are dealt to the hardware threads. Each of these does in the trace's order what its
//! threads did. Whoever releases a page waits until it has been allocated: so it does not matter whether the
//! other machine is faster or slower.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::{EventKind, Nanoseconds, Thread, Trace};

/// Something that a hardware thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// When it was done in the recording.
    pub at: Nanoseconds,
    /// Whether the pages are allocated or released.
    pub action: Action,
    /// The first of the pages. The pages of a trace are numbered here in the order in which they are
    /// allocated, and one that is allocated again has another number.
    pub first: u32,
    /// How many pages there are. Those of an allocation are neighbours.
    pub pages: u32,
}

/// What is done with pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The pages are allocated.
    Allocate {
        /// Whether they are to be filled with zeroes first.
        zeroed: bool,
    },
    /// The pages are released.
    Release,
}

/// A trace, dealt to hardware threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What each hardware thread does, in its order.
    pub steps: Vec<Vec<Step>>,
    /// How many pages are ever allocated.
    pub pages: u32,
    /// When the last event was in the recording.
    pub end: Nanoseconds,
}

impl Script {
    /// Deals a trace to so many hardware threads: the busiest of its threads first, each to the one that has
    /// least to do.
    ///
    /// # Panics
    /// If there are no hardware threads.
    #[must_use]
    pub fn new(trace: &Trace, cpus: u32) -> Self {
        let cpu_of = deal(trace, cpus);
        let mut steps = vec![Vec::new(); cpus as usize];
        // The numbers of the pages that are held.
        let mut held: BTreeMap<u32, u32> = BTreeMap::new();
        let mut pages = 0;
        for event in &trace.events {
            let (block, order) = event.kind.block();
            let block = block.0..block.0 + order.pages();
            let steps = &mut steps[cpu_of[&event.thread]];
            match event.kind {
                EventKind::Allocate { zeroed, .. } => {
                    let step = Step {
                        at: event.at,
                        action: Action::Allocate { zeroed },
                        first: pages,
                        pages: order.pages(),
                    };
                    held.extend(block.zip(pages..));
                    pages += order.pages();
                    steps.push(step);
                }
                EventKind::Release { .. } => {
                    let numbers = block.filter_map(|page| held.remove(&page));
                    steps.extend(runs(numbers).into_iter().map(|(first, pages)| Step {
                        at: event.at,
                        action: Action::Release,
                        first,
                        pages,
                    }));
                }
            }
        }
        let end = trace.events.last().map_or(Nanoseconds(0), |event| event.at);
        Self { steps, pages, end }
    }
}

/// Returns the runs of neighbours in a row of numbers.
fn runs(numbers: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}

fn deal(trace: &Trace, cpus: u32) -> BTreeMap<Thread, usize> {
    let mut events: BTreeMap<Thread, u64> = BTreeMap::new();
    for event in &trace.events {
        *events.entry(event.thread).or_default() += 1;
    }
    let mut busiest: Vec<_> = events.into_iter().collect();
    busiest.sort_by_key(|(thread, events)| (Reverse(*events), *thread));
    let mut load = vec![0; cpus as usize];
    let least = |load: &[u64]| (0..load.len()).min_by_key(|&cpu| load[cpu]);
    busiest
        .into_iter()
        .map(|(thread, events)| {
            let cpu = least(&load).expect("there is a hardware thread");
            load[cpu] += events;
            (thread, cpu)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_neighbours_are_found() {
        assert_eq!(runs([3, 4, 5, 9, 8].into_iter()), [(3, 3), (9, 1), (8, 1)]);
        assert_eq!(runs([].into_iter()), []);
    }
}
