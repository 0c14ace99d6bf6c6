//! The queue in which nodes wait until a thread applies them.

use core::ptr::NonNull;

use kilocore_platform::Platform;

use crate::node::Node;

/// A queue of nodes. Any number of threads push nodes, and one thread at a time takes all nodes out
/// together.
///
/// # Safety
/// An implementation hands each pushed node to exactly one [`take`](Self::take), and never reads or
/// writes the node after that. If a push happened before a `take`, that `take` or an earlier one
/// gets its node. If a `take` does not get the node of a push, then the push sees everything that
/// happened before that `take`.
pub unsafe trait Queue<P: Platform>: Send + Sync + 'static {
    /// What the queues of all roots share, for example slots on each core.
    type Domain: Clone + Send + Sync + 'static;

    /// Returns an empty queue. The queue must not be moved while it is in use.
    fn new(domain: Self::Domain) -> Self;

    /// Puts a node in, and returns what it has learnt of the queue's length. Release: the thread
    /// that takes the node sees what the caller did before.
    ///
    /// # Safety
    /// The node is in no queue. It stays alive and in place until it was taken.
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill;

    /// Returns whether every node that was pushed before this call has been taken.
    ///
    /// The result can only be relied on while no thread takes.
    fn is_empty(&self) -> bool;

    /// Takes all nodes out. Calls `each` with the first node of each chain; the nodes of a chain
    /// are linked by `next`, and no chain is empty. Acquire: pairs with the release of each push.
    ///
    /// # Safety
    /// No other thread takes meanwhile.
    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>));
}

/// What a push has learnt of the queue's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// This push has not counted the nodes. A queue counts them only once in several pushes.
    Between,
    /// The queue contains about this many nodes.
    Nodes(u32),
}

impl Fill {
    /// Whether the queue is known to contain so many nodes.
    pub(crate) fn reaches(self, limit: u32) -> bool {
        matches!(self, Self::Nodes(length) if length >= limit)
    }
}
