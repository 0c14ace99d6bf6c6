//! The traits that every lock implements.

use kilocore_platform::Platform;

/// A mutual-exclusion lock without the data it protects.
///
/// # Safety
/// Unsafe code relies on a lock: it accesses data while it holds one, puts one over memory that a
/// program has laid out, and frees one that was just released. An implementation therefore
/// promises:
///
/// * **Exclusion.** A critical section begins when [`acquire`](Self::acquire), or a successful
///   [`try_acquire`](Self::try_acquire), returns, and ends with the matching
///   [`release`](Self::release). At any time, at most one thread is in such a section. Everything
///   that happened before a release is visible after the next acquire.
/// * **In place.** A lock has at most [`MAX_SIZE`](Self::MAX_SIZE) bytes and at most the alignment
///   of a pointer. On the native platform, a lock whose bits are all zero is free, so that it can
///   live in memory that somebody else initialized statically. If a waiter needs more memory, that
///   memory lies on its stack while it waits, or in [`Thread`](Self::Thread).
/// * **Any thread may release** the lock for the holder, with its own `Thread`.
/// * **The holder may destroy it.** A thread that has acquired the lock, and knows that no other
///   thread will use it, may release it and free its memory at once. So a release does not touch
///   the lock after the store that admits the next holder. (It may still pass its address to
///   [`Platform::unpark`].)
///
/// # Progress
/// If every holder releases, some waiter acquires. A lock that breaks this is useless but not
/// unsound.
///
/// # What does not compile
/// A lock that does nothing, implemented without `unsafe`:
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
    /// What a thread keeps for locks of this kind, such as spare queue nodes or a random state. It
    /// is `()` if a lock needs nothing. One value per thread serves all locks of the kind, however
    /// many of them the thread holds and in whatever order it releases them. If it holds nodes, an
    /// acquisition that finds no spare one allocates memory with the global allocator. Dropping the
    /// value frees the spare nodes; nodes in use stay with their locks.
    type Thread: Default + 'static;

    /// The largest size in bytes that a lock may have.
    const MAX_SIZE: usize = 16;

    /// Whether waiters spin on the lock itself, so that whoever writes near it has all of them fetch the line again.
    const WAITERS_WATCH_IT: bool = false;

    /// Returns a free lock.
    fn new() -> Self;

    /// Waits until the lock is free and acquires it.
    fn acquire(&self, thread: &mut Self::Thread);

    /// Acquires the lock if that is possible without waiting for a holder. Returns whether it did.
    ///
    /// It may fail on a free lock only while another thread is acquiring or releasing it.
    fn try_acquire(&self, thread: &mut Self::Thread) -> bool;

    /// Releases the lock, and wakes the next waiter if necessary.
    ///
    /// # Safety
    /// The lock is held, and no other release is under way for the same acquisition.
    unsafe fn release(&self, thread: &mut Self::Thread);

    /// Makes the lock held and without waiters, whatever waiters it recorded. Other threads may
    /// start to acquire it afterwards, even before it is released.
    ///
    /// This is for the child of a `fork`, in which the threads that waited do not exist.
    ///
    /// # Safety
    /// The caller holds the lock, and no other thread of this process uses it during the call.
    unsafe fn forget_waiters(&self, thread: &mut Self::Thread);
}

/// An action on a lock type chosen at run time; see [`LockId::visit`](crate::LockId::visit).
pub trait LockVisitor<P: Platform> {
    /// What the action returns.
    type Output;

    /// Performs the action on the lock type `L`.
    fn visit<L: RawLock<P>>(self) -> Self::Output;
}

/// Frees a lock that threads have left behind which do not exist any more, holder and waiters alike.
///
/// # Safety
/// No other thread uses the lock during the call, or will act for a thread that did.
pub(crate) unsafe fn free_abandoned<P: Platform, L: RawLock<P, Thread = ()>>(lock: &L) {
    // SAFETY: by the caller's promise, the caller may act for the holder. If there was none, the first
    // call makes it one.
    unsafe {
        lock.forget_waiters(&mut ());
        lock.release(&mut ());
    }
}
