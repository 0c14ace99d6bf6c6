//! The adjustable DELAY counter of Lee and Cho.
//!
//! A page that one node has gained from copying is worth copying for others, too, and sooner; one that
//! a node has lost by is not. So once in a period a daemon on each node looks at the node's copies,
//! and tells the other processors to shorten or to lengthen their delays for that page.
//!
//! # The rule (equations 1 to 4)
//! A copy that was referred to *N* times and told of *U* writes has gained if *N* exceeds
//! *T* = (*C_c* + *U*·*C_u*) / (*R* − 1), where *C_c* is the cost of bringing it, *C_u* that of a
//! write it is told of, and *R* how many local references take as long as a remote one. The rate of
//! gain or loss is (*N* − *T*) / *T*. Below 0.1 either way nothing happens. Otherwise the step is 250
//! and 50 for each 0.1 of the rate, and 500 at most.
//!
//! A processor collects what it is told in a queue of (*n* − 1)·2 places. When that is full it adds up
//! the steps for each page and adjusts its counters, within bounds. It does so in each period in any
//! case.
//!
//! # What the paper leaves open
//! Every choice is an option ([`AdjustableOptions`]), and these are the defaults:
//!
//! * **The unit of the costs.** Inequality (1) sets a cost beside a number of local references, so it
//!   must be in units of these ([`CopyCost::References`]: *T* is 48 for a copy that is told of
//!   nothing). As printed, in raw cycles, *T* is 242 ([`CopyCost::Cycles`]).
//! * **Whether bringing a copy includes the fault**: it does, here.
//! * **Who is told**: all processors whose node has no copy, since the page table of a processor has a
//!   counter for each page from the beginning ([`Audience::WithoutCopy`]).
//! * **When a copy is given up**: never. With `drops`, the daemon gives up one that has lost.
//! * **A delay outside of the bounds at first**: stays so until it is adjusted.
//! * **A copy that was given up and comes again**: its delay is what it was adjusted to last.

use kilocore_platform::Cycles;

use crate::machine::Machine;
use crate::policy::{At, Decision, Policy};
use crate::units::{Node, Page, Processor};

/// In what unit the costs of inequality (1) are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyCost {
    /// How many local references take as long.
    References,
    /// Cycles, as the formula is printed.
    Cycles,
}

/// Which processors are told to adjust their delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// All whose node has no copy of the page.
    WithoutCopy,
    /// Those of them that have referred to it.
    Referrers,
}

/// What the paper says, and what it leaves open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdjustableOptions {
    /// Remote references until a copy is brought, at first.
    pub delay: u32,
    /// The least and the largest delay after an adjustment.
    pub bounds: (u32, u32),
    /// How often the daemon runs. The paper says 3 s, and not of which clock.
    pub period: Cycles,
    /// In what unit costs are compared with references.
    pub unit: CopyCost,
    /// Whether bringing a copy includes the fault.
    pub with_fault: bool,
    /// The rate of gain or loss from which on there is a step.
    pub least_rate: f64,
    /// The step at a rate of 0.
    pub base_step: f64,
    /// What a rate of 1 adds to it.
    pub step_by_rate: f64,
    /// The largest step, whatever the rate.
    pub most_step: f64,
    /// Places in a processor's queue for each other processor.
    pub queue_places: u32,
    /// Which processors are told to adjust their delays.
    pub told: Audience,
    /// Whether the daemon gives up copies that have lost.
    pub drops: bool,
}

impl AdjustableOptions {
    /// The paper's rule, with an initial delay.
    #[must_use]
    pub fn new(delay: u32) -> Self {
        Self {
            delay,
            bounds: (100, 5000),
            period: Cycles(1_000_000),
            unit: CopyCost::References,
            with_fault: true,
            least_rate: 0.1,
            base_step: 250.0,
            step_by_rate: 500.0,
            most_step: 500.0,
            queue_places: 2,
            told: Audience::WithoutCopy,
            drops: false,
        }
    }
}

/// The policy of Lee and Cho, with adjustable delays.
#[derive(Debug)]
pub struct Adjustable {
    options: AdjustableOptions,
    /// The delay by page and processor.
    delays: Vec<u32>,
    /// What each processor has been told and has not done yet.
    queues: Vec<Vec<(Page, i64)>>,
}

impl Adjustable {
    /// The policy, for a machine that has met no page.
    #[must_use]
    pub fn new(options: AdjustableOptions) -> Self {
        Self { options, delays: Vec::new(), queues: Vec::new() }
    }

    fn delay_of(&mut self, machine: &Machine, page: Page, processor: Processor) -> &mut u32 {
        let processors = machine.options().processors() as usize;
        let pages = machine.pages() as usize;
        if self.delays.len() < pages * processors {
            self.delays.resize(pages * processors, self.options.delay);
        }
        &mut self.delays[page.index() * processors + processor.index()]
    }

    /// The rate at which a copy has gained, or lost if it is below 0.
    fn rate(&self, machine: &Machine, page: Page, node: Node) -> f64 {
        let AdjustableOptions { unit, with_fault, .. } = self.options;
        let costs = &machine.options().costs;
        let local = costs.local.0 as f64;
        let fault = if with_fault { costs.fault.0 } else { 0 };
        let updates = u64::from(machine.updates(page, node));
        let cycles = (costs.page_copy.0 + fault + updates * costs.update.0) as f64;
        let cost = match unit {
            CopyCost::References => cycles / local,
            CopyCost::Cycles => cycles,
        };
        let ratio = costs.mean_remote_read(machine.options().nodes) / local;
        let needed = cost / (ratio - 1.0);
        (machine.local_references(page, node) as f64 - needed) / needed
    }

    /// By how much delays change for such a rate: less after a gain, more after a loss.
    fn step(&self, rate: f64) -> i64 {
        let AdjustableOptions { least_rate, base_step, step_by_rate, most_step, .. } = self.options;
        if rate.abs() < least_rate {
            return 0;
        }
        let step = (base_step + rate.abs() * step_by_rate).min(most_step).round() as i64;
        if rate > 0.0 { -step } else { step }
    }

    fn tell_others(&mut self, machine: &mut Machine, page: Page, step: i64) {
        let processors = machine.options().processors();
        for processor in (0..processors).map(Processor) {
            let node = machine.options().node_of(processor);
            let told = match self.options.told {
                Audience::WithoutCopy => !machine.is_local(page, node),
                Audience::Referrers => machine.refers_remotely(page, processor),
            };
            if told {
                machine.send_message();
                self.enqueue(machine, processor, page, step);
            }
        }
    }

    fn enqueue(&mut self, machine: &mut Machine, processor: Processor, page: Page, step: i64) {
        let processors = machine.options().processors();
        let places = ((processors - 1) * self.options.queue_places) as usize;
        self.queues.resize(processors as usize, Vec::new());
        if self.queues[processor.index()].len() >= places {
            self.adjust(machine, processor);
        }
        self.queues[processor.index()].push((page, step));
    }

    /// Does what a processor has been told, once for each page.
    fn adjust(&mut self, machine: &mut Machine, processor: Processor) {
        let Some(queue) = self.queues.get_mut(processor.index()) else { return };
        let mut steps = std::mem::take(queue);
        steps.sort_by_key(|&(page, _)| page);
        for same in steps.chunk_by(|a, b| a.0 == b.0) {
            let sum: i64 = same.iter().map(|&(_, step)| step).sum();
            if sum != 0 {
                self.adjust_page(machine, processor, same[0].0, sum);
            }
        }
        steps.clear();
        self.queues[processor.index()] = steps;
    }

    fn adjust_page(&mut self, machine: &mut Machine, processor: Processor, page: Page, by: i64) {
        let (least, most) = self.options.bounds;
        let adjusted =
            |delay: u32| (i64::from(delay) + by).clamp(i64::from(least), i64::from(most)) as u32;
        let delay = self.delay_of(machine, page, processor);
        *delay = adjusted(*delay);
        if machine.refers_remotely(page, processor) {
            let left = machine.counter(page, processor);
            machine.set_counter(page, processor, adjusted(left));
        }
    }
}

impl Policy for Adjustable {
    fn first_remote(&mut self, machine: &mut Machine, at: At) -> u32 {
        *self.delay_of(machine, at.page, at.processor)
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Replicate
    }

    fn forget(&mut self, machine: &Machine, page: Page) {
        let processors = machine.options().processors() as usize;
        if let Some(delays) = self.delays.chunks_mut(processors).nth(page.index()) {
            delays.fill(self.options.delay);
        }
        for queue in &mut self.queues {
            queue.retain(|&(its, _)| its != page);
        }
    }

    fn period(&self) -> Option<Cycles> {
        Some(self.options.period)
    }

    fn daemon(&mut self, machine: &mut Machine, node: Node, _: Processor) {
        for processor in machine.processors_of(node) {
            self.adjust(machine, processor);
        }
        for page in (0..machine.pages()).map(Page) {
            if !machine.copies(page).contains(node) {
                continue;
            }
            let rate = self.rate(machine, page, node);
            let step = self.step(rate);
            if step != 0 {
                self.tell_others(machine, page, step);
            }
            if step > 0 && self.options.drops {
                machine.drop_copy(page, node);
            }
        }
    }
}
