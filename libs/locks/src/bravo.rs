//! BRAVO: readers that do not write to the lock, over any read-write lock.
//!
//! Most read-write locks make each reader write the lock's word twice, and short reads then scale no
//! better than a mutex. Here, while the lock is *biased* to readers, a reader only stores the lock's
//! key in its slot of a [table](Platform::reader_slots) that all locks share, and clears it as it
//! leaves. Such readers meet on no line. A writer acquires the inner lock, takes the bias away, and
//! looks through the table until no slot has the key. All other readers acquire the inner lock; one
//! of them restores the bias, but not before so much time has passed that writers lose little by it
//! (Dice and Kogan, 'BRAVO: Biased Locking for Reader-Writer Locks', USENIX ATC 2019).
//!
//! # Where it departs from the paper
//! * A bias and the time at which there may be one share a word, so that any inner lock of two words
//!   fits into a `pthread_rwlock_t` with it.
//! * Each bias has a [key](ReaderKey) of its own, which stands in the slots. In the paper, the lock's
//!   address does. A reader that never leaves would then hold up the next lock at that address.
//! * A writer's try that finds a reader in the table restores the bias at once. In the paper, such a
//!   try does not exist.
//! * How a reader says that it is inside is a [parameter](Presence). The paper's way is [`OwnSlot`].
//! * A reader that finds the bias gone clears its slot with release ordering. Without it, a writer that
//!   reads this 0 would not see what the slot's last reader did.
//! * What a reader gets as it enters says whether it has a slot, so any thread may leave for it. A
//!   reader without a place to keep that enters by the inner lock.
//!
//! # Why no reader is missed
//! A reader shows itself in a slot, then looks at the bias. A writer takes the bias away, then looks at the
//! slots. Both sides are sequentially consistent. So the reader sees that the bias is gone, or the
//! writer sees the reader.

use core::fmt;
use core::marker::PhantomData;

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Platform, Wait};

use crate::presence::slot;
use crate::{OwnSlot, Presence, RawRwLock, ReaderKey, ReaderToken};

/// The bit of the bias that is set while readers may use slots. The whole word is then the
/// [key](ReaderKey) of the lock. Otherwise it is twice the time, in cycles, before which there is no
/// bias. A new lock may have one at once.
const BIASED: u64 = 1;

/// The value of the bias while a writer looks through the table.
const NEVER: u64 = u64::MAX - 1;

/// How many times as long as a look through the table the lock then goes without a bias. Writers lose
/// at most a tenth of their time by looking.
const REST: u64 = 9;

/// A lock over `L` with a bias to readers, which say by `S` that they are inside.
pub struct Bravo<P: Platform, L, S = OwnSlot> {
    inner: L,
    bias: P::U64,
    presence: PhantomData<S>,
}

/// What a reader has: a slot of the table, or what it got from the inner lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BravoReader<R> {
    /// The slot with this number.
    Slot(usize),
    /// The inner lock, with its token.
    Inner(R),
}
use BravoReader::{Inner, Slot};

/// The bit of a token's number that says that the rest is the number of a slot.
const SLOT: u64 = 1;

impl<R: ReaderToken> ReaderToken for BravoReader<R> {
    fn to_bits(self) -> u64 {
        match self {
            Slot(number) => (number as u64) << 1 | SLOT,
            Inner(reader) => reader.to_bits() << 1,
        }
    }

    fn from_bits(bits: u64) -> Self {
        if bits & SLOT != 0 { Slot((bits >> 1) as usize) } else { Inner(R::from_bits(bits >> 1)) }
    }
}

impl<P: Platform, L: RawRwLock<P>, S: Presence> Bravo<P, L, S> {
    /// Enters by a slot if the lock is biased and there is room in the caller's slot.
    #[inline]
    fn enter_by_slot(&self) -> Option<BravoReader<L::Reader>> {
        let bias = self.bias.load(Ordering::Relaxed);
        if bias & BIASED == 0 {
            return None;
        }
        let number = S::enter::<P>(P::address_key(self), ReaderKey::from_bits(bias))?;
        // This acquires, too: we see what the writer wrote that was inside before the reader that has
        // set the bias.
        if self.is_still(bias) {
            return Some(Slot(number));
        }
        // We have not been inside. But a writer that reads this must see what readers did that had the
        // slot before, so it is released all the same.
        // SAFETY: entered above.
        unsafe { S::leave::<P>(number) };
        None
    }

    /// Enters by the inner lock, and goes on.
    #[inline(never)]
    fn enter_by_inner<R>(&self, then: impl FnOnce(BravoReader<L::Reader>) -> R) -> R {
        self.inner.acquire_shared_then(move |reader| {
            self.set_bias();
            then(Inner(reader))
        })
    }

    /// Sets the bias if it is time. The caller is inside as a reader.
    #[inline]
    fn set_bias(&self) {
        let bias = self.bias.load(Ordering::Relaxed);
        let Cycles(now) = P::now();
        if bias & BIASED == 0 && now >= bias / 2 {
            let fresh = ReaderKey::fresh().to_bits();
            // Release: whoever enters by this bias sees what the last writer wrote, which we see. If
            // the exchange fails, another reader was faster.
            let _ = self.bias.compare_exchange(bias, fresh, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// Returns whether the bias is `bias` still. The look comes after all that the caller did before.
    #[inline]
    fn is_still(&self, bias: u64) -> bool {
        let now = if P::SEQUENTIAL_LOADS {
            // Sequentially consistent; see the head of the file.
            self.bias.load(Ordering::SeqCst)
        } else {
            // After this, a writer's exchange shows the writer what the caller did before.
            self.bias.fetch_add(0, Ordering::AcqRel)
        };
        now == bias
    }

    /// Returns whether a reader that has entered by the bias with this key is in `slot`.
    #[inline]
    fn is_read_in(slot: &P::Usize, key: ReaderKey) -> bool {
        // Sequentially consistent; see the head of the file.
        S::shows(slot.load(Ordering::SeqCst), key)
    }

    /// Returns the slots in which readers of this lock may be.
    #[inline]
    fn slots(&self) -> impl Iterator<Item = &'static P::Usize> {
        // SAFETY: they are only looked at, and `S` returns numbers of words of the table.
        S::numbers::<P>(P::address_key(self)).map(|number| unsafe { slot::<P>(number) })
    }

    /// Takes the bias away, so that readers who show themselves from now on go back. Returns its key.
    fn forbid_bias(&self) -> ReaderKey {
        // Argued: sequentially consistent; see the head of the file.
        ReaderKey::from_bits(self.bias.swap(NEVER, Ordering::SeqCst))
    }

    /// Takes the bias away and waits until no slot shows a reader of the lock. There is a bias, and the
    /// caller has the inner lock as the writer.
    #[cold]
    fn revoke(&self) {
        let Cycles(start) = P::now();
        let key = self.forbid_bias();
        for slot in self.slots() {
            while Self::is_read_in(slot, key) {
                // It looks once more afterwards, because this is not sequentially consistent.
                P::wait_until(slot, Wait::Spin, |content| !S::shows(content, key));
            }
        }
        let Cycles(end) = P::now();
        let until = end.saturating_add(end.saturating_sub(start).saturating_mul(REST));
        self.bias.swap(until.min(NEVER / 2) * 2, Ordering::Relaxed);
    }

    /// Takes the bias away if no slot shows a reader of the lock. Returns whether it did. There is a
    /// bias, and the caller has the inner lock as the writer.
    #[cold]
    fn try_revoke(&self) -> bool {
        let key = self.forbid_bias();
        let free = !self.slots().any(|slot| Self::is_read_in(slot, key));
        // If a reader is there, the bias must stay, or the next writer would not look for it. Relaxed:
        // whoever enters by this bias acquires from the reader that has set it, because both exchanges
        // here continue what that reader released.
        self.bias.swap(if free { 0 } else { key.to_bits() }, Ordering::Relaxed);
        free
    }
}

// SAFETY: a reader with a slot has seen the same bias after its slot showed it. A writer has the inner lock,
// and has seen that there is no bias or has taken it away. In the second case it saw no slot that showed
// a reader afterwards, so no reader with a slot is inside. Only readers of the inner lock set the bias, so
// there is none as long as the writer is inside. The writer sees what readers with slots did, because
// it reads with acquire what they stored with release; they see what writers wrote through the reader
// that set the bias. All others are ordered by the inner lock. A token names a slot or is one of the
// inner lock, so any thread may leave with it. Both words are free when all their bits are zero.
unsafe impl<P: Platform, L: RawRwLock<P>, S: Presence> RawRwLock<P> for Bravo<P, L, S> {
    type Reader = BravoReader<L::Reader>;
    const ALIKE: Self::Reader = Inner(L::ALIKE);
    const HOLDER_MAY_DESTROY: bool = L::HOLDER_MAY_DESTROY;

    fn new() -> Self {
        Self { inner: L::new(), bias: P::U64::new(0), presence: PhantomData }
    }

    #[inline]
    fn acquire_shared(&self) -> Self::Reader {
        self.acquire_shared_then(|reader| reader)
    }

    #[inline]
    fn acquire_shared_then<R>(&self, then: impl FnOnce(Self::Reader) -> R) -> R {
        match self.enter_by_slot() {
            Some(reader) => then(reader),
            None => self.enter_by_inner(then),
        }
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<Self::Reader> {
        if let Some(reader) = self.enter_by_slot() {
            return Some(reader);
        }
        let reader = self.inner.try_acquire_shared()?;
        self.set_bias();
        Some(Inner(reader))
    }

    fn acquire_shared_alike(&self) {
        self.inner.acquire_shared_alike();
        self.set_bias();
    }

    fn try_acquire_shared_alike(&self) -> bool {
        let entered = self.inner.try_acquire_shared_alike();
        if entered {
            self.set_bias();
        }
        entered
    }

    #[inline]
    unsafe fn release_shared(&self, reader: Self::Reader) {
        match reader {
            // SAFETY: the caller's promise.
            Slot(number) => unsafe { S::leave::<P>(number) },
            // SAFETY: the caller's promise.
            Inner(reader) => unsafe { self.inner.release_shared(reader) },
        }
    }

    #[inline]
    fn acquire(&self) {
        self.inner.acquire();
        if self.bias.load(Ordering::Relaxed) & BIASED != 0 {
            self.revoke();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        if !self.inner.try_acquire() {
            return false;
        }
        if self.bias.load(Ordering::Relaxed) & BIASED == 0 || self.try_revoke() {
            return true;
        }
        // SAFETY: acquired above.
        unsafe { self.inner.release() };
        false
    }

    #[inline]
    unsafe fn release(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.release() };
    }

    #[inline]
    unsafe fn downgrade(&self) -> Self::Reader {
        // SAFETY: the caller's promise.
        Inner(unsafe { self.inner.downgrade() })
    }

    unsafe fn forget_others(&self) {
        // SAFETY: the caller's promise. No slot shows a reader while a writer is inside.
        unsafe { self.inner.forget_others() };
    }

    fn has_writer(&self) -> bool {
        self.inner.has_writer()
    }
}

impl<P: Platform, L: fmt::Debug, S> fmt::Debug for Bravo<P, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let biased = self.bias.load(Ordering::Relaxed) & BIASED != 0;
        f.debug_struct("Bravo").field("inner", &self.inner).field("biased", &biased).finish()
    }
}
