//! What every lock can do.

use kilocore_platform::Platform;

/// A mutual-exclusion lock without the data it protects.
///
/// # Safety
/// Unsafe code trusts a lock: it reaches data from whoever holds one, puts one over memory that a
/// program has laid out, and frees one that was just released. So an implementation promises:
///
/// * **Exclusion.** Between a return of [`acquire`](Self::acquire) (or a successful
///   [`try_acquire`](Self::try_acquire)) and the matching [`release`](Self::release) no other
///   thread is between its own two. All that happened before a release is visible after the
///   next acquire.
/// * **In place.** A lock is at most [`MAX_SIZE`](Self::MAX_SIZE) bytes with the alignment of a
///   pointer or less, and on the native platform the all-zero bit pattern is a free lock, so
///   that it can live in memory that somebody else initialized statically. What a waiter needs
///   beyond that lies on its stack while it waits or in [`Thread`](Self::Thread).
/// * **Any thread may release** for the holder, with its own `Thread`.
/// * **The holder may destroy it.** Once a thread has acquired the lock and no other thread
///   will use it, it may release it and free the memory at once: a releasing thread does not
///   touch the lock after the store that lets the next holder in. (It may still name its
///   address to [`Platform::unpark`].)
///
/// # Progress
/// If every holder releases, some waiter acquires. A lock that breaks this is useless, not unsafe.
///
/// # What does not compile
/// A lock that does nothing, without an unsafe word:
///
/// ```compile_fail,E0200
/// # use kilocore_locks::RawLock;
/// # use kilocore_platform::Native;
/// struct Open;
/// impl RawLock<Native> for Open {
///     type Thread = ();
///     fn new() -> Self { Open }
///     fn acquire(&self, (): &mut ()) {}
///     fn try_acquire(&self, (): &mut ()) -> bool { true }
///     unsafe fn release(&self, (): &mut ()) {}
///     unsafe fn forget_waiters(&self, (): &mut ()) {}
/// }
/// ```
pub unsafe trait RawLock<P: Platform>: Send + Sync + Sized + 'static {
    /// What a thread brings along: recycled queue nodes, a random state. One value per thread
    /// serves all locks of the kind, however many of them the thread holds, in whatever order
    /// it releases them. `()` for locks that need none. Where it holds nodes, an acquisition
    /// that finds no spare one takes memory from the global allocator, and dropping the value
    /// gives the spare ones back; nodes that are in use stay with the lock.
    type Thread: Default + 'static;

    /// The largest size in bytes that a lock may have.
    const MAX_SIZE: usize = 16;

    /// A free lock.
    fn new() -> Self;

    /// Waits until the lock is free and takes it.
    fn acquire(&self, thread: &mut Self::Thread);

    /// Takes the lock if that is possible without waiting for its holder.
    ///
    /// May fail on a free lock only while another thread is just taking or releasing it.
    fn try_acquire(&self, thread: &mut Self::Thread) -> bool;

    /// Lets the lock go, and wakes the next waiter where that is needed.
    ///
    /// # Safety
    /// The lock is held, and this is the only release that is under way for that acquisition.
    unsafe fn release(&self, thread: &mut Self::Thread);

    /// Makes the lock held and without waiters, whatever waiters it recorded. Other threads may
    /// acquire it afterwards, before it is released.
    ///
    /// For the child of a `fork`, in which the threads that waited do not exist.
    ///
    /// # Safety
    /// The caller holds the lock and no other thread of this process uses it meanwhile.
    unsafe fn forget_waiters(&self, thread: &mut Self::Thread);
}

/// An action on a lock type chosen at run time; see [`LockId::visit`](crate::LockId::visit).
pub trait LockVisitor<P: Platform> {
    /// What the action gives back.
    type Output;

    /// Acts on the lock type `L`.
    fn visit<L: RawLock<P>>(self) -> Self::Output;
}
