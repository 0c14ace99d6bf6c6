//! What the hardware does: it counts, translates, queues, and tells copies of writes.

use kilocore_platform::Cycles;

use super::{Copied, Entry, Machine, UNPLACED, Whereabouts};
use crate::options::{Coherence, Start};
use crate::tlb::Slot;
use crate::units::{NEVER, Node, Page, Processor};

impl Machine {
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

    /// Lets a page be as if nobody had referred to it.
    pub(crate) fn forget(&mut self, page: Page) {
        for node in (0..self.options.nodes).map(|node| Node(node as u8)) {
            self.begin_counts(page, node, NEVER);
        }
        self.pages[page.index()] = UNPLACED;
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
    ///
    /// Their place among the references of others is that of the burst, whatever was done for it before,
    /// such as a daemon's work. Otherwise a memory would keep itself free for them until that is done, and
    /// let others wait who come earlier.
    #[inline]
    pub(crate) fn queue(&mut self, node: Node, references: u64) {
        let service = self.options.costs.service;
        if service.0 == 0 {
            return;
        }
        let busy = &mut self.busy_until[node.index()];
        let waits = busy.since(self.now + self.spent);
        *busy = (*busy).max(self.now) + Cycles(service.0 * references);
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
}
