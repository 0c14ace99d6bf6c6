//! What references cost, and all that is done for them.

use kilocore_platform::Cycles;

use crate::units::Node;

/// How long things take, in cycles of a processor.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// A reference to the node's own memory.
    pub local: Cycles,
    /// A read of another node's memory, `[from * nodes + to]`. One entry serves for all pairs.
    pub remote_read: Vec<Cycles>,
    /// A write to another node's memory. The processor need not wait for it to arrive.
    pub remote_write: Cycles,
    /// Telling one copy of a page of a write. Under write-invalidate, taking one copy away.
    pub update: Cycles,
    /// Carrying a page to another node.
    pub page_copy: Cycles,
    /// The interrupt or fault through which the operating system comes to act on a page.
    pub fault: Cycles,
    /// Telling another processor to adjust a counter: an interrupt between processors.
    pub message: Cycles,
    /// Loading an entry of the translation buffer.
    pub tlb_miss: Cycles,
    /// How long a node's memory is busy with a reference, in which no other is served. At 0
    /// references never queue.
    pub service: Cycles,
}

impl Costs {
    /// Those of table 1 of Lee and Cho, a bus with 4 KiB pages. The table has no cost of a message
    /// between processors; it is taken for one way round the network, 90. Loading an entry of the
    /// translation buffer is free there, and memories do not queue.
    #[must_use]
    pub fn lee_and_cho() -> Self {
        Self {
            local: Cycles(5),
            remote_read: vec![Cycles(100)],
            remote_write: Cycles(10),
            update: Cycles(10),
            page_copy: Cycles(4096),
            fault: Cycles(500),
            message: Cycles(90),
            tlb_miss: Cycles(0),
            service: Cycles(0),
        }
    }

    /// A read of `to`'s memory from another node.
    #[must_use]
    #[inline]
    pub fn read(&self, nodes: u32, from: Node, to: Node) -> Cycles {
        match self.remote_read[..] {
            [all] => all,
            _ => self.remote_read[from.index() * nodes as usize + to.index()],
        }
    }

    /// The mean of all reads of other nodes' memories.
    #[must_use]
    pub fn mean_remote_read(&self, nodes: u32) -> f64 {
        if let [all] = self.remote_read[..] {
            return all.0 as f64;
        }
        let nodes = nodes as usize;
        let others = |&index: &usize| index / nodes != index % nodes;
        let all: Vec<f64> = (0..nodes * nodes)
            .filter(others)
            .map(|index| self.remote_read[index].0 as f64)
            .collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    /// What bringing a copy of a page costs: the interrupt, and the page on its way.
    #[must_use]
    pub fn bringing(&self) -> Cycles {
        self.page_copy + self.fault
    }
}
