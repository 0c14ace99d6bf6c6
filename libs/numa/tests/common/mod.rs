//! Programs that all checkers run.

use std::sync::Arc;

use kilocore_checking::Threads;
use kilocore_numa::{Nodes, ReplicatedOn};
use kilocore_platform::{Atomic, CpuId, NodeId, Ordering, Platform, SharedCell};

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
    /// Adds one.
    Update,
    /// Replaces the pair by one whose numbers are those that an update would have made, if this is the only
    /// writer.
    Store,
    /// Goes to that core.
    Go(u32),
}
pub use Deed::{Go, Read, ReadTwice, Store, Update};

/// The data, and the largest number that somebody has told others to have seen.
pub struct Shared<P: Platform> {
    pub data: ReplicatedOn<P, Pair<P>>,
    told: P::U32,
}

impl<P: Platform> Shared<P> {
    /// Has a core for each of these nodes.
    pub fn new(nodes: &[u32]) -> Self {
        let nodes = Nodes::new(nodes.iter().copied().map(NodeId));
        Self { data: ReplicatedOn::on(&nodes, Pair::new(0)), told: P::U32::new(0) }
    }

    /// A look that begins now, and must see what was told.
    fn look(&self, inside: impl FnOnce()) {
        // Acquire: what is told happened before.
        let told = self.told.load(Ordering::Acquire);
        let guard = self.data.read();
        let seen = guard.look();
        inside();
        assert_eq!(guard.look(), seen, "it was changed while it was read");
        drop(guard);
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
            ReadTwice => self.look(|| self.look(|| ())),
            Update => {
                let told = self.told.load(Ordering::Acquire);
                let made = self.data.update(Pair::add);
                assert!(made > told, "an update was made to an old value");
                self.tell(made, told);
            }
            Store => {
                let told = self.told.load(Ordering::Acquire);
                let next = self.data.read().look() + 1;
                self.data.store(Pair::new(next));
                self.tell(next, told);
            }
            Go(core) => place(CpuId(core), NodeId(nodes[core as usize])),
        }
    }
}

/// A thread for each list of deeds, the first of them the calling one. Thread 0 begins on core 0, and so on.
pub fn program<P: Threads>(
    nodes: &'static [u32],
    place: fn(CpuId, NodeId),
    threads: &[&'static [Deed]],
) {
    let shared = Arc::new(Shared::<P>::new(nodes));
    let run = move |shared: &Shared<P>, thread: usize, deeds: &[Deed]| {
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
    for core in 0..nodes.len() {
        place(CpuId(core as u32), NodeId(nodes[core]));
        assert_eq!(shared.data.read().look(), changes as u32, "a change is lost on core {core}");
    }
}
