//! Deferred-update logs as [`Scheme`]s, to be compared with others.

use alloc::sync::Arc;
use core::marker::PhantomData;

use kilocore_locks::RawRwLock;
use kilocore_platform::Platform;

use crate::adaptive::Adaptive;
use crate::global::Global;
use crate::ldu::Ldu;
use crate::log::Limits;
use crate::node::Node;
use crate::object::{Attached, Detached};
use crate::per_core::{PerCore, SLOTS, Slots};
use crate::policy::{Always, Policy};
use crate::queue::Queue;
use crate::scheme::Scheme;
use crate::structure::Search;

/// A queue that a scheme can make for the roots of a machine.
pub trait SchemeQueue<P: Platform>: Queue<P> {
    /// What the scheme is called, if it always logs.
    const NAME: &'static str;
    /// What it is called if it adapts.
    const ADAPTIVE: &'static str;

    /// What the queues of a machine with so many cores share.
    fn domain(cores: u32) -> Self::Domain;
}

impl<P: Platform> SchemeQueue<P> for Global<P> {
    const NAME: &'static str = "ldu-global";
    const ADAPTIVE: &'static str = "ldu-adaptive";

    fn domain(_cores: u32) {}
}

impl<P: Platform> SchemeQueue<P> for PerCore<P> {
    const NAME: &'static str = "ldu-per-core";
    const ADAPTIVE: &'static str = "ldu-per-core-adaptive";

    fn domain(cores: u32) -> Arc<Slots<P>> {
        // A checker's tables are small, so that slots conflict.
        Slots::new(cores, if P::CHECKED { 1 } else { SLOTS })
    }
}

/// When the roots of a scheme log.
pub trait SchemePolicy<P: Platform>: Policy<P> {
    /// What the scheme with queues `Q` is called.
    fn name<Q: SchemeQueue<P>>() -> &'static str;
}

impl<P: Platform> SchemePolicy<P> for Always {
    fn name<Q: SchemeQueue<P>>() -> &'static str {
        Q::NAME
    }
}

impl<P: Platform> SchemePolicy<P> for Adaptive<P> {
    fn name<Q: SchemeQueue<P>>() -> &'static str {
        Q::ADAPTIVE
    }
}

/// Deferred-update logs in queues `Q`, with roots locked by `L`, which log as `D` says.
pub struct Deferred<P: Platform, Q: Queue<P>, L, D = Always> {
    domain: Q::Domain,
    parts: PhantomData<fn(P) -> (L, D)>,
}

impl<P, Q, L, D> Scheme<P> for Deferred<P, Q, L, D>
where
    P: Platform,
    Q: SchemeQueue<P>,
    L: RawRwLock<P>,
    D: SchemePolicy<P>,
{
    type Hook = Node<P>;
    type Thread = ();
    type Root<S: Search> = Ldu<P, S, Q, L, D>;

    fn name() -> &'static str {
        D::name::<Q>()
    }

    fn new(cores: u32) -> Self {
        Self { domain: Q::domain(cores), parts: PhantomData }
    }

    fn thread(&self) {}

    fn root<S: Search>(&self, structure: S) -> Ldu<P, S, Q, L, D> {
        Ldu::with(structure, self.domain.clone(), Limits::default())
    }

    #[inline]
    fn insert<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L, D>,
        object: Detached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Attached<Node<P>, S::Item> {
        root.insert(object)
    }

    #[inline]
    fn remove<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L, D>,
        object: Attached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Detached<Node<P>, S::Item> {
        root.remove(object)
    }

    fn search<S: Search>(
        &self,
        root: &Ldu<P, S, Q, L, D>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        (): &mut (),
    ) {
        root.read(|structure| structure.search(query, found));
    }

    fn synchronize<S: Search>(&self, root: &Ldu<P, S, Q, L, D>, (): &mut ()) {
        root.synchronize();
    }
}

impl<P: Platform, Q: Queue<P>, L, D> core::fmt::Debug for Deferred<P, Q, L, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deferred").finish_non_exhaustive()
    }
}
