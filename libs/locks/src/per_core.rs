//! Counts of readers, one for each core.
//!
//! Readers that count themselves in one word pass its cache line from core to core, and across the
//! machine. Here, the readers on each core have a count of their own, so that a line moves only when a
//! thread does, or when a writer looks. A writer waits until all counts are 0. The idea is as old as
//! the 'big reader' locks of operating systems; Hsieh and Weihl gave it to programs ('Scalable
//! Reader-Writer Locks for Parallel Systems', IPPS 1992).
//!
//! # Where it departs from its source
//! * A `pthread_rwlock_t` has no room for a line for each core. So the counts lie in the table that
//!   BRAVO's readers use, and a count's word also names the lock. The rest is [`Bravo`], too: as long as
//!   the lock is biased to readers, they only count themselves, and a writer takes the bias away before
//!   it looks. If another lock has the word, a reader enters by the inner lock.
//! * The number of counts is fixed. On a machine with more cores, some share one. With 128 cores of two
//!   hardware threads each, as Linux mostly numbers them, these are the threads of one core.
//!
//! Beside BRAVO's own slots, a writer looks at 128 words rather than 4,096. In return, threads on one
//! core share a word.

use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Platform};

use crate::presence::{FREE_BITS, is_free, slot};
use crate::{Bravo, LockInfo, Presence, ReaderKey, Waiting, WriterFirst};

/// A read-write lock with a count of readers per core, over a [`WriterFirst`].
pub type PerCore<P> = Bravo<P, WriterFirst<P>, CoreCounts>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "per-core",
    title: "A count of readers for each core, over writers before readers",
    source: "Hsieh and Weihl, IPPS 1992; here in BRAVO's table",
    best_at: "many cores that read, with writers now and then",
    worst_at: "frequent writes; a writer looks at the counts of all cores",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};

/// Readers are counted, each in a word of its core.
///
/// A word has the lock's key in its upper three quarters, and below that the count. The key stays when
/// the last reader leaves, so that leaving is one subtraction. A reader of another lock may then take
/// the word over, because its count is 0.
#[derive(Debug, Clone, Copy)]
pub struct CoreCounts;

/// Counts of a lock. With fewer, as simulated, the cores of a large machine share them, and with more,
/// writers look for longer.
const COUNTS: usize = 128;

/// One reader. The lowest bit stays clear, so that no content is one of [`OwnSlot`](crate::OwnSlot).
const ONE: usize = 2;
/// The bits of the count.
const COUNT: usize = (1 << FREE_BITS) - ONE;

/// How many words may count a lock's readers. A checker has two, so that readers share a word in some
/// programs and not in others.
const fn counts<P: Platform>() -> usize {
    if P::CHECKED { 2 } else { COUNTS }
}

/// Returns the number of the caller's word.
#[inline]
fn own_number<P: Platform>(lock: usize) -> usize {
    let CpuId(cpu) = P::cpu();
    P::reader_slots().number(lock, cpu as usize % counts::<P>())
}

/// Returns what follows on `content` when one more reader of the lock with this key enters. Returns
/// nothing if there is no room.
fn with_one_more(content: usize, key: ReaderKey) -> Option<usize> {
    if is_free(content) {
        Some(key.base().wrapping_add(ONE))
    } else if content & !COUNT == key.base() && content & COUNT != COUNT {
        Some(content + ONE)
    } else {
        None
    }
}

// SAFETY: a word changes from a free content to a key with the count of one, and from there by one up
// or down. With the count of 0, it is free. A reader changes it up only while it has the key of its
// lock. So the word has that key, and counts the reader, until the reader takes its one back. `numbers`
// lists the words of all cores. All changes are exchanges or subtractions, so that each continues what
// earlier readers released.
unsafe impl Presence for CoreCounts {
    #[inline]
    fn enter<P: Platform>(lock: usize, key: ReaderKey) -> Option<usize> {
        let number = own_number::<P>(lock);
        // SAFETY: it is changed from a free content, or from a count of readers of this lock. The number
        // is one of the table's.
        let word = unsafe { slot::<P>(number) };
        // A guess, which spares a load: the last reader in the word was one of this lock.
        let (mut content, mut next) = (key.base(), key.base().wrapping_add(ONE));
        loop {
            // Argued: sequentially consistent, as the trait promises.
            let entered = word.compare_exchange(content, next, Ordering::SeqCst, Ordering::Relaxed);
            match entered {
                Ok(_) => return Some(number),
                Err(seen) => (content, next) = (seen, with_one_more(seen, key)?),
            }
        }
    }

    #[inline]
    unsafe fn leave<P: Platform>(number: usize) {
        // SAFETY: the word counts the caller, which takes back its one. `enter` has returned its number.
        unsafe { slot::<P>(number) }.fetch_sub(ONE, Ordering::Release);
    }

    #[inline]
    fn shows(content: usize, key: ReaderKey) -> bool {
        content & !COUNT == key.base() && content & COUNT != 0
    }

    fn numbers<P: Platform>(lock: usize) -> impl Iterator<Item = usize> {
        (0..counts::<P>()).map(move |count| P::reader_slots().number(lock, count))
    }
}
