//! The subjects of the programs: a shipped log, or the twin of the paper's log with or without an
//! error.

use std::ops::Deref;

use kilocore_ldu::raw::Inserted;
use kilocore_ldu::{
    ElsewhereError, Global, In, Ldu, Limits, Out, PerCore, Policy, PromptLdu, Queue, Slots,
};
use kilocore_locks::RawRwLock;
use kilocore_platform::Platform;

use super::{Census, Probe};

/// A root of probes behind some log.
pub trait Subject<P: Platform>: Send + Sync + Sized + 'static {
    /// What all roots of a test have in common.
    type Domain: Clone + Send + Sync + 'static;
    /// A probe that is out.
    type Out: Deref<Target = Probe> + Send;
    /// A probe that is in.
    type In: Deref<Target = Probe> + Send;

    fn new(domain: Self::Domain, limits: Limits) -> Self;
    fn object(&self, probe: Probe) -> Self::Out;

    /// Inserts an object that is new, or belongs to this root or to a root that has ended.
    fn insert(&self, object: Self::Out) -> Self::In;
    /// Inserts an object that belongs to `other`.
    fn insert_from(&self, other: &Self, object: Self::Out) -> Self::In;
    fn remove(&self, object: Self::In) -> Self::Out;

    /// Does what [`insert`](Self::insert) does. The update is applied when this returns.
    fn insert_directly(&self, object: Self::Out) -> Self::In {
        let object = self.insert(object);
        self.synchronize();
        object
    }
    /// Does what [`remove`](Self::remove) does. The update is applied when this returns.
    fn remove_directly(&self, object: Self::In) -> Self::Out {
        let object = self.remove(object);
        self.synchronize();
        object
    }

    /// Reads which probes are in: a bit for each.
    fn read(&self) -> u64;
    fn synchronize(&self);
    /// Frees the root. A root that is dropped in another way, by a panic, may be leaked.
    fn end(self);
}

/// A subject whose domain is made from a number of cores.
pub trait Cores<P: Platform>: Subject<P> {
    /// Returns what roots share on a machine with so many cores. Each core has one slot, so that
    /// any two roots conflict.
    fn domain(cores: u32) -> Self::Domain;
}

/// A subject with reads that last.
pub trait Inside<P: Platform>: Subject<P> {
    /// Calls `look` with which probes are in, while the read is under way.
    fn inside<R>(&self, look: impl FnOnce(u64) -> R) -> R;
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Inside<P> for Ldu<P, Census, Global<P>, L> {
    fn inside<R>(&self, look: impl FnOnce(u64) -> R) -> R {
        self.read(|census| look(census.members))
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Inside<P> for PromptLdu<P, Census, L> {
    fn inside<R>(&self, look: impl FnOnce(u64) -> R) -> R {
        self.read(|census| look(census.members))
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Cores<P> for PromptLdu<P, Census, L> {
    fn domain(_: u32) {}
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Subject<P> for PromptLdu<P, Census, L> {
    type Domain = ();
    type Out = Out<P, Census>;
    type In = In<P, Census>;

    fn new((): (), limits: Limits) -> Self {
        Self::with_limit(Census::default(), limits.nodes)
    }
    fn object(&self, probe: Probe) -> Self::Out {
        self.object(probe)
    }
    fn insert(&self, object: Self::Out) -> Self::In {
        self.insert(object)
    }
    fn insert_from(&self, other: &Self, object: Self::Out) -> Self::In {
        let (object, _) = self.try_insert(object).unwrap_or_else(|ElsewhereError(object)| {
            other.synchronize();
            (self.insert(object), Inserted::Logged)
        });
        object
    }
    fn remove(&self, object: Self::In) -> Self::Out {
        self.remove(object).0
    }
    fn insert_directly(&self, object: Self::Out) -> Self::In {
        self.insert_directly(object)
    }
    fn read(&self) -> u64 {
        self.read(|census| census.members)
    }
    fn synchronize(&self) {
        self.synchronize();
    }
    fn end(self) {}
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Cores<P> for Ldu<P, Census, Global<P>, L> {
    fn domain(_: u32) {}
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Cores<P> for Ldu<P, Census, PerCore<P>, L> {
    fn domain(cores: u32) -> Self::Domain {
        Slots::new(cores, 1)
    }
}

impl<P: Platform, Q: Queue<P>, L: RawRwLock<P, Reader = ()>, D: Policy<P>> Subject<P>
    for Ldu<P, Census, Q, L, D>
{
    type Domain = Q::Domain;
    type Out = Out<P, Census>;
    type In = In<P, Census>;

    fn new(domain: Q::Domain, limits: Limits) -> Self {
        Self::with(Census::default(), domain, limits)
    }
    fn object(&self, probe: Probe) -> Self::Out {
        self.object(probe)
    }
    fn insert(&self, object: Self::Out) -> Self::In {
        self.insert(object)
    }
    fn insert_from(&self, other: &Self, object: Self::Out) -> Self::In {
        self.try_insert(object).unwrap_or_else(|ElsewhereError(object)| {
            other.synchronize();
            self.insert(object)
        })
    }
    fn remove(&self, object: Self::In) -> Self::Out {
        self.remove(object)
    }
    fn insert_directly(&self, object: Self::Out) -> Self::In {
        self.insert_directly(object)
    }
    fn remove_directly(&self, object: Self::In) -> Self::Out {
        self.remove_directly(object)
    }
    fn read(&self) -> u64 {
        self.read(|census| census.members)
    }
    fn synchronize(&self) {
        self.synchronize();
    }
    fn end(self) {}
}
