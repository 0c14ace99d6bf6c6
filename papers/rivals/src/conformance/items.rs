//! Items that detect misuse, and a structure of such items.

use core::fmt;
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use kilocore_ldu::{Search, Structure};
use kilocore_platform::{Platform, SharedCell};

/// How many items were made and how many were dropped.
#[derive(Debug, Default)]
pub struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

impl Counts {
    /// Panics unless all items were dropped. (An item that is dropped twice panics itself.)
    pub fn expect_all_dropped(&self) {
        let (made, dropped) =
            (self.made.load(Ordering::SeqCst), self.dropped.load(Ordering::SeqCst));
        assert_eq!(made, dropped, "items made and items dropped");
    }
}

/// An item with a key, which can be changed, and a number, which cannot.
///
/// The key is in a cell of the platform, so that checkers detect a change or a drop during a read.
/// Items lie on cache lines of their own, so that a simulation does not depend on where the
/// allocator places them.
#[repr(align(128))]
pub struct Item<P: Platform> {
    /// The number, which identifies the item.
    pub id: usize,
    key: P::Cell<u64>,
    alive: AtomicBool,
    counts: Arc<Counts>,
}

impl<P: Platform> Item<P> {
    /// Creates an item and counts it.
    pub fn new(id: usize, key: u64, counts: &Arc<Counts>) -> Self {
        counts.made.fetch_add(1, Ordering::SeqCst);
        let alive = AtomicBool::new(true);
        Self { id, key: P::Cell::new(key), alive, counts: Arc::clone(counts) }
    }

    /// Returns the key. Panics if the item has been dropped.
    pub fn key(&self) -> u64 {
        assert!(self.alive.load(Ordering::SeqCst), "an item is used after its end");
        // SAFETY: only a thread that has the item exclusively writes the key.
        self.key.with(|key| unsafe { *key })
    }

    /// Changes the key, by which structures order items.
    pub fn set_key(&mut self, value: u64) {
        // SAFETY: the item is borrowed exclusively.
        self.key.with_mut(|key| unsafe { *key = value });
    }
}

impl<P: Platform> Drop for Item<P> {
    fn drop(&mut self) {
        if P::CHECKED {
            // So that a checker detects a reader that is still reading the item.
            self.key.with_mut(|_| ());
        }
        assert!(self.alive.swap(false, Ordering::SeqCst), "an item is dropped twice");
        self.counts.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl<P: Platform> fmt::Debug for Item<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A structure of items, sorted by their keys and searched by ranges of keys.
///
/// It keeps pointers to the items, as an intrusive structure does.
#[derive(Debug)]
pub struct Multiset<P: Platform> {
    items: BTreeMap<(u64, usize), *const Item<P>>,
}

// SAFETY: items are Send and Sync, and they are alive while they are in the structure.
unsafe impl<P: Platform> Send for Multiset<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Sync for Multiset<P> {}

impl<P: Platform> Default for Multiset<P> {
    fn default() -> Self {
        Self { items: BTreeMap::new() }
    }
}

impl<P: Platform> Structure for Multiset<P> {
    type Item = Item<P>;

    unsafe fn insert(&mut self, item: &Item<P>) {
        let before = self.items.insert((item.key(), item.id), item);
        assert!(before.is_none(), "an item is inserted that is in the structure");
    }

    unsafe fn remove(&mut self, item: &Item<P>) {
        let before = self.items.remove(&(item.key(), item.id));
        assert!(
            before.is_some_and(|before| core::ptr::eq(before, item)),
            "an item is removed that is not in the structure"
        );
    }
}

impl<P: Platform> Search for Multiset<P> {
    type Query = RangeInclusive<u64>;

    fn search(&self, query: &RangeInclusive<u64>, found: &mut dyn FnMut(&Item<P>)) {
        for item in self.items.range((*query.start(), 0)..=(*query.end(), usize::MAX)) {
            // SAFETY: items stay alive until they are removed.
            found(unsafe { &**item.1 });
        }
    }

    fn matches(item: &Item<P>, query: &RangeInclusive<u64>) -> bool {
        query.contains(&item.key())
    }

    /// Several keys have the same rank.
    fn rank(item: &Item<P>) -> u64 {
        item.key() / 4
    }
}
