//! The threads' records.

use alloc::boxed::Box;
use core::iter;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

/// In [`Record::root`]: nothing is asked for.
pub(super) const DONE: usize = 0;
/// In [`Record::root`]: whoever asked has to combine. No root has this address.
pub(super) const LEAD: usize = 1;

/// What a thread asks for.
pub(super) struct Record<P: Platform> {
    claimed: P::U32,
    /// The address of the root that something is asked of, [`DONE`] or [`LEAD`].
    pub(super) root: P::Usize,
    /// What is asked for.
    pub(super) request: P::Ptr<()>,
}

/// Records that were allocated together, and those that came later.
struct Chunk<P: Platform> {
    records: Box<[Padded<Record<P>>]>,
    /// How many records, from the first on, were ever claimed: the others need no look.
    used: P::Usize,
    next: P::Ptr<Chunk<P>>,
}

/// All records: one for each core and, if there are more threads than cores, more.
pub(super) struct Records<P: Platform> {
    first: Chunk<P>,
}

impl<P: Platform> Record<P> {
    /// Makes it free to be claimed.
    pub(super) fn give_back(&self) {
        self.claimed.store(0, Ordering::Release);
    }
}

impl<P: Platform> Chunk<P> {
    fn new(size: u32) -> Self {
        let record = |_| {
            Padded(Record {
                claimed: P::U32::new(0),
                root: P::Usize::new(DONE),
                request: P::Ptr::new(ptr::null_mut()),
            })
        };
        Self {
            records: (0..size.max(1)).map(record).collect(),
            used: P::Usize::new(0),
            next: P::Ptr::new(ptr::null_mut()),
        }
    }

    fn claim(&self) -> Option<&Record<P>> {
        for (index, record) in self.records.iter().enumerate() {
            if record.claimed.swap(1, Ordering::Acquire) != 0 {
                continue;
            }
            let mut used = self.used.load(Ordering::Relaxed);
            // Sequentially consistent for the same reason as the publication that may follow: a
            // combiner that has to see that sees this.
            while used <= index
                && let Err(now) =
                    self.used.compare_exchange(used, index + 1, Ordering::SeqCst, Ordering::Relaxed)
            {
                used = now;
            }
            return Some(record);
        }
        None
    }

    fn next(&self) -> Option<&Self> {
        // SAFETY: chunks live as long as the first one.
        unsafe { self.next.load(Ordering::SeqCst).as_ref() }
    }

    /// The chunk after the last one, which this is or was.
    #[cold]
    fn grow(&self) -> &Self {
        let new = Box::into_raw(Box::new(Self::new(self.records.len() as u32)));
        let linked =
            self.next.compare_exchange(ptr::null_mut(), new, Ordering::SeqCst, Ordering::SeqCst);
        match linked {
            // SAFETY: linked, and so alive as long as the first one.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: somebody else linked it.
                unsafe { &*other }
            }
        }
    }
}

impl<P: Platform> Records<P> {
    pub(super) fn new(cores: u32) -> Self {
        Self { first: Chunk::new(cores) }
    }

    /// A record that is nobody's, now the caller's.
    pub(super) fn claim(&self) -> &Record<P> {
        let mut chunk = &self.first;
        loop {
            if let Some(record) = chunk.claim() {
                return record;
            }
            chunk = chunk.next().unwrap_or_else(|| chunk.grow());
        }
    }

    /// All records that are or were somebody's.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Record<P>> {
        iter::successors(Some(&self.first), |chunk| chunk.next()).flat_map(|chunk| {
            let used = chunk.used.load(Ordering::SeqCst);
            chunk.records[..used].iter().map(|record| &record.0)
        })
    }
}

impl<P: Platform> Drop for Chunk<P> {
    fn drop(&mut self) {
        self.records.iter().for_each(|record| P::discard(record));
    }
}

impl<P: Platform> Drop for Records<P> {
    fn drop(&mut self) {
        let mut next = self.first.next.swap(ptr::null_mut(), Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: chunks come from boxes, are linked once, and nobody uses them any more.
            let chunk = unsafe { Box::from_raw(next) };
            next = chunk.next.swap(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}
