//! Several threads, each of which knows where some of the objects are.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kilocore_ldu::{Attached, Detached, Scheme};
use kilocore_platform::Platform;

use super::Random;
use super::items::{Counts, Item, Multiset};

/// The number of different keys.
const KEYS: usize = 32;

/// What one thread does.
pub type Job = Box<dyn FnOnce() + Send>;

/// The size of a test.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Number of threads. The scheme is created for as many cores.
    pub threads: usize,
    /// Number of objects that each thread begins with.
    pub objects: usize,
    /// Number of operations of each thread.
    pub operations: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Moves the calling thread to this core, on platforms where that is possible. It is called
    /// before each operation.
    pub place: fn(usize),
}

/// An object, and the root that it is in or, if it is in none, was in last.
enum Held<P: Platform, S: Scheme<P>> {
    In(usize, Attached<S::Hook, Item<P>>),
    Out(Option<usize>, Detached<S::Hook, Item<P>>),
}

/// The state that all threads share. The fields are dropped in this order.
struct Shared<P: Platform, S: Scheme<P>> {
    /// The objects that were sent to each thread. While this lock is held, nothing of the platform
    /// is called. So no thread ever waits for the lock on a platform where threads take turns.
    mail: Vec<Mutex<Vec<Held<P, S>>>>,
    roots: [S::Root<Multiset<P>>; 2],
    scheme: S,
    next_id: AtomicUsize,
    plan: Plan,
}

struct Member<P: Platform, S: Scheme<P>> {
    shared: Arc<Shared<P, S>>,
    me: usize,
    thread: S::Thread,
    random: Random,
    held: Vec<Held<P, S>>,
    counts: Arc<Counts>,
}

/// Carries out `plan`. `run` must run all the jobs at the same time and wait until they have ended.
///
/// # Panics
/// If the scheme is wrong.
pub fn together<P: Platform, S: Scheme<P>>(plan: Plan, run: impl FnOnce(Vec<Job>)) {
    let counts: Arc<Counts> = Arc::default();
    let scheme = S::new(plan.threads as u32);
    let shared = Arc::new(Shared::<P, S> {
        mail: (0..plan.threads).map(|_| Mutex::default()).collect(),
        roots: [scheme.root(Multiset::default()), scheme.root(Multiset::default())],
        scheme,
        next_id: AtomicUsize::new(0),
        plan,
    });
    let job = |me| -> Job {
        let (shared, counts) = (Arc::clone(&shared), Arc::clone(&counts));
        Box::new(move || {
            let mut member = Member::new(me, shared, counts);
            (0..plan.operations).for_each(|_| member.step());
            member.leave();
        })
    };
    run((0..plan.threads).map(job).collect());
    // All threads have left. Objects that were sent to a thread after it had left are still there.
    let mut last = Member::new(0, Arc::clone(&shared), Arc::clone(&counts));
    (0..plan.threads).for_each(|who| last.receive_from(who, usize::MAX));
    last.leave();
    assert!(Arc::into_inner(shared).is_some(), "a thread is still there");
    counts.expect_all_dropped();
}

impl<P: Platform, S: Scheme<P>> Member<P, S> {
    fn new(me: usize, shared: Arc<Shared<P, S>>, counts: Arc<Counts>) -> Self {
        let thread = shared.scheme.thread();
        let seed = shared.plan.seed.wrapping_mul(64) + me as u64 + 1;
        let mut new =
            Self { shared, me, thread, random: Random::new(seed), held: Vec::new(), counts };
        (0..new.shared.plan.objects).for_each(|_| new.make());
        new
    }

    fn make(&mut self) {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let item = Item::new(id, self.random.below(KEYS) as u64, &self.counts);
        self.held.push(Held::Out(None, Detached::new(item)));
    }

    fn step(&mut self) {
        let plan = self.shared.plan;
        (plan.place)(self.random.below(plan.threads));
        match self.random.below(16) {
            0..9 => self.update(),
            9 => self.send(),
            10 => self.receive_from(self.me, 2),
            11 => self.renew(),
            12 => {
                let root = &self.shared.roots[self.random.below(2)];
                self.shared.scheme.synchronize(root, &mut self.thread);
            }
            _ => self.search(),
        }
    }

    /// Picks one of the objects held. The thread no longer holds it.
    fn pick(&mut self) -> Option<Held<P, S>> {
        let held = self.held.len();
        (held > 0).then(|| self.held.swap_remove(self.random.below(held)))
    }

    fn update(&mut self) {
        let held = match self.pick() {
            None => return,
            Some(Held::In(root, object)) => Held::Out(Some(root), self.remove(root, object)),
            Some(Held::Out(last, mut object)) => {
                if let Some(item) = object.get_mut() {
                    item.set_key(self.random.below(KEYS) as u64);
                }
                let root = match last {
                    Some(last) if !object.is_settled() => last,
                    _ => self.random.below(2),
                };
                let shared = &self.shared;
                Held::In(root, shared.scheme.insert(&shared.roots[root], object, &mut self.thread))
            }
        };
        self.held.push(held);
    }

    fn remove(
        &mut self,
        root: usize,
        object: Attached<S::Hook, Item<P>>,
    ) -> Detached<S::Hook, Item<P>> {
        self.shared.scheme.remove(&self.shared.roots[root], object, &mut self.thread)
    }

    fn send(&mut self) {
        let to = self.random.below(self.shared.plan.threads);
        if let Some(held) = self.pick() {
            self.shared.mail[to].lock().unwrap_or_else(PoisonError::into_inner).push(held);
        }
    }

    fn receive_from(&mut self, who: usize, most: usize) {
        let mut mail = self.shared.mail[who].lock().unwrap_or_else(PoisonError::into_inner);
        let keep = mail.len().saturating_sub(most);
        self.held.extend(mail.drain(keep..));
    }

    /// Releases an object and makes another one.
    fn renew(&mut self) {
        let object = match self.pick() {
            None => return,
            Some(Held::In(root, object)) => self.remove(root, object),
            Some(Held::Out(_, object)) => object,
        };
        if self.random.below(2) == 0 {
            self.shared.scheme.release(object, &mut self.thread);
        } else {
            drop(object);
        }
        self.make();
    }

    fn search(&mut self) {
        let root = self.random.below(2);
        let start = self.random.below(KEYS) as u64;
        let query = start..=start + self.random.below(KEYS) as u64;
        let mut found = BTreeSet::new();
        let shared = &self.shared;
        let mut show = |item: &Item<P>| assert!(found.insert(item.id), "found twice");
        shared.scheme.search(&shared.roots[root], &query, &mut show, &mut self.thread);
        for held in &self.held {
            let (item, is_in): (&Item<P>, bool) = match held {
                Held::In(at, object) => (object, *at == root),
                Held::Out(_, object) => (object, false),
            };
            let expected = is_in && query.contains(&item.key());
            assert_eq!(found.contains(&item.id), expected, "object {} in {root}", item.id);
        }
    }

    fn leave(mut self) {
        while let Some(held) = self.pick() {
            let object = match held {
                Held::In(root, object) => self.remove(root, object),
                Held::Out(_, object) => object,
            };
            self.shared.scheme.release(object, &mut self.thread);
        }
    }
}
