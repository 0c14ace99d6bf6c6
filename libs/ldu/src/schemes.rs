//! Deferred-update logs as [`Scheme`]s, so that they can be compared with other schemes.

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
use crate::prompt::PromptLdu;
use crate::queue::Queue;
use crate::scheme::Scheme;
use crate::structure::Search;

/// A queue that a scheme can use for its roots.
pub trait SchemeQueue<P: Platform>: Queue<P> {
    /// The name of the scheme that has this queue and always logs.
    const NAME: &'static str;
    /// The name of the scheme that has this queue and logs adaptively.
    const ADAPTIVE: &'static str;

    /// Returns what the queues of a machine with `cores` cores share.
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
        // A checker should see conflicts of two roots in a slot, so it gets one slot a core.
        Slots::new(cores, if P::CHECKED { 1 } else { SLOTS })
    }
}

/// A policy that a scheme can use for its roots.
pub trait SchemePolicy<P: Platform>: Policy<P> {
    /// Returns the name of the scheme that has this policy and queues `Q`.
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

/// The scheme of deferred-update logs. Its roots have queues `Q`, locks `L` and policies `D`.
pub struct Deferred<P: Platform, Q: Queue<P>, L, D = Always> {
    domain: Q::Domain,
    parts: PhantomData<fn(P) -> (L, D)>,
}

impl<P, Q, L, D> Scheme<P> for Deferred<P, Q, L, D>
where
    P: Platform,
    Q: SchemeQueue<P>,
    L: RawRwLock<P, Reader = ()>,
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

/// The scheme of logs of insertions, whose removals are prompt. Its roots have locks `L`.
pub struct Prompt<P: Platform, L> {
    parts: PhantomData<fn(P) -> L>,
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Scheme<P> for Prompt<P, L> {
    type Hook = Node<P>;
    type Thread = ();
    type Root<S: Search> = PromptLdu<P, S, L>;

    fn name() -> &'static str {
        "ldu-prompt"
    }

    fn new(_cores: u32) -> Self {
        Self { parts: PhantomData }
    }

    fn thread(&self) {}

    fn root<S: Search>(&self, structure: S) -> PromptLdu<P, S, L> {
        PromptLdu::new(structure)
    }

    #[inline]
    fn insert<S: Search>(
        &self,
        root: &PromptLdu<P, S, L>,
        object: Detached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Attached<Node<P>, S::Item> {
        root.insert(object)
    }

    #[inline]
    fn remove<S: Search>(
        &self,
        root: &PromptLdu<P, S, L>,
        object: Attached<Node<P>, S::Item>,
        (): &mut (),
    ) -> Detached<Node<P>, S::Item> {
        root.remove(object).0
    }

    fn search<S: Search>(
        &self,
        root: &PromptLdu<P, S, L>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        (): &mut (),
    ) {
        root.read(|structure| structure.search(query, found));
    }

    fn synchronize<S: Search>(&self, root: &PromptLdu<P, S, L>, (): &mut ()) {
        root.synchronize();
    }
}

impl<P: Platform, L> core::fmt::Debug for Prompt<P, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Prompt").finish_non_exhaustive()
    }
}
