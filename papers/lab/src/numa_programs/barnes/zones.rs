//! Which bodies are whose.
//!
//! Along the tree, bodies are in an order in which neighbours are close together. It is cut into
//! zones of the same cost, one for each thread: the costzones of Singh and others (1995).

use kilocore_platform::Platform;

use super::Barnes;
use super::build::ROOT;
use super::tree::Link;

impl<P: Platform> Barnes<P> {
    /// Finds the bodies of this thread's zone and returns how many they are.
    pub(super) fn take_zone(&self, me: usize) -> usize {
        let own = &self.own[me];
        let all = u64::from(self.cells[ROOT].cost.get());
        let border = |thread: usize| all * thread as u64 / self.threads as u64;
        let (begin, end) = (border(me), border(me + 1));
        // The cost of what lies before the place that the walk has come to.
        let (mut before, mut found) = (0, 0);
        let mut depth = 1;
        own.stack[0].cell.set(ROOT as u32);
        own.stack[0].next.set(0);
        while depth > 0 && before < end {
            let frame = &own.stack[depth - 1];
            let next = frame.next.get() as usize;
            if next == 8 {
                depth -= 1;
                continue;
            }
            frame.next.set(next as u32 + 1);
            match Link::decode(self.cells[frame.cell.get() as usize].children[next].get()) {
                Link::Nothing => {}
                Link::Body(body) => {
                    if before >= begin {
                        own.bodies[found].set(body as u32);
                        found += 1;
                    }
                    before += u64::from(self.bodies[body].cost.get());
                }
                Link::Cell(below) => {
                    let cost = u64::from(self.cells[below].cost.get());
                    if before + cost <= begin {
                        before += cost;
                    } else {
                        own.stack[depth].cell.set(below as u32);
                        own.stack[depth].next.set(0);
                        depth += 1;
                    }
                }
            }
        }
        found
    }
}
