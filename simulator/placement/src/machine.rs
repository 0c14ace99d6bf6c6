//! The machine: pages and their copies, what the hardware has counted, and what all that costs.
//!
//! This is what a [`Policy`](crate::Policy) may look at and change. [`Memory`](crate::Memory) has the
//! path of a reference through it.

use kilocore_platform::Cycles;
use kilocore_sim::Random;

use crate::account::Account;
use crate::options::{Coherence, Options, Start};
use crate::policy::NEVER;
use crate::tlb::{Slot, Tlb};
use crate::units::{Node, Nodes, Page, Processor};

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

/// See the [module](self).
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

    // ---- the hardware ---------------------------------------------------------------------

    /// Charges the processor under way.
    #[inline]
    pub(crate) fn charge(&mut self, cost: Cycles) {
        self.spent += cost;
    }

    #[inline]
    pub(crate) fn whereabouts(&self, page: Page) -> Whereabouts {
        self.pages[page.index()]
    }

    pub(crate) fn clear_trap(&mut self, page: Page) {
        self.pages[page.index()].trapped = false;
    }

    /// Makes room for a page and those before it.
    #[cold]
    pub(crate) fn make_room(&mut self, page: Page) {
        let pages = page.index() + 1;
        let fresh = Entry { counter: 0, slot: Slot::NONE, begun: false };
        self.pages.resize(pages, UNPLACED);
        self.entries.resize(pages * self.options.processors() as usize, fresh);
        self.copied.resize(pages * self.options.nodes as usize, Copied::default());
    }

    /// Says that a program keeps a page for one processor.
    pub(crate) fn set_private(&mut self, page: Page) {
        if page.0 >= self.pages() {
            self.make_room(page);
        }
        self.pages[page.index()].private = true;
    }

    /// Finds a page its first home.
    #[cold]
    pub(crate) fn place(&mut self, page: Page, node: Node) {
        let whereabouts = &mut self.pages[page.index()];
        let in_turn = self.options.start == Start::RoundRobin && !whereabouts.private;
        whereabouts.placed = true;
        whereabouts.home = if in_turn { Node(self.next_home) } else { node };
        if in_turn {
            self.next_home = (self.next_home + 1) % self.options.nodes as u8;
        }
    }

    pub(crate) fn largest_counter(&self) -> u32 {
        self.options.tlb.map_or(u32::MAX, |tlb| tlb.largest())
    }

    /// Counts references to a copy up.
    pub(crate) fn count_up(&mut self, page: Page, processor: Processor, references: u64) {
        let counter = u64::from(self.counter(page, processor));
        let sum = (counter + references).min(u64::from(self.largest_counter()));
        self.count(page, processor, sum as u32);
    }

    /// Counts references to a remote page down. Returns whether the counter has come to 0.
    pub(crate) fn count_down(&mut self, page: Page, processor: Processor, references: u32) -> bool {
        let counter = self.counter(page, processor);
        if references == 0 || counter == NEVER {
            return false;
        }
        let left = counter.saturating_sub(references);
        self.count(page, processor, left);
        left == 0
    }

    /// What the hardware has counted is in the translation buffer only, if there is one.
    fn count(&mut self, page: Page, processor: Processor, counter: u32) {
        let index = self.entry_index(page, processor);
        match self.entries[index].slot {
            Slot::NONE => self.entries[index].counter = counter,
            slot => self.tlbs[processor.index()].set_counter(slot, counter),
        }
    }

    /// Loads a page into the processor's translation buffer, if it is not there.
    pub(crate) fn translate(&mut self, page: Page, processor: Processor) {
        let index = self.entry_index(page, processor);
        let Entry { counter, slot, .. } = self.entries[index];
        if slot != Slot::NONE {
            return;
        }
        let (slot, gone) = self.tlbs[processor.index()].load(page, counter);
        self.entries[index].slot = slot;
        if let Some((old, counter)) = gone {
            let index = self.entry_index(old, processor);
            self.entries[index].slot = Slot::NONE;
            if self.options.tlb.is_some_and(|tlb| tlb.writes_back) {
                self.entries[index].counter = counter;
            }
        }
        self.account.tlb_misses += 1;
        self.charge(self.options.costs.tlb_miss);
    }

    /// Waits for a node's memory to have time for some references, if memories can be busy.
    #[inline]
    pub(crate) fn queue(&mut self, node: Node, references: u64) {
        let service = self.options.costs.service;
        if service.0 == 0 {
            return;
        }
        let busy = &mut self.busy_until[node.index()];
        let arrival = self.now + self.spent;
        let waits = busy.since(arrival);
        *busy = arrival + waits + Cycles(service.0 * references);
        self.account.queued += waits.0;
        self.spent += waits;
    }

    /// Of how many writes from a node the copies of a page can be told until one has exhausted its
    /// budget.
    pub(crate) fn least_budget(&self, page: Page, from: Node) -> u32 {
        let others = self.pages[page.index()].copies.without(from).iter();
        others.map(|node| self.copied[self.copied_index(page, node)].budget).min().unwrap_or(NEVER)
    }

    /// Tells the copies of a page of writes from a node. Returns how many copies there were to tell,
    /// the home among them if the writer is not it but has a copy. `exhausted` gets the nodes whose
    /// budget has come to its end.
    pub(crate) fn update_copies(
        &mut self,
        page: Page,
        from: Node,
        writes: u32,
        exhausted: &mut Vec<Node>,
    ) -> u64 {
        let Whereabouts { home, copies, .. } = self.pages[page.index()];
        let others = copies.without(from);
        for node in others.iter() {
            let index = self.copied_index(page, node);
            let copied = &mut self.copied[index];
            copied.updates = copied.updates.saturating_add(writes);
            if copied.budget != NEVER {
                copied.budget = copied.budget.saturating_sub(writes);
                if copied.budget == 0 {
                    exhausted.push(node);
                }
            }
        }
        let home_too = home != from && copies.contains(from);
        u64::from(others.len()) + u64::from(home_too)
    }

    /// Takes all copies of a page away but the home's and the writer's. Returns how many went.
    pub(crate) fn invalidate_copies(&mut self, page: Page, writer: Node) -> u64 {
        let copies = self.pages[page.index()].copies;
        let others = copies.without(writer);
        for node in others.iter() {
            self.pages[page.index()].copies = self.pages[page.index()].copies.without(node);
            self.begin_counts(page, node, NEVER);
        }
        u64::from(others.len())
    }

    pub(crate) fn invalidates(&self) -> bool {
        self.options.coherence == Coherence::WriteInvalidate
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
