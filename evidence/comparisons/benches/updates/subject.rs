//! What is measured: a set or a tree, shared in some way.

use kilocore_ldu::adapters::{Interval, IntervalTree, Member, Overlap, Set};
use kilocore_ldu::{Attached, Detached, Scheme, Search, Structure};
use kilocore_platform::Native;

/// A structure of numbered items that several threads use.
pub(crate) trait Subject: Send + Sync + 'static {
    /// An item that is in.
    type In: Send;
    /// An item that is out.
    type Out: Send;
    /// What a thread brings along.
    type Thread;

    /// For the thread that is member `member` of those who use it.
    fn thread(&self, member: usize) -> Self::Thread;
    fn item(&self, number: u64) -> Self::Out;
    fn insert(&self, item: Self::Out, thread: &mut Self::Thread) -> Self::In;
    fn remove(&self, item: Self::In, thread: &mut Self::Thread) -> Self::Out;
    /// How many items there are at `number`.
    fn search(&self, number: u64, thread: &mut Self::Thread) -> usize;
    /// Done while this thread has nothing to do and another may still wait for it.
    fn idle(&self, thread: &mut Self::Thread) {
        let _ = thread;
        std::thread::yield_now();
    }
}

/// A sequential structure, and what it holds.
pub(crate) trait Kind: Send + Sync + 'static {
    type Structure: Search<Query = Self::Query, Item = Self::Item> + Default;
    type Item: Send + Sync + 'static;
    type Query: Send + Sync;
    fn item(number: u64) -> Self::Item;
    fn query(number: u64) -> Self::Query;

    fn count(structure: &Self::Structure, number: u64) -> usize {
        let mut count = 0;
        structure.search(&Self::query(number), &mut |_| count += 1);
        count
    }
}

/// Numbers in a hash set.
pub(crate) struct Numbers;

impl Kind for Numbers {
    type Structure = Set<Native, u64>;
    type Item = Member<Native, u64>;
    type Query = u64;
    fn item(number: u64) -> Member<Native, u64> {
        Member::new(number)
    }
    fn query(number: u64) -> u64 {
        number
    }
}

/// Intervals in a tree, each of which overlaps its next neighbours.
pub(crate) struct Intervals;

impl Kind for Intervals {
    type Structure = IntervalTree<Native, ()>;
    type Item = Interval<Native, ()>;
    type Query = Overlap;
    fn item(number: u64) -> Interval<Native, ()> {
        Interval::new(number * 16, number * 16 + 24, ())
    }
    fn query(number: u64) -> Overlap {
        Overlap { start: number * 16, last: number * 16 + 8 }
    }
}

/// A root of a scheme.
pub(crate) struct Shared<C: Scheme<Native>, K: Kind> {
    root: C::Root<K::Structure>,
    scheme: C,
}

impl<C: Scheme<Native>, K: Kind> Shared<C, K> {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let scheme = C::new(cores as u32);
        Self { root: scheme.root(K::Structure::default()), scheme }
    }
}

type ItemOf<K> = <<K as Kind>::Structure as Structure>::Item;

impl<C: Scheme<Native>, K: Kind> Subject for Shared<C, K> {
    type In = Attached<C::Hook, ItemOf<K>>;
    type Out = Detached<C::Hook, ItemOf<K>>;
    type Thread = C::Thread;

    fn thread(&self, _member: usize) -> C::Thread {
        self.scheme.thread()
    }

    fn item(&self, number: u64) -> Self::Out {
        Detached::new(K::item(number))
    }

    #[inline(always)]
    fn insert(&self, item: Self::Out, thread: &mut C::Thread) -> Self::In {
        self.scheme.insert(&self.root, item, thread)
    }

    #[inline(always)]
    fn remove(&self, item: Self::In, thread: &mut C::Thread) -> Self::Out {
        self.scheme.remove(&self.root, item, thread)
    }

    #[inline(always)]
    fn search(&self, number: u64, thread: &mut C::Thread) -> usize {
        let mut count = 0;
        self.scheme.search(&self.root, &K::query(number), &mut |_| count += 1, thread);
        count
    }
}
