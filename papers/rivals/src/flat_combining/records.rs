//! The records in which threads publish their requests.

use alloc::boxed::Box;
use core::iter;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

/// In [`Record::root`]: there is no request, or it was performed.
pub(super) const DONE: usize = 0;
/// In [`Record::root`]: the thread that published the request has to combine. No root has this
/// address.
pub(super) const LEAD: usize = 1;

/// The request of a thread.
pub(super) struct Record<P: Platform> {
    claimed: P::U32,
    /// The address of the root that the request concerns, or [`DONE`], or [`LEAD`].
    pub(super) root: P::Usize,
    /// The request that the thread has published.
    pub(super) request: P::Ptr<()>,
}

/// Records that were allocated together, and a link to those that were allocated later.
struct Chunk<P: Platform> {
    records: Box<[Padded<Record<P>>]>,
    /// How many records, from the first on, have ever been claimed. A combiner skips the others.
    used: P::Usize,
    next: P::Ptr<Chunk<P>>,
}

/// All records: one for each core, and more if there are more threads than cores.
pub(super) struct Records<P: Platform> {
    first: Chunk<P>,
}

impl<P: Platform> Record<P> {
    /// Allows another thread to claim the record.
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
            // combiner that has to see the publication must also see this.
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

    /// Returns the chunk after this one, and allocates it if this one is the last.
    #[cold]
    fn grow(&self) -> &Self {
        let new = Box::into_raw(Box::new(Self::new(self.records.len() as u32)));
        let linked =
            self.next.compare_exchange(ptr::null_mut(), new, Ordering::SeqCst, Ordering::SeqCst);
        match linked {
            // SAFETY: it is linked, so it lives as long as the first chunk.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: another thread has linked it, so it lives as long as the first chunk.
                unsafe { &*other }
            }
        }
    }
}

impl<P: Platform> Records<P> {
    pub(super) fn new(cores: u32) -> Self {
        Self { first: Chunk::new(cores) }
    }

    /// Claims a free record for the caller.
    pub(super) fn claim(&self) -> &Record<P> {
        let mut chunk = &self.first;
        loop {
            if let Some(record) = chunk.claim() {
                return record;
            }
            chunk = chunk.next().unwrap_or_else(|| chunk.grow());
        }
    }

    /// Iterates over all records that have ever been claimed.
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
            // SAFETY: chunks come from boxes and are linked once, and no thread uses them any more.
            let chunk = unsafe { Box::from_raw(next) };
            next = chunk.next.swap(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}
