//! The machine: pages and their copies, what the hardware has counted, and what all that costs.
//!
//! This is what a [`Policy`](crate::Policy) may look at and change. [`Memory`](crate::Memory) has the
//! path of a reference through it.

mod hardware;

use kilocore_platform::Cycles;
use kilocore_sim::Random;

use crate::account::Account;
use crate::options::Options;
use crate::tlb::{Slot, Tlb};
use crate::units::{NEVER, Node, Nodes, Page, Processor};

/// Where a page is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whereabouts {
    pub(crate) home: Node,
    pub(crate) placed: bool,
    pub(crate) private: bool,
    pub(crate) trapped: bool,
    /// Nodes that have a copy, without the home.
    pub(crate) copies: Nodes,
}

/// A processor's entry for a page in its page table.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// What is left of the delay, or how often a copy was referred to.
    counter: u32,
    slot: Slot,
    /// Whether the counter of this remote page has begun.
    begun: bool,
}

/// What is counted for a copy of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Copied {
    updates: u32,
    budget: u32,
}

/// The pages and their copies, what the hardware has counted, and what all that costs.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    pages: Vec<Whereabouts>,
    entries: Vec<Entry>,
    copied: Vec<Copied>,
    tlbs: Vec<Tlb>,
    /// Until when each node's memory is busy.
    busy_until: Vec<Cycles>,
    next_home: u8,
    pub(crate) account: Account,
    /// Cycles of the reference under way.
    pub(crate) spent: Cycles,
    pub(crate) now: Cycles,
}

const UNPLACED: Whereabouts = Whereabouts {
    home: Node(0),
    placed: false,
    private: false,
    trapped: false,
    copies: Nodes::NONE,
};

impl Machine {
    pub(crate) fn new(options: Options) -> Self {
        let processors = options.processors();
        let tlb = |options: &Options, processor: u32| {
            let chance = || Random::new(options.seed, u64::from(processor));
            options.tlb.map(|tlb| Tlb::new(tlb, chance()))
        };
        Self {
            pages: Vec::new(),
            entries: Vec::new(),
            copied: Vec::new(),
            tlbs: (0..processors).filter_map(|processor| tlb(&options, processor)).collect(),
            busy_until: vec![Cycles(0); options.nodes as usize],
            next_home: 0,
            account: Account::default(),
            spent: Cycles(0),
            now: Cycles(0),
            options,
        }
    }

    // ---- what a policy may ask ------------------------------------------------------------

    /// How the machine was made.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What has happened so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// How many pages have been referred to: their numbers are below.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages.len() as u32
    }

    /// The time on the clock of the processor that refers to memory.
    #[must_use]
    pub fn now(&self) -> Cycles {
        self.now
    }

    /// The node that a page is at home on.
    #[must_use]
    pub fn home(&self, page: Page) -> Node {
        self.pages[page.index()].home
    }

    /// The other nodes that have a copy of a page.
    #[must_use]
    pub fn copies(&self, page: Page) -> Nodes {
        self.pages[page.index()].copies
    }

    /// Whether a node has the page, as its home or as a copy.
    #[must_use]
    #[inline]
    pub fn is_local(&self, page: Page, node: Node) -> bool {
        let Whereabouts { home, copies, .. } = self.pages[page.index()];
        home == node || copies.contains(node)
    }

    /// The processors of a node.
    pub fn processors_of(&self, node: Node) -> impl Iterator<Item = Processor> + use<> {
        let each = self.options.processors_per_node;
        let first = u32::from(node.0) * each;
        (first..first + each).map(Processor)
    }

    /// How often a node has referred to its copy of a page since it was brought, or since that was
    /// [last begun again](Self::begin_counts), as far as the counters reach.
    #[must_use]
    pub fn local_references(&self, page: Page, node: Node) -> u64 {
        self.processors_of(node).map(|each| u64::from(self.counter(page, each))).sum()
    }

    /// Of how many writes the copy of a page on a node has been told since then.
    #[must_use]
    pub fn updates(&self, page: Page, node: Node) -> u32 {
        self.copied[self.copied_index(page, node)].updates
    }

    /// Whether a processor has referred to a page that is remote for it, and still is.
    #[must_use]
    pub fn refers_remotely(&self, page: Page, processor: Processor) -> bool {
        self.entries[self.entry_index(page, processor)].begun
    }

    /// A processor's counter for a page: what is left of the delay if the page is remote, and how
    /// often it was referred to if the node has a copy.
    #[must_use]
    pub fn counter(&self, page: Page, processor: Processor) -> u32 {
        let Entry { counter, slot, .. } = self.entries[self.entry_index(page, processor)];
        match slot {
            Slot::NONE => counter,
            slot => self.tlbs[processor.index()].counter(slot),
        }
    }

    // ---- what a policy may do -------------------------------------------------------------

    /// Sets a processor's counter for a page, in the page table and the translation buffer.
    pub fn set_counter(&mut self, page: Page, processor: Processor, counter: u32) {
        let counter = counter.min(self.largest_counter());
        let index = self.entry_index(page, processor);
        let entry = &mut self.entries[index];
        entry.counter = counter;
        if entry.slot != Slot::NONE {
            self.tlbs[processor.index()].set_counter(entry.slot, counter);
        }
    }

    /// Begins to count a processor's remote references to a page.
    pub fn begin_delay(&mut self, page: Page, processor: Processor, delay: u32) {
        self.set_counter(page, processor, delay);
        let index = self.entry_index(page, processor);
        self.entries[index].begun = true;
    }

    /// Lets both counts of a copy begin again: its node's references, and what it is told of.
    pub fn begin_counts(&mut self, page: Page, node: Node, budget: u32) {
        let index = self.copied_index(page, node);
        self.copied[index] = Copied { updates: 0, budget };
        for processor in self.processors_of(node) {
            self.set_counter(page, processor, 0);
            let index = self.entry_index(page, processor);
            self.entries[index].begun = false;
        }
    }

    /// Gives a node a copy of a page, unless it has one or there may be no more.
    pub fn replicate(&mut self, page: Page, node: Node, budget: u32) -> bool {
        let whereabouts = &mut self.pages[page.index()];
        let others = whereabouts.copies.len() + 1;
        if whereabouts.home == node || others >= self.options.most_copies {
            return false;
        }
        whereabouts.copies = whereabouts.copies.with(node);
        self.account.replications += 1;
        self.charge(self.options.costs.page_copy);
        self.begin_counts(page, node, budget);
        true
    }

    /// Takes the copy of a page away from a node that is not its home.
    pub fn drop_copy(&mut self, page: Page, node: Node) {
        let whereabouts = &mut self.pages[page.index()];
        if whereabouts.copies.contains(node) {
            whereabouts.copies = whereabouts.copies.without(node);
            self.account.drops += 1;
            self.begin_counts(page, node, NEVER);
        }
    }

    /// Makes a node the home of a page. Where it has a copy already, nothing is carried.
    pub fn migrate(&mut self, page: Page, node: Node) {
        let Whereabouts { home, copies, .. } = self.pages[page.index()];
        if home == node {
            return;
        }
        if !copies.contains(node) {
            self.charge(self.options.costs.page_copy);
        }
        let whereabouts = &mut self.pages[page.index()];
        whereabouts.home = node;
        whereabouts.copies = copies.without(node);
        self.account.migrations += 1;
        self.begin_counts(page, node, NEVER);
        self.begin_counts(page, home, NEVER);
    }

    /// Lets the next reference to a page, by whomever, come to the policy first.
    pub fn trap(&mut self, page: Page) {
        self.pages[page.index()].trapped = true;
    }

    /// Charges for a fault that a daemon causes, so that processors learn where a page is now.
    pub fn fault(&mut self) {
        self.charge(self.options.costs.fault);
    }

    /// Charges for a message from the processor under way to another one.
    pub fn send_message(&mut self) {
        self.account.messages += 1;
        self.charge(self.options.costs.message);
    }

    #[inline]
    fn entry_index(&self, page: Page, processor: Processor) -> usize {
        page.index() * self.options.processors() as usize + processor.index()
    }

    #[inline]
    fn copied_index(&self, page: Page, node: Node) -> usize {
        page.index() * self.options.nodes as usize + node.index()
    }
}
