//! What other libraries offer for the same work.
//!
//! * The mutexes of `std` and `parking_lot` around the same structure.
//! * `node-replication`: a log of operations and flat combining in front of one replica of the same
//!   structure; one, because the host is one node. Operations name items where they lie, which only
//!   one replica can do.
//! * Concurrent sets: `scc`, by hash and in order, and the skip list of `crossbeam`. They allocate
//!   and free as items come and go, where intrusive structures do not, and they need not keep an
//!   item where it is; so they do a little more for an update, and promise less. Neither has
//!   intervals.

use std::hash::{BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use kilocore_ldu::Structure;
use node_replication::{Dispatch, Log, Replica, ReplicaToken};

use crate::subject::{Kind, Subject};

/// A mutex with its data inside.
pub(crate) trait Mutex<T>: Send + Sync + 'static {
    fn new(data: T) -> Self;
    fn with<R>(&self, show: impl FnOnce(&mut T) -> R) -> R;
}

impl<T: Send + 'static> Mutex<T> for std::sync::Mutex<T> {
    fn new(data: T) -> Self {
        Self::new(data)
    }
    #[inline(always)]
    fn with<R>(&self, show: impl FnOnce(&mut T) -> R) -> R {
        show(&mut self.lock().expect("nobody panicked"))
    }
}

impl<T: Send + 'static> Mutex<T> for parking_lot::Mutex<T> {
    fn new(data: T) -> Self {
        Self::new(data)
    }
    #[inline(always)]
    fn with<R>(&self, show: impl FnOnce(&mut T) -> R) -> R {
        show(&mut self.lock())
    }
}

/// An item for as long as the program runs, which frees none.
fn forever<T>(item: T) -> &'static T {
    Box::leak(Box::new(item))
}

/// A structure in a mutex.
pub(crate) struct Inside<M, K> {
    mutex: M,
    kind: PhantomData<K>,
}

impl<K: Kind, M: Mutex<K::Structure>> Inside<M, K> {
    pub(crate) fn new() -> Self {
        Self { mutex: M::new(K::Structure::default()), kind: PhantomData }
    }
}

impl<K: Kind, M: Mutex<K::Structure>> Subject for Inside<M, K> {
    type In = &'static K::Item;
    type Out = &'static K::Item;
    type Thread = ();

    fn thread(&self, _member: usize) {}

    fn item(&self, number: u64) -> &'static K::Item {
        forever(K::item(number))
    }

    #[inline(always)]
    fn insert(&self, item: &'static K::Item, (): &mut ()) -> &'static K::Item {
        // SAFETY: the item is out, and never moves nor ends.
        self.mutex.with(|structure| unsafe { structure.insert(item) });
        item
    }

    #[inline(always)]
    fn remove(&self, item: &'static K::Item, (): &mut ()) -> &'static K::Item {
        // SAFETY: the item is in.
        self.mutex.with(|structure| unsafe { structure.remove(item) });
        item
    }

    #[inline(always)]
    fn search(&self, number: u64, (): &mut ()) -> usize {
        self.mutex.with(|structure| K::count(structure, number))
    }
}

/// Threads that may use one subject.
const MEMBERS: usize = 2;
/// Memory of a log of [`Replicated`], of the size that its authors recommend.
const LOG_BYTES: usize = 1 << 20;

/// A replica, and its log.
pub(crate) struct Replicated<K: Kind> {
    replica: Arc<Replica<'static, Copied<K>>>,
    /// A thread cannot give its token back, and rounds start new threads.
    tokens: [ReplicaToken; MEMBERS],
}

// SAFETY: a replica is not Send, but Sync, and is dropped by the thread that made it.
unsafe impl<K: Kind> Send for Replicated<K> {}
// SAFETY: a replica is Sync, and an Arc of it is only cloned and dropped where it was made.
unsafe impl<K: Kind> Sync for Replicated<K> {}

pub(crate) struct Copied<K: Kind>(K::Structure);

impl<K: Kind> Default for Copied<K> {
    fn default() -> Self {
        Self(K::Structure::default())
    }
}

/// An update, as the log has it.
pub(crate) enum Update<T: 'static> {
    Insert(&'static T),
    Remove(&'static T),
    /// Nothing: to have combined what others published.
    Combine,
}

impl<T> Clone for Update<T> {
    fn clone(&self) -> Self {
        match *self {
            Self::Insert(item) => Self::Insert(item),
            Self::Remove(item) => Self::Remove(item),
            Self::Combine => Self::Combine,
        }
    }
}

impl<T> PartialEq for Update<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Insert(item), Self::Insert(other))
            | (Self::Remove(item), Self::Remove(other)) => ptr::eq(*item, *other),
            (Self::Combine, Self::Combine) => true,
            _ => false,
        }
    }
}

impl<T> std::fmt::Debug for Update<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Insert(_) => "Insert",
            Self::Remove(_) => "Remove",
            Self::Combine => "Combine",
        })
    }
}

impl<K: Kind> Dispatch for Copied<K> {
    type ReadOperation = u64;
    type WriteOperation = Update<K::Item>;
    type Response = usize;

    fn dispatch(&self, number: u64) -> usize {
        K::count(&self.0, number)
    }

    fn dispatch_mut(&mut self, update: Update<K::Item>) -> usize {
        // Each update is done once, as there is one replica, and those of an item in the order in
        // which its owner asks.
        match update {
            // SAFETY: the item was out, and never moves nor ends.
            Update::Insert(item) => unsafe { self.0.insert(item) },
            // SAFETY: the item was in.
            Update::Remove(item) => unsafe { self.0.remove(item) },
            Update::Combine => (),
        }
        0
    }
}

impl<K: Kind> Replicated<K> {
    pub(crate) fn new() -> Self {
        let replica = Replica::new(&Arc::new(Log::new(LOG_BYTES)));
        let token = |_| replica.register().expect("a replica takes that many threads");
        Self { tokens: std::array::from_fn(token), replica }
    }
}

impl<K: Kind> Subject for Replicated<K> {
    type In = &'static K::Item;
    type Out = &'static K::Item;
    type Thread = ReplicaToken;

    fn thread(&self, member: usize) -> ReplicaToken {
        self.tokens[member]
    }

    fn item(&self, number: u64) -> &'static K::Item {
        forever(K::item(number))
    }

    #[inline(always)]
    fn insert(&self, item: &'static K::Item, token: &mut ReplicaToken) -> &'static K::Item {
        self.replica.execute_mut(Update::Insert(item), *token);
        item
    }

    #[inline(always)]
    fn remove(&self, item: &'static K::Item, token: &mut ReplicaToken) -> &'static K::Item {
        self.replica.execute_mut(Update::Remove(item), *token);
        item
    }

    #[inline(always)]
    fn search(&self, number: u64, token: &mut ReplicaToken) -> usize {
        self.replica.execute(number, *token)
    }

    /// What is published while somebody combines waits for the next who does; and if nobody does,
    /// for a good part of a second, in this version.
    fn idle(&self, token: &mut ReplicaToken) {
        self.replica.execute_mut(Update::Combine, *token);
        std::thread::yield_now();
    }
}

/// A set of numbers that threads can use at once.
pub(crate) trait NumberSet: Send + Sync + Default + 'static {
    fn insert(&self, number: u64);
    fn remove(&self, number: u64);
    fn contains(&self, number: u64) -> bool;
}

pub(crate) type HashSet = scc::HashSet<u64, BuildHasherDefault<Multiply>>;

/// As short a hash as that of the library's own set: numbers are no threat here.
#[derive(Default)]
pub(crate) struct Multiply(u64);

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }
    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

impl NumberSet for HashSet {
    #[inline(always)]
    fn insert(&self, number: u64) {
        let _ = self.insert_sync(number);
    }
    #[inline(always)]
    fn remove(&self, number: u64) {
        self.remove_sync(&number);
    }
    #[inline(always)]
    fn contains(&self, number: u64) -> bool {
        self.contains_sync(&number)
    }
}

impl NumberSet for scc::TreeIndex<u64, ()> {
    #[inline(always)]
    fn insert(&self, number: u64) {
        let _ = self.insert_sync(number, ());
    }
    #[inline(always)]
    fn remove(&self, number: u64) {
        self.remove_sync(&number);
    }
    #[inline(always)]
    fn contains(&self, number: u64) -> bool {
        self.contains(&number)
    }
}

impl NumberSet for crossbeam_skiplist::SkipSet<u64> {
    #[inline(always)]
    fn insert(&self, number: u64) {
        self.insert(number);
    }
    #[inline(always)]
    fn remove(&self, number: u64) {
        self.remove(&number);
    }
    #[inline(always)]
    fn contains(&self, number: u64) -> bool {
        self.contains(&number)
    }
}

/// A concurrent set as it comes.
pub(crate) struct AsItIs<N>(pub(crate) N);

impl<N: NumberSet> Subject for AsItIs<N> {
    type In = u64;
    type Out = u64;
    type Thread = ();

    fn thread(&self, _member: usize) {}

    fn item(&self, number: u64) -> u64 {
        number
    }

    #[inline(always)]
    fn insert(&self, number: u64, (): &mut ()) -> u64 {
        self.0.insert(number);
        number
    }

    #[inline(always)]
    fn remove(&self, number: u64, (): &mut ()) -> u64 {
        self.0.remove(number);
        number
    }

    #[inline(always)]
    fn search(&self, number: u64, (): &mut ()) -> usize {
        self.0.contains(number).into()
    }
}
