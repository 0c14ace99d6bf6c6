//! Locks that tell whether anybody is inside.

use kilocore_platform::Platform;

use crate::RawRwLock;

/// A read-write lock that tells whether a thread is inside, so that a thread may leave something for
/// whoever enters next instead of entering itself.
///
/// The thread leaves the thing and then looks at the lock. Those that enter do so and then look for the
/// thing. One of the two then sees the other, which takes more than releases and acquires: each writes one
/// place and reads another.
///
/// # Safety
/// Unsafe code relies on both answers:
///
/// * **False:** let one thread do a sequentially consistent operation *a* and then call
///   [`is_held`](Self::is_held), which returns false. Let another thread enter and then do a sequentially
///   consistent operation *b*. Then *a* comes before *b* in the one order of such operations, or the
///   other thread has left, and what it did inside happened before `is_held` returned.
/// * **True:** a thread was inside, or was about to enter or had just been, at some moment during the
///   call. So whoever then enters waits for nothing for ever, if all that are inside leave.
pub unsafe trait TellsHeld<P: Platform>: RawRwLock<P> {
    /// Returns whether a thread is inside, as reader or as writer.
    fn is_held(&self) -> bool;
}
