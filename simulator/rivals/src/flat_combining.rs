//! Flat combining: one thread does the work of all.
//!
//! A thread publishes its update in a record of its own. Whoever finds no combiner becomes it, looks
//! through all records, does what they ask for, and says so in each. The structure and its lock
//! then stay in one core's cache for many updates, and a waiter watches no line but its record's
//! (Hendler, Incze, Shavit and Tzafrir, 'Flat combining and the synchronization-parallelism
//! tradeoff', SPAA 2010).
//!
//! # Where it departs from the paper
//! * The paper's publication list belongs to one structure, and records that were idle for long are
//!   taken off it. Here each thread has one record for all roots, in an array, and a combiner skips
//!   those that ask for another root: no list to maintain, and no memory for each pair of a thread
//!   and a root, but with many busy roots a combiner reads records in vain.
//! * The paper's waiter looks at its record and, again and again, at the lock. Here it need not: who
//!   publishes leaves word at the [role](#states), and a combiner does not resign before it has
//!   looked through the records once more. After some passes it hands its role to one that waits, so
//!   that nobody combines for ever.
//! * Combiners and searches exclude one another by a lock of its own, which searches share where
//!   it is a read-write lock. A search needs not combine: what returned before it was done before.
//!
//! # States
//!
//! | role | meaning |
//! | --- | --- |
//! | 0 | nobody combines |
//! | `COMBINING` | somebody does, and will see all that was published |
//! | `COMBINING`, `AGAIN` | somebody does, and has to look through the records once more |

mod records;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use alloc::sync::Arc;
use kilocore_ldu::{Attached, Detached, Object, Scheme, Search};
use kilocore_locks::{Mcs, NoSharing, RawRwLock};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use self::records::{DONE, LEAD, Record, Records};
use crate::anchor::{Anchor, Body};
use crate::contents::Contents;
use crate::guarded::Guarded;
use crate::plain::PlainHook;
use crate::request::{Operation, Request};

/// Somebody combines.
const COMBINING: u32 = 1;
/// Something was published since the combiner began to look through the records.
const AGAIN: u32 = 2;

/// Passes over the records after which a combiner looks for a successor.
const fn passes<P: Platform>() -> u32 {
    if P::CHECKED { 1 } else { 16 }
}

/// The structure behind a combiner and, for searches, a lock `L`.
pub struct FlatCombining<P: Platform, L = NoSharing<P, Mcs<P>>> {
    records: Arc<Records<P>>,
    lock: PhantomData<fn() -> L>,
}

/// A thread's record.
pub struct Combiner<P: Platform> {
    records: Arc<Records<P>>,
    record: NonNull<Record<P>>,
}

/// A root of [`FlatCombining`].
pub struct FlatCombiningRoot<P: Platform, L: RawRwLock<P>, S: Search> {
    body: Anchor<P, Inside<P, L, S>>,
}

struct Inside<P: Platform, L: RawRwLock<P>, S: Search> {
    role: Padded<P::U32>,
    guarded: Guarded<P, L, Contents<S>>,
    /// Where those publish who use this root.
    records: Arc<Records<P>>,
}

impl<P: Platform> Combiner<P> {
    #[inline]
    fn record(&self) -> &Record<P> {
        // SAFETY: records live as long as the array that this has a share of.
        unsafe { self.record.as_ref() }
    }
}

impl<P: Platform> Drop for Combiner<P> {
    fn drop(&mut self) {
        self.record().give_back();
    }
}

impl<P: Platform, L: RawRwLock<P>, S: Search> Inside<P, L, S> {
    /// Has `request` done, by this thread or another.
    ///
    /// # Safety
    /// Its object is one of [`PlainHook`] and the structure's items, and what is asked for is allowed
    /// by the structure's contract. The caller does not use the object meanwhile.
    unsafe fn update(&self, request: Request, thread: &Combiner<P>) {
        assert!(Arc::ptr_eq(&self.records, &thread.records), "a thread of another scheme");
        let record = thread.record();
        let address = core::ptr::from_ref(self).addr();
        record.request.store(request.into_raw(), Ordering::Relaxed);
        // Sequentially consistent, as is the look at the role: either we see it without `AGAIN`, or
        // the combiner, who takes that off and then looks, sees our record.
        record.root.store(address, Ordering::SeqCst);
        let role = self.role.load(Ordering::SeqCst);
        if role == COMBINING | AGAIN
            || self.role.fetch_or(COMBINING | AGAIN, Ordering::SeqCst) & COMBINING != 0
        {
            if P::wait_until(&record.root, Wait::Spin, |root| root != address) == DONE {
                return;
            }
            // The combiner made us its successor; our own request comes with the others'.
            record.root.store(address, Ordering::Relaxed);
        }
        self.combine();
    }

    /// Does what is published for this root. The caller has the role, and passes it on or gives it
    /// up here.
    fn combine(&self) {
        for pass in 1_u32.. {
            self.role.swap(COMBINING, Ordering::SeqCst);
            self.guarded.write(|contents| {
                for record in self.published() {
                    // Acquired with the record's root.
                    let request = Request::from_raw(record.request.load(Ordering::Relaxed));
                    // SAFETY: whoever published it promises that, and waits.
                    unsafe { apply::<P, S>(contents, request) };
                    record.root.store(DONE, Ordering::Release);
                }
            });
            let resigned =
                self.role.compare_exchange(COMBINING, 0, Ordering::SeqCst, Ordering::Relaxed);
            if resigned.is_ok() {
                return;
            }
            if pass >= passes::<P>()
                && let Some(successor) = self.published().next()
            {
                // Release shows the successor all that we did in the role.
                successor.root.store(LEAD, Ordering::Release);
                return;
            }
        }
    }

    /// The records that ask for something of this root.
    fn published(&self) -> impl Iterator<Item = &Record<P>> {
        let address = core::ptr::from_ref(self).addr();
        self.records.iter().filter(move |record| record.root.load(Ordering::SeqCst) == address)
    }
}

/// # Safety
/// The object of `request` is alive, and the structure's contract allows what it asks for.
unsafe fn apply<P: Platform, S: Search>(contents: &mut Contents<S>, request: Request) {
    let object = request.object::<PlainHook<P>, S::Item>();
    // SAFETY: by the caller's promise.
    unsafe {
        match request.operation() {
            Operation::Insert => contents.insert(&(*object).item),
            Operation::Remove => contents.remove(&(*object).item),
        }
    }
}

// SAFETY: objects refer to the body while they are among its contents, and nothing else does.
unsafe impl<P: Platform, L: RawRwLock<P>, S: Search> Body for Inside<P, L, S> {
    fn finish(&mut self) -> bool {
        self.guarded.write_alone(|contents| contents.is_empty())
    }
}

impl<P: Platform, L: RawRwLock<P>> Scheme<P> for FlatCombining<P, L> {
    type Hook = PlainHook<P>;
    type Thread = Combiner<P>;
    type Root<S: Search> = FlatCombiningRoot<P, L, S>;

    fn name() -> &'static str {
        "flat-combining"
    }

    fn new(cores: u32) -> Self {
        Self { records: Arc::new(Records::new(cores)), lock: PhantomData }
    }

    fn thread(&self) -> Combiner<P> {
        let record = NonNull::from(self.records.claim());
        Combiner { records: Arc::clone(&self.records), record }
    }

    fn root<S: Search>(&self, structure: S) -> FlatCombiningRoot<P, L, S> {
        let body = Anchor::new(Inside {
            role: Padded(P::U32::new(0)),
            guarded: Guarded::new(Contents::new(structure)),
            records: Arc::clone(&self.records),
        });
        FlatCombiningRoot { body }
    }

    fn insert<S: Search>(
        &self,
        root: &FlatCombiningRoot<P, L, S>,
        object: Detached<PlainHook<P>, S::Item>,
        thread: &mut Combiner<P>,
    ) -> Attached<PlainHook<P>, S::Item> {
        object.hook().home.set(&*root.body);
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        // SAFETY: it was detached, so in no structure, and stays where it is until it was removed.
        unsafe { root.body.update(Request::new(Operation::Insert, object), thread) };
        // SAFETY: its only token, inserted just now.
        unsafe { Attached::from_raw(object) }
    }

    fn remove<S: Search>(
        &self,
        root: &FlatCombiningRoot<P, L, S>,
        object: Attached<PlainHook<P>, S::Item>,
        thread: &mut Combiner<P>,
    ) -> Detached<PlainHook<P>, S::Item> {
        object.hook().home.expect(&*root.body);
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        // SAFETY: it is attached, so in a structure, and its hook says which.
        unsafe { root.body.update(Request::new(Operation::Remove, object), thread) };
        // SAFETY: its only token, removed just now.
        unsafe { Detached::from_raw(object) }
    }

    fn search<S: Search>(
        &self,
        root: &FlatCombiningRoot<P, L, S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        _thread: &mut Combiner<P>,
    ) {
        root.body.guarded.read(|contents| contents.structure.search(query, found));
    }
}

// SAFETY: a record is claimed by one thread's value at a time, and everything in it is atomic.
unsafe impl<P: Platform> Send for Combiner<P> {}

impl<P: Platform, L> fmt::Debug for FlatCombining<P, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatCombining").finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for Combiner<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combiner").finish_non_exhaustive()
    }
}

impl<P: Platform, L: RawRwLock<P>, S: Search> fmt::Debug for FlatCombiningRoot<P, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatCombiningRoot").finish_non_exhaustive()
    }
}
