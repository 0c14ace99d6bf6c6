//! How readers say, in the table that all locks share, that they are inside.
//!
//! A reader changes a word of the [table](Platform::reader_slots) as it enters and as it leaves. The
//! word names the lock. A writer knows which words may name its lock, and looks at all of them. There
//! are two ways: each reader has [a slot of its own](OwnSlot), or the readers of a core are counted
//! ([`CoreCounts`](crate::CoreCounts)). The locks of a program may use both, in one table. The lowest
//! bit of a word tells them apart.

use kilocore_platform::{Atomic, Ordering, Platform};

/// A way for readers to say that they are inside.
///
/// # Safety
/// Unsafe code relies on it: a writer enters when no word shows its lock. An implementation promises:
///
/// * From [`enter`](Self::enter) to [`leave`](Self::leave), the word of the reader [shows](Self::shows)
///   the lock, and its number is among the [numbers](Self::numbers) of the lock, whatever others do.
/// * It changes a word only from 0, or from a content that only its own `enter` can have made, and
///   back to such a content or to 0.
/// * Entering changes the word in a sequentially consistent step. Leaving changes it with release
///   ordering. A thread that reads with acquire ordering that the word no longer shows the lock sees
///   what all readers did that left it before.
pub unsafe trait Presence: Send + Sync + 'static {
    /// Shows in a word that one more reader of the lock with key `lock` is inside. Returns the word's
    /// number, or nothing if there is no room.
    fn enter<P: Platform>(lock: usize) -> Option<usize>;

    /// Takes back what [`enter`](Self::enter) has shown.
    ///
    /// # Safety
    /// `enter` has returned `number`, and this is the only call for it.
    unsafe fn leave<P: Platform>(number: usize);

    /// Whether a word with this content shows a reader of the lock with key `lock`.
    fn shows(content: usize, lock: usize) -> bool;

    /// Returns the numbers of the words that can show readers of the lock with key `lock`.
    fn numbers<P: Platform>(lock: usize) -> impl Iterator<Item = usize>;
}

/// Each reader writes the lock's key in a slot that its thread and the lock choose. Most readers have
/// a slot that no other thread uses, and a writer looks at all slots of the table.
#[derive(Debug, Clone, Copy)]
pub struct OwnSlot;

/// What stands in the slot of a reader. It is not 0, and its lowest bit is set.
#[inline]
fn key(lock: usize) -> usize {
    lock | 1
}

// SAFETY: a slot changes from 0 to a key and back to 0. The reader whose exchange has put the key
// there is the only one that changes it until it leaves, because all others begin with 0. All slots
// are numbers of the lock. A later reader's exchange acquires what was released before it, and its own
// release hands that on.
unsafe impl Presence for OwnSlot {
    #[inline]
    fn enter<P: Platform>(lock: usize) -> Option<usize> {
        let number = P::reader_slots().number(lock, P::thread_key());
        // SAFETY: it is changed from 0.
        let slot = unsafe { slot::<P>(number) };
        if slot.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // Argued: sequentially consistent, as the trait promises.
        let stored = slot.compare_exchange(0, key(lock), Ordering::SeqCst, Ordering::Relaxed);
        stored.is_ok().then_some(number)
    }

    #[inline]
    unsafe fn leave<P: Platform>(number: usize) {
        // SAFETY: the slot is the caller's until this.
        unsafe { slot::<P>(number) }.store(0, Ordering::Release);
    }

    #[inline]
    fn shows(content: usize, lock: usize) -> bool {
        content == key(lock)
    }

    fn numbers<P: Platform>(_: usize) -> impl Iterator<Item = usize> {
        0..P::reader_slots().len()
    }
}

/// Returns a word of the table.
///
/// # Safety
/// As for [`slots`](kilocore_platform::ReaderSlots::slots).
#[inline]
pub(crate) unsafe fn slot<P: Platform>(number: usize) -> &'static P::Usize {
    // SAFETY: the caller's promise.
    let slots = unsafe { P::reader_slots().slots() };
    &slots[number]
}
