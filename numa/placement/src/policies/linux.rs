//! Migration as Linux balances memory: two faults in a row from one node.
//!
//! Now and then the kernel unmaps a program's pages, some at a time. The next reference to each is a
//! fault that says who uses the page. If the fault before it came from the same node, and that is not
//! the page's home, the page moves there. Nothing is ever copied.
//!
//! The kernel looks at one stretch of addresses after another, here at pages in the order in which
//! they were first touched. It runs more or less often as faults turn out to be remote or not; here
//! the period is fixed.

use kilocore_platform::Cycles;

use crate::machine::Machine;
use crate::policy::{At, Decision, Policy};
use crate::units::{NEVER, Node, Page, Processor};

/// The policy of Linux, which moves a page after two faults in a row from one node.
#[derive(Debug)]
pub struct LinuxBalancing {
    period: Cycles,
    /// How many pages are unmapped at a time.
    stretch: u32,
    next: u32,
    last_scan: Cycles,
    /// The node that each page's last fault came from.
    last: Vec<Option<Node>>,
}

impl LinuxBalancing {
    /// With pages unmapped once in a period. Linux takes 256 MiB at a time, 65,536 pages.
    #[must_use]
    pub fn new(period: Cycles, stretch: u32) -> Self {
        Self { period, stretch, next: 0, last_scan: Cycles(0), last: Vec::new() }
    }
}

impl Policy for LinuxBalancing {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        NEVER
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Stay(NEVER)
    }

    fn forget(&mut self, _: &Machine, page: Page) {
        if let Some(last) = self.last.get_mut(page.index()) {
            *last = None;
        }
    }

    fn period(&self) -> Option<Cycles> {
        Some(self.period)
    }

    fn daemon(&mut self, machine: &mut Machine, _: Node, _: Processor) {
        // One scan in a period is for the whole program. Whoever comes first does it.
        if machine.now().since(self.last_scan) < Cycles(self.period.0 / 2) {
            return;
        }
        self.last_scan = machine.now();
        let pages = machine.pages();
        for _ in 0..self.stretch.min(pages) {
            machine.trap(Page(self.next % pages));
            self.next = (self.next + 1) % pages;
        }
    }

    fn trapped(&mut self, machine: &mut Machine, at: At) -> Decision {
        self.last.resize(machine.pages() as usize, None);
        let before = self.last[at.page.index()].replace(at.node);
        let again = before == Some(at.node);
        let remote = machine.home(at.page) != at.node;
        if again && remote { Decision::Migrate } else { Decision::Stay(NEVER) }
    }
}
