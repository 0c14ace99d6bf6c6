//! A read-write lock of the program whose algorithm is replaced.
//!
//! # Layout of a lock whose algorithm is replaced
//! | bytes | what |
//! | --- | --- |
//! | 0..24 | the lock |
//! | 24..28 | the [process] in which the writer inside entered, zero while there is none |
//! | 28..32 | whether processes share the lock, as glibc keeps it; if so, the lock stays glibc's |
//! | 32..36 | a number that grows when a thread leaves without a [record](crate::read_holds) |
//! | 36..40 | zero |
//! | 40..48 | the [slot](crate::slot) of the writer inside, zero while there is none |
//! | 48.. | as glibc left it |
//!
//! The number of the process is the stamp of the lock. Readers find no stamp, since no writer is
//! inside. So whoever unlocks sees from the stamp which of the two functions to call. The stamp
//! also tells a forked child that a writer entered before the fork. The writer then forgets the
//! threads that the lock records, and until it has done so, no other thread of the child touches
//! the lock.
//!
//! The stamp and the word behind it are read in one step. They are zero in the one case that has to
//! be fast for readers: the lock is replaced, and no writer is inside. glibc keeps a writer's number
//! in the place of the stamp, but only in the locks that stay its own.
//!
//! A slot has the same address in a forked child, which a thread's number has not. So the child's
//! only thread is still known to be the writer if it was.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use kilocore_locks::{RawRwLock, ReaderToken};
use libc::{c_int, pthread_rwlock_t};

use crate::host::Host;
use crate::read_holds::{Left, TooOften};
use crate::{process, rwlock_wait, slot};

/// The number of bytes that a lock may use.
const LOCK_BYTES: usize = 24;
/// The offset of the stamp and, behind it, of what says whether processes share the lock.
const STAMP_AT: usize = 24;
/// The offset of the number that counts releases without a record.
const STRANGERS_AT: usize = 32;
/// The offset of the writer's slot.
const WRITER_AT: usize = 40;
/// The offset of the first byte behind what this library uses.
const END: usize = 48;

const _: () = assert!(END <= size_of::<pthread_rwlock_t>());

/// Returns 0. The compiler does not know that. Otherwise it would call what waits, drop the result and
/// return a 0 of its own, for which the caller needs a frame, rather than jump there.
#[inline(always)]
fn success() -> c_int {
    #[cfg(target_arch = "x86_64")]
    {
        let zero;
        // SAFETY: this writes the register and the flags, and no more.
        unsafe {
            core::arch::asm!("xor {0:e}, {0:e}", out(reg) zero, options(pure, nomem, nostack))
        };
        zero
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Returns what stands at [`STAMP_AT`] in a lock that processes do not share.
#[inline(always)]
const fn word_of(stamp: u32) -> u64 {
    let [a, b, c, d] = stamp.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0])
}

/// Returns the stamp in the word at [`STAMP_AT`].
#[inline(always)]
const fn stamp_in(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

/// A read-write lock of the program whose algorithm is replaced by `L`.
pub(crate) struct Replaced<L> {
    lock: *mut pthread_rwlock_t,
    kind: PhantomData<L>,
}

// Not derived, which would ask for a lock that can be copied.
impl<L> Clone for Replaced<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Replaced<L> {}

impl<L: RawRwLock<Host>> Replaced<L> {
    /// Returns a lock of this process.
    ///
    /// # Safety
    /// `lock` is initialized and not shared by processes, and stays so while the result is used.
    #[inline(always)]
    pub(crate) unsafe fn of(lock: *mut pthread_rwlock_t) -> Self {
        Self { lock, kind: PhantomData }
    }

    #[inline(always)]
    fn lock(&self) -> &L {
        const {
            assert!(size_of::<L>() <= LOCK_BYTES, "the lock does not fit");
            assert!(align_of::<L>() <= align_of::<pthread_rwlock_t>());
        }
        // SAFETY: these bytes of the object belong to this library. Initializers, static or not,
        // write zeros there, and zeros are a free lock. The same holds for the words below, which
        // are aligned.
        unsafe { &*self.lock.cast::<L>() }
    }

    #[inline(always)]
    fn stamp_word(&self) -> &AtomicU64 {
        // SAFETY: as in `lock`. glibc's half of the word does not change. If processes share the lock,
        // the other half is glibc's, too, and this library only asks whether all is zero.
        unsafe { &*self.lock.byte_add(STAMP_AT).cast::<AtomicU64>() }
    }

    /// Whether the lock is replaced, and no writer is inside. The lock may be one that processes
    /// share.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        // Acquire: as in `stamp`.
        self.stamp_word().load(Ordering::Acquire) == 0
    }

    /// Whether a lock that is not [plain](Self::is_plain) is replaced, and the writer inside has
    /// entered after the fork that made this process. The lock may be one that processes share. The
    /// caller is that writer, or acts for it.
    #[inline(always)]
    pub(crate) fn is_written_here(&self) -> bool {
        // Relaxed: the word does not change while the writer is inside.
        self.stamp_word().load(Ordering::Relaxed) == word_of(process::number_if_any())
    }

    #[inline(always)]
    fn strangers(&self) -> &AtomicU32 {
        // SAFETY: as in `lock`.
        unsafe { &*self.lock.byte_add(STRANGERS_AT).cast::<AtomicU32>() }
    }

    #[inline(always)]
    fn writer(&self) -> &AtomicUsize {
        // SAFETY: as in `lock`.
        unsafe { &*self.lock.byte_add(WRITER_AT).cast::<AtomicUsize>() }
    }

    /// Returns the process in which the writer inside entered, or zero if there is none.
    #[inline(always)]
    pub(crate) fn stamp(&self) -> u32 {
        // Acquire: who sees that an inherited lock is inherited no longer sees it without the
        // threads of the parent.
        stamp_in(self.stamp_word().load(Ordering::Acquire))
    }

    /// Whether a writer is inside that entered before the fork that made this process, and has not
    /// yet forgotten the parent's threads.
    #[inline(always)]
    fn is_inherited(&self) -> bool {
        let stamp = self.stamp();
        stamp != 0 && stamp != process::current()
    }

    /// Waits until no writer is inside, and enters as a reader. The caller has no record.
    #[inline(always)]
    pub(crate) fn read(self) -> c_int {
        // The closure goes to the call that waits in a register.
        self.lock().acquire_shared_then(move |token| {
            let strangers = self.strangers().load(Ordering::Relaxed);
            slot::read_holds_anew().add_first(self.lock.addr(), strangers, token);
            success()
        })
    }

    /// Does the same if the caller is not the writer inside. If it reads already, it only counts.
    pub(crate) fn read_with_care(self) -> c_int {
        if self.is_mine() {
            return libc::EDEADLK;
        }
        self.wait_while_inherited();
        match self.enter_again() {
            Ok(true) => {}
            Ok(false) if slot::read_holds().has_room() => {
                let token = self.lock().acquire_shared();
                self.entered_as_reader(token);
            }
            Ok(false) => self.lock().acquire_shared_alike(),
            Err(TooOften) => return libc::EAGAIN,
        }
        0
    }

    /// Waits until nobody is inside, and enters as the writer.
    #[inline(always)]
    pub(crate) fn write(&self) {
        self.lock().acquire();
        self.entered_as_writer();
    }

    /// Does the same if the caller is not the writer inside.
    pub(crate) fn write_with_care(self) -> c_int {
        if self.is_mine() {
            return libc::EDEADLK;
        }
        self.wait_while_inherited();
        self.write();
        0
    }

    fn wait_while_inherited(&self) {
        if self.is_inherited() {
            rwlock_wait::wait_while(|| self.is_inherited());
        }
    }

    /// Whether the caller is the writer inside.
    pub(crate) fn is_mine(&self) -> bool {
        // Relaxed: a thread sees what it wrote itself.
        self.writer().load(Ordering::Relaxed) == slot::slot().addr()
    }

    /// Counts one more entry of the caller if it reads already.
    #[inline(always)]
    pub(crate) fn enter_again(&self) -> Result<bool, TooOften> {
        // Relaxed: if a writer has entered since the caller's record was made, the caller sees the
        // release that admitted the writer. It has learned of that in some other way, since it
        // would not ask to enter otherwise.
        slot::read_holds().enter_again(self.lock.addr(), self.strangers().load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn entered_as_reader(&self, token: L::Reader) {
        let strangers = self.strangers().load(Ordering::Relaxed);
        slot::read_holds().add(self.lock.addr(), strangers, token.to_bits());
    }

    #[inline(always)]
    fn entered_as_writer(&self) {
        self.writer().store(slot::slot_anew().addr(), Ordering::Relaxed);
        self.stamp_word().store(word_of(process::current()), Ordering::Relaxed);
    }

    /// Enters as a reader if that is possible without waiting.
    #[inline(always)]
    pub(crate) fn try_read(&self) -> Option<()> {
        if self.is_inherited() {
            return None;
        }
        if !slot::read_holds().has_room() {
            return self.lock().try_acquire_shared_alike().then_some(());
        }
        self.lock().try_acquire_shared().map(|token| self.entered_as_reader(token))
    }

    /// Enters as the writer if that is possible without waiting.
    #[inline(always)]
    pub(crate) fn try_write(&self) -> Option<()> {
        (!self.is_inherited() && self.lock().try_acquire()).then(|| self.entered_as_writer())
    }

    /// Leaves as the writer, which may have entered before the fork that made this process. The lock
    /// may be gone afterwards.
    ///
    /// # Safety
    /// A writer is inside, for which the caller acts.
    pub(crate) unsafe fn leave_inherited(self) {
        // SAFETY: the caller's promise. Other threads of this process do not touch an inherited
        // lock.
        unsafe {
            if self.is_inherited() {
                self.lock().forget_others();
            }
            self.leave_as_writer();
        }
    }

    /// Leaves as the writer. The lock may be gone afterwards.
    ///
    /// # Safety
    /// A writer is inside, for which the caller acts. The lock records no threads of another
    /// process.
    #[inline(always)]
    pub(crate) unsafe fn leave_as_writer(self) {
        self.writer().store(0, Ordering::Relaxed);
        // Release pairs with `stamp`.
        self.stamp_word().store(0, Ordering::Release);
        // SAFETY: the caller's promise.
        unsafe { self.lock().release() };
    }

    /// Leaves as a reader if this lock is the only one that the caller reads under, and it has
    /// entered once. Returns whether it did. If so, the lock may be gone afterwards.
    ///
    /// # Safety
    /// If the caller has a record of the lock, it is inside as a reader.
    #[inline(always)]
    pub(crate) unsafe fn leave_as_sole_reader(&self) -> bool {
        let Some(token) = slot::read_holds().leave_sole(self.lock.addr()) else { return false };
        // SAFETY: this is what the caller got when it entered.
        unsafe { self.lock().release_shared(token) };
        true
    }

    /// Leaves as a reader. The lock may be gone afterwards.
    ///
    /// # Safety
    /// The caller is inside as a reader.
    pub(crate) unsafe fn leave_as_reader(self) {
        match slot::read_holds().leave(self.lock.addr()) {
            Left::Nested => {}
            // SAFETY: this is what the caller got when it entered.
            Left::Last(token) => unsafe {
                self.lock().release_shared(L::Reader::from_bits(token));
            },
            // SAFETY: the caller is inside as a reader.
            Left::Unknown => unsafe { self.leave_without_record() },
        }
    }

    /// Leaves as a reader of which the caller has no record.
    ///
    /// # Safety
    /// The caller is inside as a reader.
    unsafe fn leave_without_record(self) {
        self.strangers().fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller is inside as a reader. It has entered without a record and so like all
        // others, unless another thread entered for it, which POSIX does not allow.
        unsafe { self.lock().release_shared(L::ALIKE) };
    }

    /// Makes the lock free. Records that other threads may still have of an earlier lock at this
    /// address become doubtful.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn reset(&self) {
        /// Where the next lock begins to count releases without a record.
        static BEGIN: AtomicU32 = AtomicU32::new(0);
        /// An odd number, so that it takes 2^32 locks until one begins as an earlier one did. It is
        /// large, so that no lock comes to where another one began.
        const STEP: u32 = 0x9E37_79B9;

        // SAFETY: these bytes belong to this library, and nobody else uses them, by the caller's
        // promise.
        unsafe {
            self.lock.cast::<[u8; LOCK_BYTES]>().write([0; LOCK_BYTES]);
            let words = self.lock.byte_add(STAMP_AT).cast::<[u8; END - STAMP_AT]>();
            words.write([0; END - STAMP_AT]);
        }
        let begin = BEGIN.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        self.strangers().store(begin, Ordering::Relaxed);
        slot::read_holds().forget(self.lock.addr());
    }

    /// Ends the life of the lock, unless a writer is inside. Returns whether it did.
    ///
    /// # Safety
    /// Nobody uses the lock any longer, unless a writer is inside.
    pub(crate) unsafe fn end(&self) -> bool {
        if self.stamp() != 0 {
            return false;
        }
        slot::read_holds().forget(self.lock.addr());
        true
    }
}
