//! A choice between copying, moving and spreading pages by samples of traffic, like Carrefour
//! (Dashti and others, ASPLOS 2013).
//!
//! The processors sample their references. Once in a period, a daemon looks at the samples of each
//! page that has enough of them:
//!
//! * all from one node: the page moves there;
//! * from several nodes, and only reads: each of these gets a copy, if the program reads enough;
//! * from several nodes, with writes: the page moves to the memory that is used least, if the
//!   memories are used unevenly.
//!
//! A page that has copies and is seen to be written loses them and is never copied again.
//!
//! Carrefour is written for kernels that keep copies the same by taking them away, and it decides for
//! the whole program which of the three ways are open. Of that there is here what can be seen in
//! references: the share of reads, and how uneven the memories' load is.

use std::num::NonZeroU32;

use kilocore_platform::Cycles;

use crate::machine::Machine;
use crate::policy::{At, Decision, Policy};
use crate::units::{NEVER, Node, Nodes, Page, Processor};

/// What Carrefour is told. The shares are its authors'.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarrefourOptions {
    /// How often the daemon decides.
    pub period: Cycles,
    /// Of how many references of a processor one is a sample.
    pub sample_every: NonZeroU32,
    /// Samples of a page that are enough.
    pub enough: u32,
    /// The least share of reads in all samples with which pages are copied.
    pub read_share: f64,
    /// The least standard deviation of the memories' load, as a share of the mean, from which on
    /// pages are spread.
    pub imbalance: f64,
}

impl CarrefourOptions {
    /// The shares of the authors, and a sample of 64 references.
    #[must_use]
    pub fn new(period: Cycles) -> Self {
        let sample_every = NonZeroU32::new(64).expect("not 0");
        Self { period, sample_every, enough: 2, read_share: 0.95, imbalance: 0.35 }
    }
}

/// What has been seen of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    by: Nodes,
    samples: u32,
    writes: u32,
    /// It had copies and was written.
    never_again: bool,
}

/// The policy that copies, moves or spreads pages by samples of traffic.
#[derive(Debug)]
pub struct Carrefour {
    options: CarrefourOptions,
    pages: Vec<Seen>,
    /// The samples of all pages, and how many of them were writes.
    samples: u64,
    writes: u64,
    /// Samples that each node's memory served.
    load: Vec<u64>,
    last: Cycles,
}

impl Carrefour {
    /// The policy, for a machine that has met no page.
    #[must_use]
    pub fn new(options: CarrefourOptions) -> Self {
        let (pages, load) = (Vec::new(), Vec::new());
        Self { options, pages, samples: 0, writes: 0, load, last: Cycles(0) }
    }

    fn decide(&mut self, machine: &mut Machine, page: Page) {
        let seen = self.pages[page.index()];
        let (home, copies) = (machine.home(page), machine.copies(page));
        if seen.writes > 0 && !copies.is_empty() {
            for node in copies.iter() {
                machine.drop_copy(page, node);
            }
            machine.fault();
            self.pages[page.index()].never_again = true;
        }
        if seen.samples < self.options.enough {
            return;
        }
        let mut by = seen.by.iter();
        match (by.next(), by.next()) {
            (Some(only), None) if only != home => {
                machine.fault();
                machine.migrate(page, only);
            }
            (Some(_), Some(_)) if seen.writes == 0 => self.copy(machine, page, seen),
            (Some(_), Some(_)) => self.spread(machine, page, seen.samples),
            _ => {}
        }
    }

    fn copy(&self, machine: &mut Machine, page: Page, seen: Seen) {
        let read_share = 1.0 - self.writes as f64 / self.samples as f64;
        if seen.never_again || read_share < self.options.read_share {
            return;
        }
        for node in seen.by.iter() {
            if !machine.is_local(page, node) {
                machine.fault();
                machine.replicate(page, node, NEVER);
            }
        }
    }

    /// Moves a page to the memory with the least load, if the load is uneven and less so afterwards.
    fn spread(&mut self, machine: &mut Machine, page: Page, samples: u32) {
        let nodes = self.load.len() as f64;
        let mean = self.load.iter().sum::<u64>() as f64 / nodes;
        let square = |load: &u64| (*load as f64 - mean).powi(2);
        let deviation = (self.load.iter().map(square).sum::<f64>() / nodes).sqrt();
        if deviation < self.options.imbalance * mean {
            return;
        }
        let samples = u64::from(samples);
        let home = machine.home(page);
        let (least, &load) =
            self.load.iter().enumerate().min_by_key(|&(_, load)| *load).expect("there are nodes");
        if load + samples < self.load[home.index()] {
            let least = Node(least as u8);
            machine.fault();
            machine.migrate(page, least);
            self.load[home.index()] = self.load[home.index()].saturating_sub(samples);
            self.load[least.index()] += samples;
        }
    }
}

impl Policy for Carrefour {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        NEVER
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Stay(NEVER)
    }

    fn forget(&mut self, _: &Machine, page: Page) {
        if let Some(seen) = self.pages.get_mut(page.index()) {
            self.samples -= u64::from(seen.samples);
            self.writes -= u64::from(seen.writes);
            *seen = Seen::default();
        }
    }

    fn period(&self) -> Option<Cycles> {
        Some(self.options.period)
    }

    fn daemon(&mut self, machine: &mut Machine, _: Node, _: Processor) {
        // One decision in a period is for the whole program. Whoever comes first makes it.
        if machine.now().since(self.last) < Cycles(self.options.period.0 / 2) {
            return;
        }
        self.last = machine.now();
        for page in (0..self.pages.len() as u32).map(Page) {
            self.decide(machine, page);
        }
        for seen in &mut self.pages {
            *seen = Seen { never_again: seen.never_again, ..Seen::default() };
        }
        (self.samples, self.writes) = (0, 0);
        self.load.fill(0);
    }

    fn sample_every(&self) -> Option<NonZeroU32> {
        Some(self.options.sample_every)
    }

    fn sampled(&mut self, machine: &mut Machine, at: At, write: bool) {
        self.pages.resize(machine.pages() as usize, Seen::default());
        self.load.resize(machine.options().nodes as usize, 0);
        let seen = &mut self.pages[at.page.index()];
        seen.by = seen.by.with(at.node);
        seen.samples += 1;
        seen.writes += u32::from(write);
        self.samples += 1;
        self.writes += u64::from(write);
        let local = machine.is_local(at.page, at.node);
        let served_by = if local { at.node } else { machine.home(at.page) };
        self.load[served_by.index()] += 1;
    }
}
