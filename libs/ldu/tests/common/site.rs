//! A root whose history is recorded, and what a thread does with an object of this root.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_ldu::Limits;
use kilocore_platform::Platform;

use super::history::{History, Operation};
use super::subject::{Inside, Subject};
use super::{MISSED, Probe};

/// A root of probes whose history is recorded.
pub struct Site<P: Platform, S> {
    root: S,
    history: History<P>,
    freed: Arc<AtomicUsize>,
    made: AtomicUsize,
}

impl<P: Platform, S: Subject<P>> Site<P, S> {
    /// Returns a root. If `recorded` is true, its history is recorded and must be linearizable in
    /// the end.
    pub fn new(domain: S::Domain, limits: Limits, recorded: bool) -> Arc<Self> {
        Arc::new(Self {
            root: S::new(domain, limits),
            history: History::new(recorded),
            freed: Arc::default(),
            made: AtomicUsize::new(0),
        })
    }

    pub fn object(&self, id: usize) -> S::Out {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.root.object(Probe::new(id, &self.freed))
    }

    pub fn insert(&self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert(object))
        })
    }

    pub fn insert_from(&self, other: &Self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert_from(&other.root, object))
        })
    }

    pub fn remove(&self, object: S::In) -> S::Out {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove(object))
        })
    }

    pub fn insert_directly(&self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert_directly(object))
        })
    }

    pub fn remove_directly(&self, object: S::In) -> S::Out {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove_directly(object))
        })
    }

    pub fn read(&self) -> u64 {
        self.history.record(|| {
            let members = self.root.read();
            (Operation::Read(members), members)
        })
    }

    /// Reads, and returns what `look` makes of which probes are in while the read is under way. This is
    /// not recorded.
    pub fn inside<R>(&self, look: impl FnOnce(u64) -> R) -> R
    where
        S: Inside<P>,
    {
        self.root.inside(look)
    }

    /// Reads, and checks that an object that the caller owns is where the caller has put it.
    pub fn look(&self, id: usize, inside: bool) {
        assert_eq!(self.read() >> id & 1 == 1, inside, "object {id}: {MISSED}");
    }

    pub fn synchronize(&self) {
        self.root.synchronize();
    }

    /// Ends the root, whose objects were all given up, and checks everything.
    pub fn finish(self: Arc<Self>) {
        let last = self.read();
        assert_eq!(last, 0, "an update was lost");
        let (made, freed) = self.end();
        assert_eq!(freed, made, "an object was not freed, or more than once");
    }

    /// Ends the root. Returns how many objects it has made and how many of them were freed.
    pub fn end(self: Arc<Self>) -> (usize, usize) {
        self.history.assert_linearizable();
        let site = Arc::into_inner(self).expect("all threads have ended");
        site.root.end();
        (site.made.into_inner(), site.freed.load(Ordering::Relaxed))
    }
}

/// A step of a thread with one object.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Insert,
    Remove,
    InsertDirectly,
    RemoveDirectly,
    /// Reads, and checks that the object is where it must be.
    Look,
}
use Step::{Insert, InsertDirectly, Look, Remove, RemoveDirectly};

/// An object in the hands of its owner.
pub enum Token<P: Platform, S: Subject<P>> {
    Out(S::Out),
    In(S::In),
}

impl<P: Platform, S: Subject<P>> Token<P, S> {
    pub fn new(site: &Site<P, S>, id: usize) -> Self {
        Self::Out(site.object(id))
    }

    /// Takes a step. A step that is impossible because of where the object is does nothing.
    #[must_use]
    pub fn step(self, site: &Site<P, S>, step: Step) -> Self {
        match (step, self) {
            (Insert, Self::Out(object)) => Self::In(site.insert(object)),
            (Remove, Self::In(object)) => Self::Out(site.remove(object)),
            (InsertDirectly, Self::Out(object)) => Self::In(site.insert_directly(object)),
            (RemoveDirectly, Self::In(object)) => Self::Out(site.remove_directly(object)),
            (Look, token) => {
                match &token {
                    Self::Out(object) => site.look(object.id, false),
                    Self::In(object) => site.look(object.id, true),
                }
                token
            }
            (_, token) => token,
        }
    }

    #[must_use]
    pub fn follow(self, site: &Site<P, S>, steps: &[Step]) -> Self {
        steps.iter().fold(self, |token, &step| token.step(site, step))
    }

    /// Removes the object and gives it up.
    pub fn give_up(self, site: &Site<P, S>) {
        drop(self.step(site, Remove));
    }
}

/// Follows `steps` with an object, and gives it up.
pub fn follow<P: Platform, S: Subject<P>>(site: &Site<P, S>, id: usize, steps: &[Step]) {
    Token::new(site, id).follow(site, steps).give_up(site);
}
