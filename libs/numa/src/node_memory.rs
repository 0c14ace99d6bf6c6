//! Memory of a certain node: what the crate asks of a system.

use kilocore_platform::NodeId;

/// Puts memory on nodes. Failing is no error: memory is then where the system has put it.
pub(crate) trait NodeMemory: Sync {
    /// The size and alignment of what has a node, in bytes: a power of two.
    fn page_bytes(&self) -> usize;

    /// Asks for whole pages to be on a node, from their first use on. Returns whether that was granted. The
    /// contents stay what they are.
    fn bind(&self, start: *mut u8, bytes: usize, node: NodeId) -> bool;

    /// Takes back what [`bind`](Self::bind) has asked for, before the pages are given to somebody else.
    fn unbind(&self, start: *mut u8, bytes: usize);

    /// Calls `work` once, so that fresh memory which it uses first is on a node.
    fn on(&self, node: NodeId, work: &mut dyn FnMut());
}

/// Where the copies lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// There is one node, or nobody has asked for more.
    Anywhere,
    /// The memory of each copy is bound to its node: the value itself, in whole pages. What the value owns
    /// beyond that was allocated by a thread that prefers the node. An allocator that hands out memory
    /// that was used before may not heed that.
    OnNodes,
    /// The system has refused, as filters of system calls in containers do. The copies are where the system
    /// has put them, and everything works all the same.
    Refused,
}
