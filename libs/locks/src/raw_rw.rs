//! What every read-write lock can do.

use core::marker::PhantomData;

use kilocore_platform::Platform;

use crate::RawLock;

/// A read-write lock without the data it protects.
///
/// # Safety
/// Unsafe code trusts a lock: it reaches data from whoever is inside. So an implementation promises:
///
/// * **Exclusion.** A writer is inside alone; readers are inside with readers only. What happened
///   before a writer left is visible to whoever enters next, and what readers read happened before
///   the next writer enters.
/// * **Turning.** [`downgrade`](Self::downgrade) lets readers in, and no writer.
/// * **Any thread may release** for the one that acquired.
///
/// # Progress
/// If everybody inside leaves, somebody who waits enters. A lock that breaks this is useless, not
/// unsafe.
///
/// # What does not compile
/// A lock that does nothing, without an unsafe word:
///
/// ```compile_fail,E0200
/// # use kilocore_locks::RawRwLock;
/// # use kilocore_platform::Native;
/// struct Open;
/// impl RawRwLock<Native> for Open {
///     fn new() -> Self { Open }
///     fn acquire_shared(&self) {}
///     unsafe fn release_shared(&self) {}
///     fn acquire(&self) {}
///     fn try_acquire(&self) -> bool { true }
///     unsafe fn release(&self) {}
///     unsafe fn downgrade(&self) {}
/// }
/// ```
pub unsafe trait RawRwLock<P: Platform>: Send + Sync + Sized + 'static {
    /// A free lock.
    fn new() -> Self;

    /// Waits until no writer is inside and enters as a reader.
    fn acquire_shared(&self);

    /// Leaves as a reader.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as a reader.
    unsafe fn release_shared(&self);

    /// Waits until nobody is inside and enters as the writer.
    fn acquire(&self);

    /// Enters as the writer if that is possible without waiting.
    fn try_acquire(&self) -> bool;

    /// Leaves as the writer.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as the writer.
    unsafe fn release(&self);

    /// Turns from the writer into a reader; no other writer is inside in between.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as the writer.
    unsafe fn downgrade(&self);
}

/// A mutual-exclusion lock that serves as a read-write lock in which readers, too, are alone.
#[derive(Debug)]
pub struct NoSharing<P: Platform, L> {
    lock: L,
    platform: PhantomData<P>,
}

// SAFETY: everybody inside holds the lock, and so is alone; turning from a writer into a reader
// lets nobody in, which is allowed.
unsafe impl<P: Platform, L: RawLock<P, Thread = ()>> RawRwLock<P> for NoSharing<P, L> {
    fn new() -> Self {
        Self { lock: L::new(), platform: PhantomData }
    }

    #[inline]
    fn acquire_shared(&self) {
        self.lock.acquire(&mut ());
    }

    #[inline]
    unsafe fn release_shared(&self) {
        // SAFETY: a reader inside holds the lock.
        unsafe { self.lock.release(&mut ()) };
    }

    #[inline]
    fn acquire(&self) {
        self.lock.acquire(&mut ());
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.lock.try_acquire(&mut ())
    }

    #[inline]
    unsafe fn release(&self) {
        // SAFETY: the writer inside holds the lock.
        unsafe { self.lock.release(&mut ()) };
    }

    #[inline]
    unsafe fn downgrade(&self) {}
}

/// A read-write lock in which readers, too, are alone: they enter as writers.
#[derive(Debug)]
pub struct ReadersAlone<L>(L);

// SAFETY: everybody inside is there as the writer, and so is alone; turning from a writer into a
// reader lets nobody in, which is allowed.
unsafe impl<P: Platform, L: RawRwLock<P>> RawRwLock<P> for ReadersAlone<L> {
    fn new() -> Self {
        Self(L::new())
    }

    #[inline]
    fn acquire_shared(&self) {
        self.0.acquire();
    }

    #[inline]
    unsafe fn release_shared(&self) {
        // SAFETY: a reader inside is one as the writer.
        unsafe { self.0.release() };
    }

    #[inline]
    fn acquire(&self) {
        self.0.acquire();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire()
    }

    #[inline]
    unsafe fn release(&self) {
        // SAFETY: by the caller's promise.
        unsafe { self.0.release() };
    }

    #[inline]
    unsafe fn downgrade(&self) {}
}
