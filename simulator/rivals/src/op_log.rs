//! OpLog: a log for each core, merged by time.
//!
//! An update is written to a log of the core that it happens on, with a time stamp, and returns.
//! Whoever wants to read takes the structure's lock, merges the logs of all cores by their stamps
//! and applies them (Boyd-Wickizer, Kaashoek, Morris and Zeldovich, 'OpLog: a library for scaling
//! update-heavy data structures', MIT-CSAIL-TR-2014-019). Updates share nothing until somebody reads.
//!
//! * Each core has a direct-mapped cache of logs, its [ways](ways): a way has a lock, serves one
//!   root at a time, and is found by the root's number.
//! * Each root has a bit for each core that holds a part of its log.
//! * An operation that undoes the last one of its way's log takes that one out instead; not if the
//!   object saw others in between, which other cores logged.
//! * A root applies its logs when one has [`Tuning::MOST_LOGGED`] entries, at the latest.
//!
//! # Where it departs from the paper
//! * **In user space a thread may lose its core** between choosing a way and locking it. It then uses
//!   another core's way, whose lock makes that right, if slow.
//! * **A stamp is never lower than one before it.** The paper trusts the time-stamp counters of all
//!   cores to agree. They do, but `rdtsc` is no fence: it may be read some tens of cycles before the
//!   way was locked, an `lfence` would cost as much, and checkers have no clock at all. An
//!   object's hook remembers the stamp of its last operation and the next one is later by at least
//!   one, so operations on one object keep their order; those on different objects commute.
//! * **Updates during a merge.** A root's logs are taken one after the other while operations go on;
//!   [what is taken](ways) is what was logged before one moment, so that no operation is applied
//!   without those before it, and a search is a snapshot.
//! * **A way that is taken over** is not merged at once, under two locks, but its log is put on a list
//!   at the root that it belongs to, and merged with the others when that is read. The way's lock
//!   keeps that root alive: its end waits for all ways that hold a part of its log.
//! * **Roots are numbered**, and number modulo ways is the way: conflicts are as rare as can be, which
//!   favours it over a hash of the address.
//! * A search of a root without log entries takes the lock shared where the lock can be.
//!
//! # Memory
//! An object that is given back is freed when all its operations were applied: each is a
//! [debt](crate::debts). In a simulation the lines of the logs are charged for, comparing stamps is
//! not, which favours it.

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

// SAFETY: it changes nothing.
unsafe impl Tuning for Published {}

/// Ways that a core has on `P`: a checker's has two, so that roots meet.
const fn ways<P: Platform, C: Tuning>() -> usize {
    if P::CHECKED && C::WAYS > 2 { 2 } else { C::WAYS }
}

/// Logs for each core in front of a structure behind a lock `L`, with the constants `C`.
pub struct OpLog<P: Platform, L = NoSharing<P, Mcs<P>>, C = Published> {
    caches: Arc<Caches<P>>,
    parts: PhantomData<fn() -> (L, C)>,
}

/// A root of [`OpLog`].
pub struct OpLogRoot<P: Platform, L: RawRwLock<P>, S: Search> {
    body: Anchor<P, Inside<P, L, S>>,
}

struct Inside<P: Platform, L: RawRwLock<P>, S: Search> {
    holders: Holders<P>,
    guarded: Guarded<P, L, Applied<P, S>>,
    caches: Arc<Caches<P>>,
}

/// What the lock guards: the structure, and what it takes to bring it up to date.
struct Applied<P: Platform, S> {
    contents: Contents<S>,
    merger: Merger<P>,
}

impl<P: Platform, S: Search> Applied<P, S> {
    /// Applies all that was logged before the call, and perhaps more.
    fn update<C: Tuning>(&mut self, caches: &Caches<P>, holders: &Holders<P>) {
        self.merger.collect::<C>(caches, holders);
        let contents = &mut self.contents;
        // SAFETY: the log has requests for this root only, each with its debt, and the merger gives
        // those for one object in the order in which they were made, each once.
        self.merger.drain::<C>(|request| unsafe { apply::<P, S>(contents, request) });
    }
}

/// # Safety
/// The request is for an object of [`OpLogHook`] and the structure's items, the structure's contract
/// allows what it asks for, and its debt is paid here.
unsafe fn apply<P: Platform, S: Search>(contents: &mut Contents<S>, request: Request) {
    let object = request.object::<OpLogHook<P>, S::Item>();
    // SAFETY: the debt keeps the object alive until it is paid, which is once.
    unsafe {
        match request.operation() {
            Operation::Insert => contents.insert(&(*object).item),
            Operation::Remove => contents.remove(&(*object).item),
        }
        (*object).hook.debts.pay(NonNull::new_unchecked(object));
    }
}

impl<P: Platform, L: RawRwLock<P>, S: Search> Inside<P, L, S> {
    /// Logs an operation on an object whose token the caller has.
    fn log<C: Tuning>(&self, operation: Operation, object: NonNull<Object<OpLogHook<P>, S::Item>>) {
        // SAFETY: the caller has its token.
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

// SAFETY: objects refer to the body while they are among its contents; the update has made all
// ways forget it.
unsafe impl<P: Platform, L: RawRwLock<P>, S: Search> Body for Inside<P, L, S> {
    /// Also sees to it that no way refers to this root any more.
    fn finish(&mut self) -> bool {
        let (caches, holders) = (&self.caches, &self.holders);
        self.guarded.write_alone(|applied| {
            applied.update::<Published>(caches, holders);
            applied.contents.is_empty()
        })
    }
}

impl<P: Platform, L: RawRwLock<P>, C: Tuning> Scheme<P> for OpLog<P, L, C> {
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
        // What is still to be applied to the other root could come after this.
        assert!(
            hook.home.is(&*root.body) || hook.debts.none(),
            "the object is not settled and was in another root"
        );
        hook.home.set(&*root.body);
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        root.body.log::<C>(Operation::Insert, object);
        // SAFETY: its only token, inserted just now.
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
        // SAFETY: its only token, removed just now but for what its debts say.
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
        // The first look is to spare who has to write anyway the way in as a reader. It does not
        // count: somebody inside may have the logs in hand.
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

impl<P: Platform, L: RawRwLock<P>, S: Search> fmt::Debug for OpLogRoot<P, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpLogRoot").finish_non_exhaustive()
    }
}
