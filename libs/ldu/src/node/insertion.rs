//! The state of a node whose insertions are logged and whose removals are not.
//!
//! | word | the object | changed by |
//! | --- | --- | --- |
//! | 0 | is out, and its node in no queue | |
//! | [`PENDING`] | is logged to be put in | the owner |
//! | [`CANCELLED`] | was logged, and its removal has cancelled that | the owner |
//! | `CANCELLED`, `RELEASED` | was cancelled and given up | the owner, as the last thing that it does |
//! | `PRESENT` | is in, or the lock's holder is putting it in | the lock's holder |
//!
//! The thread that applies the log *claims* a pending node before it uses the object, and never uses
//! the object of a node that it did not claim. In this it differs from `Node::settle`, which applies
//! first and takes the node out afterwards. So when a removal has cancelled, nobody has used the object
//! or ever will, and the owner may do with it what it likes at once. When a removal comes too late to
//! cancel, the claim shows that a thread is, or was, inside that may use the object. No removal is ever
//! pending, so there is nothing to count and nothing to number.

use kilocore_platform::{Atomic, Ordering, Platform};

use super::{EARLIER, Logged, Node, PRESENT, QUEUED, RELEASED};

/// An insertion is in the log. The bits are those with which `Node::is_attached` counts as well.
const PENDING: u64 = QUEUED | EARLIER;
/// The node is in the log, and nothing is to be done for it.
const CANCELLED: u64 = QUEUED;

/// What a thread that applies the log has to do for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// Put the object in.
    Insert,
    /// Nothing. The caller must not touch the node any more.
    Nothing,
    /// Free the object, which its owner has given up.
    Released,
}

impl<P: Platform> Node<P> {
    /// Logs that the object is to be put in. The caller is the owner, and the object is out.
    ///
    /// If the node is in the queue still, this is one compare-and-swap, and one of the sequentially
    /// consistent operations. Otherwise it is a store, and the push that follows is such an operation.
    #[inline]
    pub(crate) fn log_insertion(&self) -> Logged {
        // Acquire: as in `Node::log`. Argued: there.
        if self.state.load(Ordering::Acquire) & QUEUED != 0 {
            // Release: the thread that claims it must see the object. Argued: sequentially consistent, for
            // the look for those who look, which follows; see the head of `insertion_log.rs`. Under loom every
            // exchange is. The acquire of a failure is argued for in `Node::log`.
            let again = self.state.compare_exchange(
                CANCELLED,
                PENDING,
                Ordering::SeqCst,
                Ordering::Acquire,
            );
            if again.is_ok() {
                return Logged::InPlace;
            }
        }
        // Relaxed: other threads see this store only after the push, which publishes it.
        self.state.store(PENDING, Ordering::Relaxed);
        Logged::Queue
    }

    /// Takes the object out if its insertion is still pending, and returns whether it did. If so,
    /// nobody has used the object since it was logged, or will. The caller is the owner.
    #[inline]
    pub(crate) fn cancel_insertion(&self) -> bool {
        // Relaxed: the owner has nothing to show. A claim changes the same word, so one of the two fails;
        // a claim that succeeds later, after one more insertion, acquires from that. If this fails, the
        // lock orders the owner after the claim.
        self.state
            .compare_exchange(PENDING, CANCELLED, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether the object is logged to be put in. That stays so for a caller that is the owner and holds the root's lock as
    /// the writer.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        // Relaxed: only the owner and the lock's holder change this. For others it is a hint.
        self.state.load(Ordering::Relaxed) == PENDING
    }

    /// Claims the node for the caller, which holds the root's lock as the writer and has taken the node
    /// from the queue. It has also read the node's link.
    #[inline]
    pub(crate) fn claim(&self) -> Claimed {
        let mut seen = PENDING;
        loop {
            let (next, claimed) = match seen {
                PENDING => (PRESENT, Claimed::Insert),
                CANCELLED => (0, Claimed::Nothing),
                _ => {
                    debug_assert_eq!(seen, CANCELLED | RELEASED, "a node that was never logged");
                    return Claimed::Released;
                }
            };
            // Acquire: the caller must see the object as its owner left it, to put it in or to free it.
            // Release: the owner may write the link again or free the object once it sees that the node
            // is out of the queue, and the read of the link must have happened by then.
            let left = self.state.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire);
            match left {
                Ok(_) => return claimed,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the node out of its queue if it was cancelled, and returns what is to be done; none, if it is pending.
    /// The caller is as for [`claim`](Self::claim), and does not take the node's object.
    pub(crate) fn sweep(&self) -> Option<Claimed> {
        // Relaxed: nothing is done then. Most that stay are left without a write to their cache lines.
        if self.state.load(Ordering::Relaxed) == PENDING {
            return None;
        }
        // Acquire, release: as in `claim`.
        let left = self.state.compare_exchange(CANCELLED, 0, Ordering::AcqRel, Ordering::Acquire);
        match left {
            Ok(_) => Some(Claimed::Nothing),
            Err(PENDING) => None,
            Err(seen) => {
                debug_assert_eq!(seen, CANCELLED | RELEASED, "a node that was never logged");
                Some(Claimed::Released)
            }
        }
    }
}
