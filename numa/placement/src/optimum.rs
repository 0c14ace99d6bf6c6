//! The least that a string of references can cost, for somebody who knows the future.
//!
//! Under write-update a node's copies cost it the same whatever other nodes have: bringing them, and
//! being told of the others' writes. So each page and node is a problem of its own, with two states:
//! there is a copy or not. Giving one up is free. The least cost of being in either state after so many
//! references is found from the least costs before (dynamic programming), and only the difference of
//! the two has to be kept. No reference has to be remembered, and the answer is exact.
//!
//! Under write-invalidate a write by another node takes the copy away.
//!
//! Pages stay at home where they were first. Moving a home can save more than that where one node
//! after the other writes a page, so for a policy that moves homes this is not a lower bound.
//! Queues at memories are left out.

use kilocore_platform::Cycles;

use crate::options::{Coherence, Options};
use crate::policy::{At, Burst};
use crate::units::{Node, Nodes, Page};

/// Finds the least cost while the references go by.
#[derive(Debug)]
pub(crate) struct Optimum {
    options: Options,
    cycles: u64,
    bringing: u64,
    /// By page and node: how much more the least is that ends with a copy than the least.
    ahead: Vec<u64>,
    /// By page: nodes for which having a copy now may be part of the best.
    in_question: Vec<Nodes>,
}

impl Optimum {
    pub(crate) fn new(options: &Options) -> Self {
        let bringing = options.costs.bringing().0;
        let options = options.clone();
        Self { options, cycles: 0, bringing, ahead: Vec::new(), in_question: Vec::new() }
    }

    /// The least so far.
    pub(crate) fn cycles(&self) -> Cycles {
        Cycles(self.cycles)
    }

    pub(crate) fn record(&mut self, at: At, burst: Burst, home: Node) {
        self.make_room(at.page);
        // Reads first, as the memory serves them. Of several that are alike, a copy serves all if it
        // serves one.
        let costs = &self.options.costs;
        let (reads, writes) = (u64::from(burst.reads), u64::from(burst.writes));
        let local = costs.local.0;
        if at.node == home {
            self.cycles += local * (reads + writes);
        } else {
            let remote = costs.read(self.options.nodes, at.node, home).0;
            self.step(at.page, at.node, reads * remote, reads * local);
        }
        if writes > 0 {
            self.tell(at.page, at.node, writes);
        }
        if at.node != home {
            let costs = &self.options.costs;
            let with_copy = writes * (costs.local.0 + costs.update.0);
            self.step(at.page, at.node, writes * costs.remote_write.0, with_copy);
        }
    }

    /// Tells the copies on other nodes of writes.
    fn tell(&mut self, page: Page, from: Node, writes: u64) {
        let update = self.options.costs.update.0;
        for node in self.in_question[page.index()].without(from).iter() {
            match self.options.coherence {
                Coherence::WriteUpdate => self.step(page, node, 0, writes * update),
                Coherence::WriteInvalidate => self.lose(page, node),
            }
        }
    }

    /// Adds what something costs a node without and with a copy of a page.
    fn step(&mut self, page: Page, node: Node, without: u64, with: u64) {
        let index = page.index() * self.options.nodes as usize + node.index();
        let with = self.ahead[index] + with;
        let least = without.min(with);
        let ahead = (with - least).min(self.bringing);
        self.cycles += least;
        self.ahead[index] = ahead;
        let nodes = &mut self.in_question[page.index()];
        *nodes = if ahead < self.bringing { nodes.with(node) } else { nodes.without(node) };
    }

    /// Lets a node have no copy any more.
    fn lose(&mut self, page: Page, node: Node) {
        let index = page.index() * self.options.nodes as usize + node.index();
        self.ahead[index] = self.bringing;
        let nodes = &mut self.in_question[page.index()];
        *nodes = nodes.without(node);
    }

    /// A page is gone.
    pub(crate) fn forget(&mut self, page: Page) {
        for node in 0..self.options.nodes {
            if page.index() < self.in_question.len() {
                self.lose(page, Node(node as u8));
            }
        }
    }

    fn make_room(&mut self, page: Page) {
        if page.index() >= self.in_question.len() {
            let pages = page.index() + 1;
            self.in_question.resize(pages, Nodes::NONE);
            self.ahead.resize(pages * self.options.nodes as usize, self.bringing);
        }
    }
}
