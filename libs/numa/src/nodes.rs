//! Which node each core is on.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use kilocore_platform::NodeId;

use crate::node_memory::NodeMemory;

/// The nodes of a machine: that of each core, and how to have memory on it.
#[derive(Clone)]
pub struct Nodes {
    pub(crate) of_cores: Box<[NodeId]>,
    pub(crate) memory: Option<&'static dyn NodeMemory>,
}

impl Nodes {
    /// Returns nodes by the core: core 0 is on the first, and so on. Memory is wherever the system puts it.
    ///
    /// Only nodes with cores get a copy, so nodes that only have memory need no mention. A core that is
    /// not listed, because it was added later, uses the seat of another. That is right but slower.
    ///
    /// # Panics
    /// If there is no core.
    #[must_use]
    pub fn new(of_cores: impl IntoIterator<Item = NodeId>) -> Self {
        let of_cores: Box<[NodeId]> = of_cores.into_iter().collect();
        assert!(!of_cores.is_empty(), "a machine has a core");
        Self { of_cores, memory: None }
    }

    /// Returns the nodes of this machine, and puts memory on them if there are several. If the system does not
    /// say which there are, all cores are on one.
    #[cfg(feature = "native")]
    #[must_use]
    pub fn of_this_machine() -> Self {
        let nodes = crate::native::nodes_of_cores();
        let one = nodes.iter().all(|node| *node == nodes[0]);
        let nodes = Self::new(nodes);
        if one { nodes } else { nodes.with_memory() }
    }

    /// Asks the system for memory of these nodes. [`Nodes::of_this_machine`] has done so already.
    #[cfg(feature = "native")]
    #[must_use]
    pub fn with_memory(self) -> Self {
        Self { memory: Some(&crate::native::System), ..self }
    }

    /// Returns the nodes that have a core, each once, in order.
    pub(crate) fn distinct(&self) -> Vec<NodeId> {
        let mut nodes = self.of_cores.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.memory.is_some();
        f.debug_struct("Nodes").field("of_cores", &self.of_cores).field("memory", &memory).finish()
    }
}
