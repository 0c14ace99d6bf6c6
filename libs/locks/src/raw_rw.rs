//! The trait that every read-write lock implements, and locks whose readers do not share.
//!
//! # Decisions
//! * **Tokens.** A reader gets a token as it enters and leaves with it, because a reader of BRAVO
//!   leaves the slot that it entered. A lock that was asked for the slot of a thread could not tell
//!   two threads that share one, and a check showed that it gave both the same.
//! * **Under checkers.** BRAVO needs both sides to be sequentially consistent, which loom does not
//!   know. So under checkers, and only there, a reader looks at the bias by an exchange.
//! * **Presence.** How readers say that they are inside is a parameter of it (`presence.rs`). Each
//!   has a slot of its own, as in the paper, or the readers of a core are counted (`per_core.rs`).
//!   Counts per NUMA node, four for each, were tried and dropped. In the simulation without
//!   writers, the 128 threads of an EPYC's node pass their lines around: 1.1 million sections a
//!   second, against 378 with a count for each of 128 cores. On the Opteron's small nodes they are
//!   better where one acquisition in a thousand writes: 13.7 against 11.4.
//! * **Gates.** Waiters of `reader_first.rs`, `writer_first.rs` and `phase_fair.rs` stand at gates
//!   outside of the lock (`gate.rs`), as those of the requester-based lock do, so that leaving
//!   touches the lock in one step only. A C program may then free a lock right after its last user
//!   has left it.
//! * **Going on.** A reader that must wait takes along what its caller does afterwards
//!   (`acquire_shared_then`). A caller in `run` then jumps to what waits, and one that need not
//!   wait saves no registers. `central_rw.rs` and `rwsem.rs` do not allow that, and say so.
//! * **Readers first.** Only `reader_first.rs` among those for programs lets readers pass a writer
//!   that waits, as glibc's default does. A bias undoes that: a writer that takes it away waits for
//!   readers while it keeps others out.

use core::fmt;
use core::marker::PhantomData;

use kilocore_platform::Platform;

use crate::RawLock;

/// A read-write lock without the data it protects.
///
/// # Safety
/// Unsafe code relies on a lock: it accesses data while inside. An implementation therefore
/// promises:
///
/// * **Exclusion.** A writer is inside alone. Readers are inside with readers only. What happened
///   before a writer left is visible to every thread that enters next. What readers read happened
///   before the next writer enters.
/// * **Downgrading.** [`downgrade`](Self::downgrade) admits readers but no writer.
/// * **Any thread may release** for the one that acquired, with what that one got.
/// * **Zero is free.** On the native platform, a lock whose bits are all zero is free.
///
/// # Progress
/// If every thread inside leaves, some waiter enters. A lock that breaks this is useless but not
/// unsound.
///
/// # What does not compile
/// A lock that does nothing, implemented without `unsafe`:
///
/// ```compile_fail,E0200
/// # use kilocore_locks::RawRwLock;
/// # use kilocore_platform::Native;
/// struct Open;
/// impl RawRwLock<Native> for Open {
///     fn new() -> Self { Open }
///     type Reader = ();
///     const ALIKE: () = ();
///     const HOLDER_MAY_DESTROY: bool = true;
///     fn acquire_shared(&self) {}
///     fn try_acquire_shared(&self) -> Option<()> { Some(()) }
///     unsafe fn release_shared(&self, (): ()) {}
///     fn acquire(&self) {}
///     fn try_acquire(&self) -> bool { true }
///     unsafe fn release(&self) {}
///     unsafe fn downgrade(&self) {}
///     unsafe fn forget_others(&self) {}
/// }
/// ```
pub unsafe trait RawRwLock<P: Platform>: Send + Sync + Sized + 'static {
    /// What a reader gets as it enters and gives back as it leaves. It is `()` if all readers are
    /// alike.
    type Reader: ReaderToken;

    /// What all readers get that enter by [`acquire_shared_alike`](Self::acquire_shared_alike).
    const ALIKE: Self::Reader;

    /// Whether a thread that has entered, and knows that no other thread will use the lock, may leave
    /// it and free its memory at once. If so, leaving does not touch the lock after the step that
    /// admits others. If not, the memory must stay until every thread has returned from leaving, which
    /// safe Rust sees to, but a program in C may not.
    const HOLDER_MAY_DESTROY: bool;

    /// Whether a writer that waits never keeps a reader out. If so, a reader may stay inside until another
    /// reader has come. Under other locks, the writer would wait for the first reader, and the second for
    /// the writer.
    const READERS_PASS_WRITERS: bool = false;

    /// Returns a free lock.
    fn new() -> Self;

    /// Waits until no writer is inside, and enters as a reader.
    ///
    /// Readers that never leave, because their guards were forgotten, stay counted. If there are as many
    /// as the lock can count safely (more than a hundred million), the next one ends the process, as
    /// `Arc` does.
    fn acquire_shared(&self) -> Self::Reader;

    /// Enters as [`acquire_shared`](Self::acquire_shared) does, and returns what `then` makes of what the
    /// reader got.
    ///
    /// This is for callers that count instructions. If waiting is a call apart that goes on with
    /// `then` itself, a caller that need not wait saves no registers for that call.
    #[inline]
    fn acquire_shared_then<R>(&self, then: impl FnOnce(Self::Reader) -> R) -> R {
        then(self.acquire_shared())
    }

    /// Enters as a reader if that is possible without waiting.
    ///
    /// It may fail although no writer is inside, if one waits and the lock admits writers first, or if
    /// there are as many readers as the lock can count safely.
    fn try_acquire_shared(&self) -> Option<Self::Reader>;

    /// Waits until no writer is inside, and enters as a reader that got [`ALIKE`](Self::ALIKE). This is
    /// for readers that have no place to keep what they got. It may cost more.
    ///
    /// An implementation with readers that differ must override it and
    /// [`try_acquire_shared_alike`](Self::try_acquire_shared_alike).
    fn acquire_shared_alike(&self) {
        self.acquire_shared();
    }

    /// Enters in the same way if that is possible without waiting. Returns whether it did.
    fn try_acquire_shared_alike(&self) -> bool {
        self.try_acquire_shared().is_some()
    }

    /// Leaves as a reader.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as a reader, and got `reader` when it
    /// entered. It leaves once.
    unsafe fn release_shared(&self, reader: Self::Reader);

    /// Waits until no other thread is inside, and enters as the writer.
    fn acquire(&self);

    /// Enters as the writer if that is possible without waiting. Returns whether it did.
    fn try_acquire(&self) -> bool;

    /// Leaves as the writer.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as the writer.
    unsafe fn release(&self);

    /// Turns the writer inside into a reader. No other writer is inside in between.
    ///
    /// # Safety
    /// The caller's thread, or one that it acts for, is inside as the writer.
    unsafe fn downgrade(&self) -> Self::Reader;

    /// Makes the caller the writer inside, alone and without waiters, whoever else the lock recorded.
    /// Other threads may start to use the lock afterwards, even before it is released.
    ///
    /// This is for the child of a `fork`, in which the threads that waited or read do not exist.
    ///
    /// # Safety
    /// The caller is inside as the writer, and no other thread of this process uses the lock during
    /// the call.
    unsafe fn forget_others(&self);

    /// Whether a writer was inside at some moment during the call. A lock that does not know takes
    /// anything that keeps a reader out for a writer.
    fn has_writer(&self) -> bool {
        match self.try_acquire_shared() {
            Some(reader) => {
                // SAFETY: the caller has just entered as this reader.
                unsafe { self.release_shared(reader) };
                false
            }
            None => true,
        }
    }
}

/// What a reader gets as it enters a lock and gives back as it leaves.
pub trait ReaderToken: Copy + fmt::Debug + Send + Sync + 'static {
    /// Returns it as a number, for interfaces that know no types.
    fn to_bits(self) -> u64;

    /// Returns what [`to_bits`](Self::to_bits) has made a number of. Of any other number it makes
    /// something with which no reader may leave.
    fn from_bits(bits: u64) -> Self;
}

impl ReaderToken for () {
    fn to_bits(self) -> u64 {
        0
    }

    fn from_bits(_: u64) {}
}

/// An action on a read-write lock type chosen at run time; see
/// [`RwLockId::visit`](crate::RwLockId::visit).
pub trait RwLockVisitor<P: Platform> {
    /// What the action returns.
    type Output;

    /// Performs the action on the lock type `L`.
    fn visit<L: RawRwLock<P>>(self) -> Self::Output;
}

/// A mutual-exclusion lock used as a read-write lock. Readers, too, are alone inside.
#[derive(Debug)]
pub struct NoSharing<P: Platform, L> {
    lock: L,
    platform: PhantomData<P>,
}

// SAFETY: every thread inside holds the lock, so it is alone. `downgrade` admits no other thread,
// which is allowed. The lock inside is free when all its bits are zero, and there is nothing else.
unsafe impl<P: Platform, L: RawLock<P, Thread = ()>> RawRwLock<P> for NoSharing<P, L> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = true;

    fn new() -> Self {
        Self { lock: L::new(), platform: PhantomData }
    }

    #[inline]
    fn acquire_shared(&self) {
        self.lock.acquire(&mut ());
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        self.lock.try_acquire(&mut ()).then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
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

    unsafe fn forget_others(&self) {
        // SAFETY: the writer inside holds the lock.
        unsafe { self.lock.forget_waiters(&mut ()) };
    }
}

/// A read-write lock whose readers enter as writers, so that they are alone inside.
#[derive(Debug)]
pub struct ReadersAlone<L>(L);

// SAFETY: every thread inside is there as the writer, so it is alone. `downgrade` admits no other
// thread, which is allowed. The lock inside is free when all its bits are zero, and there is nothing
// else.
unsafe impl<P: Platform, L: RawRwLock<P>> RawRwLock<P> for ReadersAlone<L> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = L::HOLDER_MAY_DESTROY;

    fn new() -> Self {
        Self(L::new())
    }

    #[inline]
    fn acquire_shared(&self) {
        self.0.acquire();
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        self.0.try_acquire().then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        // SAFETY: a reader has entered as the writer.
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

    unsafe fn forget_others(&self) {
        // SAFETY: by the caller's promise.
        unsafe { self.0.forget_others() };
    }
}
