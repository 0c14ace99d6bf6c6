//! Programs that all checkers run.
#![allow(dead_code, missing_docs, unreachable_pub, missing_debug_implementations)]

use std::marker::PhantomData;
use std::sync::Arc;

use kilocore_checking::Threads;
use kilocore_numa::{Nodes, ReplicatedOn};
use kilocore_platform::{Atomic, CpuId, NodeId, Ordering, Platform, SharedCell, Wait};

/// Two numbers that are equal whenever nobody changes them. The checker sees each access.
pub struct Pair<P: Platform>([P::Cell<u32>; 2]);

impl<P: Platform> Pair<P> {
    pub fn new(number: u32) -> Self {
        Self([P::Cell::new(number), P::Cell::new(number)])
    }

    /// Adds one to both, and returns what they are then.
    pub fn add(&mut self) -> u32 {
        for number in &self.0 {
            // SAFETY: `self` is not shared.
            number.with_mut(|number| unsafe { *number += 1 });
        }
        self.look()
    }

    pub fn look(&self) -> u32 {
        // SAFETY: `self` is shared with others that look.
        let seen = [0, 1].map(|i| self.0[i].with(|number| unsafe { *number }));
        assert_eq!(seen[0], seen[1], "a reader saw half of a change");
        seen[0]
    }
}

impl<P: Platform> Clone for Pair<P> {
    fn clone(&self) -> Self {
        Self::new(self.look())
    }
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Reads, and sees what has been seen before at least.
    Read,
    /// Reads twice, the second time within the first.
    ReadTwice,
    /// Reads, and if it sees an update, stays until that has returned. For a single update and a single reader,
    /// for which the update must not wait.
    Stay,
    /// Updates the pair: adds one.
    Update,
    /// Replaces the pair by one whose numbers are those that an update would have made, if this is the only
    /// writer.
    Store,
    /// Goes to that core.
    Go(u32),
}
pub use Deed::{Go, Read, ReadTwice, Stay, Store, Update};

/// A pair with copies. The shipped one, or one with a mistake.
pub trait Subject<P: Platform>: Send + Sync + 'static {
    /// Returns a pair of zeros. There is a core for each of these nodes.
    fn new(nodes: &[u32]) -> Self;
    fn read<R>(&self, look: impl FnOnce(&Pair<P>) -> R) -> R;
    fn update(&self) -> u32;
    fn store(&self, number: u32);
}

impl<P: Platform> Subject<P> for ReplicatedOn<P, Pair<P>> {
    fn new(nodes: &[u32]) -> Self {
        Self::on(&Nodes::new(nodes.iter().copied().map(NodeId)), Pair::new(0))
    }
    fn read<R>(&self, look: impl FnOnce(&Pair<P>) -> R) -> R {
        look(&self.read())
    }
    fn update(&self) -> u32 {
        self.update(Pair::add)
    }
    fn store(&self, number: u32) {
        self.store(Pair::new(number));
    }
}

/// The data, and the largest number that somebody has told others to have seen.
pub struct Shared<P: Platform, S> {
    pub data: S,
    told: P::U32,
    platform: PhantomData<P>,
}

impl<P: Platform, S: Subject<P>> Shared<P, S> {
    pub fn new(nodes: &[u32]) -> Self {
        Self { data: S::new(nodes), told: P::U32::new(0), platform: PhantomData }
    }

    /// A look that begins now, and must see what was told.
    fn look(&self, inside: impl FnOnce()) {
        // Acquire: what is told happened before.
        let told = self.told.load(Ordering::Acquire);
        let seen = self.data.read(|pair| {
            let seen = pair.look();
            inside();
            assert_eq!(pair.look(), seen, "it was changed while it was read");
            seen
        });
        assert!(seen >= told, "a reader saw an old value: {seen}, and {told} was seen before");
        self.tell(seen, told);
    }

    fn tell(&self, seen: u32, told: u32) {
        if seen > told {
            // It fails if somebody else has told something, which is as good.
            let _ = self.told.compare_exchange(told, seen, Ordering::Release, Ordering::Relaxed);
        }
    }

    pub fn act(&self, deed: Deed, nodes: &[u32], place: fn(CpuId, NodeId)) {
        match deed {
            Read => self.look(|| ()),
            Stay => self.data.read(|pair| {
                let seen = pair.look();
                P::wait_until(&self.told, Wait::Spin, |told| told >= seen);
            }),
            ReadTwice => self.look(|| self.look(|| ())),
            Update => {
                let told = self.told.load(Ordering::Acquire);
                let made = self.data.update();
                assert!(made > told, "an update was made to an old value");
                self.tell(made, told);
            }
            Store => {
                let told = self.told.load(Ordering::Acquire);
                let next = self.data.read(Pair::look) + 1;
                self.data.store(next);
                self.tell(next, told);
            }
            Go(core) => place(CpuId(core), NodeId(nodes[core as usize])),
        }
    }
}

/// A thread for each list of deeds, the first of them the calling one. Thread 0 begins on core 0, and so on.
pub fn program<P: Threads, S: Subject<P>>(
    nodes: &'static [u32],
    place: fn(CpuId, NodeId),
    threads: &[&'static [Deed]],
) {
    let shared = Arc::new(Shared::<P, S>::new(nodes));
    let run = move |shared: &Shared<P, S>, thread: usize, deeds: &[Deed]| {
        let core = thread % nodes.len();
        place(CpuId(core as u32), NodeId(nodes[core]));
        deeds.iter().for_each(|&deed| shared.act(deed, nodes, place));
    };
    let others = (1..threads.len()).map(|thread| {
        let (shared, deeds) = (Arc::clone(&shared), threads[thread]);
        P::spawn(move || run(&shared, thread, deeds))
    });
    let others: Vec<P::Handle> = others.collect();
    run(&shared, 0, threads[0]);
    others.into_iter().for_each(P::join);
    let changes = |deed: &&Deed| matches!(deed, Update | Store);
    let changes = threads.iter().flat_map(|&deeds| deeds).filter(changes).count();
    for (core, node) in nodes.iter().enumerate() {
        place(CpuId(core as u32), NodeId(*node));
        assert_eq!(shared.data.read(Pair::look), changes as u32, "a change is lost on core {core}");
    }
}
