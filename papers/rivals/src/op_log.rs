//! OpLog: a log for each core, merged by time.
//!
//! An update is written to a log of the core on which it happens, with a time stamp, and returns. A
//! reader takes the structure's lock, merges the logs of all cores by their stamps and applies them
//! (Boyd-Wickizer, Kaashoek, Morris and Zeldovich, 'OpLog: a library for scaling update-heavy data
//! structures', MIT-CSAIL-TR-2014-019). Updates share nothing until a thread reads.
//!
//! * Each core has a direct-mapped cache of logs, its [ways](ways). A way has a lock and serves one
//!   root at a time. The root's number selects the way.
//! * Each root has a bit for each core that holds a part of its log.
//! * An operation that undoes the last one in its way's log removes that one instead of being
//!   logged. It does not if there were other operations on the object in between, which other cores
//!   logged.
//! * At the latest, a root applies its logs when one of them has [`Tuning::MOST_LOGGED`] entries.
//!
//! # Where it departs from the paper
//! * **A thread in user space may lose its core** after it has chosen a way and before it has
//!   locked it. It then uses another core's way. The lock of the way makes this correct, but it is
//!   slow.
//! * **The stamps of an object's operations always increase.** The paper trusts the time-stamp
//!   counters of all cores to agree. They do agree. But `rdtsc` is no fence: it may be read some
//!   tens of cycles before the way is locked. An `lfence` would cost as much, and checkers have no
//!   clock at all. So an object's hook remembers the stamp of its last operation, and the next
//!   stamp is larger by at least one. Operations on one object therefore keep their order. Those on
//!   different objects commute.
//! * **Updates during a merge.** A root's logs are taken one after the other while operations go
//!   on. [Only entries](ways) that were logged before one common moment are taken. So no operation
//!   is applied without those before it, and a search is a snapshot.
//! * **A way that another root takes over** is not merged at once, which would need two locks. Its
//!   log is put on a list at its own root instead, and merged with the others when that root is
//!   read. The way's lock keeps that root alive: before a root ends, it waits for all ways that
//!   hold a part of its log.
//! * **Roots are numbered**, and a root's way is its number modulo the number of ways. Conflicts
//!   are therefore as rare as possible, which favours this rival over one that hashes the address.
//! * A search of a root without log entries takes the lock in shared mode, if the lock has one.
//!
//! # Memory
//! An object that was released is freed when all its operations were applied: each is a
//! [debt](crate::debts). A simulation charges for the cache lines of the logs, but not for
//! comparing stamps. This favours this rival.

mod hook;
mod log;
mod merge;
mod tuning;
mod ways;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use alloc::sync::Arc;
use kilocore_ldu::{Attached, Detached, Object, Scheme, Search};
use kilocore_locks::{Mcs, NoSharing, RawRwLock};
use kilocore_platform::Platform;

pub use self::hook::OpLogHook;
use self::merge::Merger;
pub use self::tuning::{Published, Tuning};
use self::ways::{Caches, Holders};
use crate::anchor::{Anchor, Body};
use crate::contents::Contents;
use crate::guarded::Guarded;
use crate::request::{Operation, Request};

// SAFETY: it keeps the constants that are not listed.
unsafe impl Tuning for Published {}

/// The number of ways of a core on `P`. Under a checker it is two at most, so that roots share
/// ways.
const fn ways<P: Platform, C: Tuning>() -> usize {
    if P::CHECKED && C::WAYS > 2 { 2 } else { C::WAYS }
}

/// A log for each core in front of a structure behind a lock `L`. `C` has the constants.
pub struct OpLog<P: Platform, L = NoSharing<P, Mcs<P>>, C = Published> {
    caches: Arc<Caches<P>>,
    parts: PhantomData<fn() -> (L, C)>,
}

/// A root of [`OpLog`].
pub struct OpLogRoot<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    body: Anchor<P, Inside<P, L, S>>,
}

struct Inside<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    holders: Holders<P>,
    guarded: Guarded<P, L, Applied<P, S>>,
    caches: Arc<Caches<P>>,
}

/// The data that the lock guards: the structure, and the state for bringing it up to date.
struct Applied<P: Platform, S> {
    contents: Contents<S>,
    merger: Merger<P>,
}

impl<P: Platform, S: Search> Applied<P, S> {
    /// Applies all operations that were logged before the call, and perhaps more.
    fn update<C: Tuning>(&mut self, caches: &Caches<P>, holders: &Holders<P>) {
        self.merger.collect::<C>(caches, holders);
        let contents = &mut self.contents;
        // SAFETY: the logs hold requests for this root only, each with its debt. The merger returns
        // each request once, and those for one object in the order in which they were made.
        self.merger.drain::<C>(|request| unsafe { apply::<P, S>(contents, request) });
    }
}

/// # Safety
/// The object of the request must have an [`OpLogHook`] and an item of the structure. The
/// structure's contract must allow the operation. The debt of the request must not have been paid:
/// this call pays it.
unsafe fn apply<P: Platform, S: Search>(contents: &mut Contents<S>, request: Request) {
    let object = request.object::<OpLogHook<P>, S::Item>();
    // SAFETY: the debt keeps the object alive until it is paid, and it is paid only here.
    unsafe {
        match request.operation() {
            Operation::Insert => contents.insert(&(*object).item),
            Operation::Remove => contents.remove(&(*object).item),
        }
        (*object).hook.debts.pay(NonNull::new_unchecked(object));
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> Inside<P, L, S> {
    /// Logs an operation on an object. The caller must own the object's token.
    fn log<C: Tuning>(&self, operation: Operation, object: NonNull<Object<OpLogHook<P>, S::Item>>) {
        // SAFETY: the caller owns the token, so the object is alive.
        let hook = unsafe { &object.as_ref().hook };
        let request = Request::new(operation, object);
        if self.caches.log(&self.holders, request, hook) >= C::MOST_LOGGED {
            self.synchronize::<C>();
        }
    }

    fn synchronize<C: Tuning>(&self) {
        self.guarded.write(|applied| applied.update::<C>(&self.caches, &self.holders));
    }
}

// SAFETY: only objects among the contents refer to the body. It is freed only if there are none.
// The update has removed this root from all ways.
unsafe impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> Body for Inside<P, L, S> {
    /// Also makes sure that no way refers to this root any more.
    fn finish(&mut self) -> bool {
        let (caches, holders) = (&self.caches, &self.holders);
        self.guarded.write_alone(|applied| {
            applied.update::<Published>(caches, holders);
            applied.contents.is_empty()
        })
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, C: Tuning> Scheme<P> for OpLog<P, L, C> {
    type Hook = OpLogHook<P>;
    type Thread = ();
    type Root<S: Search> = OpLogRoot<P, L, S>;

    fn name() -> &'static str {
        "oplog"
    }

    fn new(cores: u32) -> Self {
        Self { caches: Arc::new(Caches::new(cores, ways::<P, C>())), parts: PhantomData }
    }

    fn thread(&self) {}

    fn root<S: Search>(&self, structure: S) -> OpLogRoot<P, L, S> {
        let applied = Applied { contents: Contents::new(structure), merger: Merger::new() };
        let body = Anchor::new(Inside {
            holders: Holders::new(self.caches.number_a_root()),
            guarded: Guarded::new(applied),
            caches: Arc::clone(&self.caches),
        });
        OpLogRoot { body }
    }

    fn insert<S: Search>(
        &self,
        root: &OpLogRoot<P, L, S>,
        object: Detached<OpLogHook<P>, S::Item>,
        (): &mut (),
    ) -> Attached<OpLogHook<P>, S::Item> {
        let hook = object.hook();
        // Otherwise, operations that still have to be applied to the other root might be applied
        // after this one.
        assert!(
            hook.home.is(&*root.body) || hook.debts.none(),
            "the object is not settled and was in another root"
        );
        hook.home.set(&*root.body);
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        root.body.log::<C>(Operation::Insert, object);
        // SAFETY: this is the object's only token, and the object was inserted just now.
        unsafe { Attached::from_raw(object) }
    }

    fn remove<S: Search>(
        &self,
        root: &OpLogRoot<P, L, S>,
        object: Attached<OpLogHook<P>, S::Item>,
        (): &mut (),
    ) -> Detached<OpLogHook<P>, S::Item> {
        object.hook().home.expect(&*root.body);
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        root.body.log::<C>(Operation::Remove, object);
        // SAFETY: this is the object's only token. The object was removed just now, apart from what
        // its debts stand for.
        unsafe { Detached::from_raw(object) }
    }

    fn search<S: Search>(
        &self,
        root: &OpLogRoot<P, L, S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        (): &mut (),
    ) {
        let body = &*root.body;
        let mut read = |applied: &Applied<P, S>| applied.contents.structure.search(query, found);
        // The first look spares a thread that has to write anyway from entering as a reader. Only
        // the second look counts: during the first, a thread inside may have taken the logs without
        // having applied them yet.
        let nothing = || body.holders.nothing_logged();
        if !nothing() || !body.guarded.read_if(nothing, &mut read) {
            let (caches, holders) = (&body.caches, &body.holders);
            body.guarded.write_then_read(|applied| applied.update::<C>(caches, holders), &mut read);
        }
    }

    fn synchronize<S: Search>(&self, root: &OpLogRoot<P, L, S>, (): &mut ()) {
        root.body.synchronize::<C>();
    }
}

impl<P: Platform, L, C> fmt::Debug for OpLog<P, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpLog").finish_non_exhaustive()
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> fmt::Debug for OpLogRoot<P, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpLogRoot").finish_non_exhaustive()
    }
}
