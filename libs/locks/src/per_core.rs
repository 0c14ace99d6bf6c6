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

use kilocore_platform::{Atomic, CpuId, Ordering, Platform};

use crate::presence::slot;
use crate::{Bravo, LockInfo, Presence, Waiting, WriterFirst};

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
/// A word has the lock's key in its upper three quarters, and below that the count. Two locks whose
/// addresses are alike in their lower three quarters share their counts, so that a writer of one waits
/// for readers of the other. Linux gives a program such addresses only if it asks for them.
#[derive(Debug, Clone, Copy)]
pub struct CoreCounts;

/// Counts of a lock. With fewer, as simulated, the cores of a large machine share them, and with more,
/// writers look for longer.
const COUNTS: usize = 128;

/// One reader. The lowest bit stays clear, so that no content is one of [`OwnSlot`](crate::OwnSlot).
const ONE: usize = 2;
/// The bits of the lock's key begin here.
const KEY: u32 = usize::BITS / 4;
/// The bits of the count.
const COUNT: usize = (1 << KEY) - ONE;

#[inline]
fn key(lock: usize) -> usize {
    lock << KEY
}

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

// SAFETY: a word changes from 0 to a key with the count of one, and from there by one up or down, or
// to 0 instead of to a count of 0. A reader changes it up only while it has the key of its lock. So the
// word has that key, and counts the reader, until the reader takes its one back. `numbers` lists the
// words of all cores. All changes are exchanges, so that each continues what earlier readers
// released.
unsafe impl Presence for CoreCounts {
    #[inline]
    fn enter<P: Platform>(lock: usize) -> Option<usize> {
        let number = own_number::<P>(lock);
        // SAFETY: it is changed from 0, or from a count of readers of this lock.
        let word = unsafe { slot::<P>(number) };
        let mut content = word.load(Ordering::Relaxed);
        loop {
            let has_room = content & !COUNT == key(lock) && content & COUNT != COUNT;
            let next = match content {
                0 => key(lock) | ONE,
                _ if has_room => content + ONE,
                _ => return None,
            };
            // Argued: sequentially consistent, as the trait promises.
            let entered = word.compare_exchange(content, next, Ordering::SeqCst, Ordering::Relaxed);
            match entered {
                Ok(_) => return Some(number),
                Err(seen) => content = seen,
            }
        }
    }

    #[inline]
    unsafe fn leave<P: Platform>(number: usize) {
        // SAFETY: the word counts the caller, which takes back its one.
        let word = unsafe { slot::<P>(number) };
        let mut content = word.load(Ordering::Relaxed);
        loop {
            let next = if content & COUNT == ONE { 0 } else { content - ONE };
            match word.compare_exchange(content, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => content = seen,
            }
        }
    }

    #[inline]
    fn shows(content: usize, lock: usize) -> bool {
        content & !COUNT == key(lock) && content & COUNT != 0
    }

    fn numbers<P: Platform>(lock: usize) -> impl Iterator<Item = usize> {
        (0..counts::<P>()).map(move |count| P::reader_slots().number(lock, count))
    }
}
