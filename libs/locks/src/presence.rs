//! How readers say, in the table that all locks share, that they are inside.
//!
//! A reader changes a word of the [table](Platform::reader_slots) as it enters and as it leaves. The
//! word has a [key](ReaderKey) of the lock. A writer knows which words may have that key, and looks at
//! all of them. There are two ways: each reader has [a slot of its own](OwnSlot), or the readers of a
//! core are counted ([`CoreCounts`](crate::CoreCounts)). The locks of a program may use both, in one
//! table. The lowest bit of a word tells them apart. A word whose lowest quarter is 0 is free, whatever
//! else it says.
//!
//! # Why the key is not the address
//! The table outlives the locks. A reader whose guard was forgotten stays in the table after its lock is
//! gone, and so do readers of the parent in a forked child that makes the lock anew. If the word had the
//! lock's address, a writer of the next lock at that address would wait for such a reader for ever.

use core::sync::atomic::AtomicUsize;

use kilocore_platform::{Atomic, Ordering, Platform};

/// What stands for a lock in the table from when it permits readers to use the table until a writer
/// forbids it. No two locks have the same key, and no lock has the same key again (until the numbers,
/// of three quarters of a word, begin again). The lowest bit is set, and the others of the
/// lowest quarter (`FREE_BITS`) are clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderKey(usize);

impl ReaderKey {
    /// Returns a key that no lock has had yet.
    pub(crate) fn fresh() -> Self {
        /// The number of the next key. It is no atomic of the platform: that all numbers differ needs
        /// no ordering, so checkers have nothing to explore. It begins at 1, because a count in the
        /// table that has the key 0 looks like an untouched one: readers of the lock with that key
        /// would find their guess right where those of any other lock do not, and which of the locks
        /// of a program has it is up to chance.
        static NEXT: AtomicUsize = AtomicUsize::new(1);

        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(number << FREE_BITS | 1)
    }

    /// Returns the key as a number with the lowest bit set.
    #[inline]
    pub(crate) fn to_bits(self) -> u64 {
        self.0 as u64
    }

    /// Returns the key of which [`to_bits`](Self::to_bits) has made the number.
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits as usize)
    }

    /// Returns the key without its lowest bit.
    #[inline]
    pub(crate) fn base(self) -> usize {
        self.0.wrapping_sub(1)
    }
}

/// A way for readers to say that they are inside.
///
/// # Safety
/// Unsafe code relies on it: a writer enters when no word shows its lock. An implementation promises:
///
/// * From [`enter`](Self::enter) to [`leave`](Self::leave), the word of the reader [shows](Self::shows)
///   the key, and its number is among the [numbers](Self::numbers) of the lock, whatever others do. All
///   numbers are those of words of the table.
/// * It changes a word only from a free content, or from one that only its own `enter` can
///   have made, and back to such a content or to a free one.
/// * Entering changes the word in a sequentially consistent step. Leaving changes it with release
///   ordering. A thread that reads with acquire ordering that the word no longer shows the key sees
///   what all readers did that left it before.
pub unsafe trait Presence: Send + Sync + 'static {
    /// Shows in a word that one more reader is inside the lock at the [address](Platform::address_key)
    /// `lock`, whose key is `key`. Returns the word's number, or nothing if there is no room.
    fn enter<P: Platform>(lock: usize, key: ReaderKey) -> Option<usize>;

    /// Takes back what [`enter`](Self::enter) has shown.
    ///
    /// # Safety
    /// `enter` has returned `number`, and this is the only call for it.
    unsafe fn leave<P: Platform>(number: usize);

    /// Whether a word with this content shows a reader of the lock with this key.
    fn shows(content: usize, key: ReaderKey) -> bool;

    /// Returns the numbers of the words that can show readers of the lock at the address `lock`.
    fn numbers<P: Platform>(lock: usize) -> impl Iterator<Item = usize>;
}

/// Each reader writes the lock's key in a slot that its thread and the lock choose. Most readers have
/// a slot that no other thread uses, and a writer looks at all slots of the table.
#[derive(Debug, Clone, Copy)]
pub struct OwnSlot;

/// The number of bits of a word that are all clear if it is free.
pub(crate) const FREE_BITS: u32 = usize::BITS / 4;

/// Whether a word with this content shows no reader of any lock.
#[inline]
pub(crate) fn is_free(content: usize) -> bool {
    content & ((1 << FREE_BITS) - 1) == 0
}

// SAFETY: a slot changes from a free content to a key and then to 0. The reader whose exchange has put
// the key there is the only one that changes it until it leaves, because all others begin with a free
// content. All slots are numbers of the lock. A later reader's exchange acquires what was released before it, and its own
// release hands that on.
unsafe impl Presence for OwnSlot {
    #[inline]
    fn enter<P: Platform>(lock: usize, ReaderKey(key): ReaderKey) -> Option<usize> {
        let number = P::reader_slots().number(lock, P::thread_key());
        // SAFETY: it is changed from a free content. The number is one of the table's.
        let slot = unsafe { slot::<P>(number) };
        let content = slot.load(Ordering::Relaxed);
        if !is_free(content) {
            return None;
        }
        // Argued: sequentially consistent, as the trait promises.
        let stored = slot.compare_exchange(content, key, Ordering::SeqCst, Ordering::Relaxed);
        stored.is_ok().then_some(number)
    }

    #[inline]
    unsafe fn leave<P: Platform>(number: usize) {
        // SAFETY: the slot is the caller's until this. `enter` has returned its number.
        unsafe { slot::<P>(number) }.store(0, Ordering::Release);
    }

    #[inline]
    fn shows(content: usize, ReaderKey(key): ReaderKey) -> bool {
        content == key
    }

    fn numbers<P: Platform>(_: usize) -> impl Iterator<Item = usize> {
        0..P::reader_slots().len()
    }
}

/// Returns a word of the table.
///
/// # Safety
/// As for [`slots`](kilocore_platform::ReaderSlots::slots). The table has a word with this number.
#[inline]
pub(crate) unsafe fn slot<P: Platform>(number: usize) -> &'static P::Usize {
    // SAFETY: the caller's promise.
    unsafe { P::reader_slots().slots().get_unchecked(number) }
}
