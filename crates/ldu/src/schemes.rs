//! Deferred-update logs as [`Scheme`]s, to be compared with others.

use alloc::sync::Arc;
use core::marker::PhantomData;

use kilocore_locks::RawRwLock;
use kilocore_platform::Platform;

use crate::global::Global;
use crate::ldu::Ldu;
use crate::log::Limits;
use crate::node::Node;
use crate::object::{Attached, Detached};
use crate::per_core::{PerCore, SLOTS, Slots};
use crate::queue::Queue;
use crate::scheme::Scheme;
use crate::structure::Search;

/// A queue that a scheme can make for the roots of a machine.
pub trait SchemeQueue<P: Platform>: Queue<P> {
    /// What the scheme is called.
    const NAME: &'static str;

    /// What the queues of a machine with so many cores share.
    fn domain(cores: u32) -> Self::Domain;
}

impl<P: Platform> SchemeQueue<P> for Global<P> {
    const NAME: &'static str = "ldu-global";

    fn domain(_cores: u32) {}
}

impl<P: Platform> SchemeQueue<P> for PerCore<P> {
    const NAME: &'static str = "ldu-per-core";

    fn domain(cores: u32) -> Arc<Slots<P>> {
        // A checker's tables are small, so that slots conflict.
        Slots::new(cores, if P::CHECKED { 1 } else { SLOTS })
    }
}

/// Deferred-update logs in queues `Q`, with roots locked by `L`.
pub struct Deferred<P: Platform, Q: Queue<P>, L> {
    domain: Q::Domain,
    lock: PhantomData<fn(P) -> L>,
}

impl<P: Platform, Q: SchemeQueue<P>, L: RawRwLock<P>> Scheme<P> for Deferred<P, Q, L> {
    const NAME: &'static str = Q::NAME;
    type Hook = Node<P>;
    type Thread = ();
    type Root<S: Search> = Ldu<P, S, Q, L>;

    fn new(cores: u32) -> Self {
        Self { domain: Q::domain(cores), lock: PhantomData }
    }

    fn thread(&self) {}

    fn root<S: Search>(&self, structure: S) -> Ldu<P, S, Q, L> {
        Ldu::with(structure, self.domain.clone(), Limits::default())
    }

    #[inline]
    fn insert<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L>,
        object: Detached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Attached<Node<P>, S::Item> {
        root.insert(object)
    }

    #[inline]
    fn remove<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L>,
        object: Attached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Detached<Node<P>, S::Item> {
        root.remove(object)
    }

    fn search<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        (): &mut (),
    ) {
        root.read(|structure| structure.search(query, found));
    }

    fn synchronize<S: Search>(&self, root: &Ldu<P, S, Q, L>, (): &mut ()) {
        root.synchronize();
    }
}

impl<P: Platform, Q: Queue<P>, L> core::fmt::Debug for Deferred<P, Q, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deferred").finish_non_exhaustive()
    }
}
