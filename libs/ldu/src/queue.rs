//! Where nodes wait until somebody applies them.

use core::ptr::NonNull;

use kilocore_platform::Platform;

use crate::node::Node;

/// A queue of nodes that any thread puts in and one at a time takes out, all together.
///
/// # Safety
/// An implementation gives each node that was pushed to exactly one [`take`](Self::take), and
/// never reads or writes a node after that. A node whose push happened before a `take` is given to
/// that one or an earlier one; a push whose node a `take` did not get sees all that happened before
/// that `take`.
pub unsafe trait Queue<P: Platform>: Send + Sync + 'static {
    /// What the queues of all roots share.
    type Domain: Clone + Send + Sync + 'static;

    /// An empty queue. It is not moved while it is in use.
    fn new(domain: Self::Domain) -> Self;

    /// Puts a node in and says how full the queue may be. Release: what the caller did before is
    /// seen by whoever takes the node.
    ///
    /// # Safety
    /// The node is in no queue, and stays alive and in place until it was taken.
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill;

    /// Whether there is nothing that was pushed before the call and is not taken.
    ///
    /// Only an answer while nobody takes.
    fn is_empty(&self) -> bool;

    /// Takes everything out, in chains of nodes that are linked by `next`; none is empty. Acquire
    /// of what those who pushed released.
    ///
    /// # Safety
    /// Nobody else takes meanwhile.
    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>));
}

/// What a push knows of the queue's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// The last multiple of some number of nodes was passed a while ago: nothing to look at.
    Between,
    /// About so many nodes are in it.
    Nodes(u32),
}
