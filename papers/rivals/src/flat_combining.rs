//! Flat combining: one thread does the work of all.
//!
//! A thread publishes its update in a record of its own. If there is no combiner, the thread
//! becomes the combiner: it looks through all records, performs the updates that it finds, and
//! reports each in its record. The structure and its lock then stay in one core's cache for many
//! updates, and a waiter watches only its own record (Hendler, Incze, Shavit and Tzafrir, 'Flat
//! combining and the synchronization-parallelism tradeoff', SPAA 2010).
//!
//! # Where it departs from the paper
//! * In the paper, each structure has a publication list of its own, from which records that were
//!   idle for long are removed. Here, each thread has one record for all roots, in an array, and a
//!   combiner skips the records that concern other roots. So there is no list to maintain, and no
//!   memory for each pair of a thread and a root. But with many busy roots, a combiner reads many
//!   records in vain.
//! * In the paper, a waiter looks at its record and, again and again, at the lock. Here it looks at
//!   its record only. A thread that publishes sets a flag in the [role](#states), and a combiner
//!   that finds the flag set looks through the records once more before it resigns. After some
//!   passes, the combiner hands its role to a waiter, so that no thread combines for ever.
//! * Combiners and searches exclude one another by a separate lock. Searches run in parallel if it
//!   is a read-write lock. A search need not combine, because an update is performed before it
//!   returns.
//!
//! # States
//!
//! | role | meaning |
//! | --- | --- |
//! | 0 | no thread combines |
//! | `COMBINING` | a thread combines, and will see all that was published |
//! | `COMBINING`, `AGAIN` | a thread combines, and has to look through the records once more |

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

/// A thread combines: it performs the requests of all.
const COMBINING: u32 = 1;
/// Something was published since the combiner began to look through the records.
const AGAIN: u32 = 2;

/// After this many passes over the records, a combiner looks for a successor.
const fn passes<P: Platform>() -> u32 {
    if P::CHECKED { 1 } else { 16 }
}

/// The structure behind a combiner, and behind a lock `L` for combiners and searches.
pub struct FlatCombining<P: Platform, L = NoSharing<P, Mcs<P>>> {
    records: Arc<Records<P>>,
    lock: PhantomData<fn() -> L>,
}

/// A thread's part in the scheme: its record.
pub struct Combiner<P: Platform> {
    records: Arc<Records<P>>,
    record: NonNull<Record<P>>,
}

/// A root of [`FlatCombining`].
pub struct FlatCombiningRoot<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    body: Anchor<P, Inside<P, L, S>>,
}

struct Inside<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    role: Padded<P::U32>,
    guarded: Guarded<P, L, Contents<S>>,
    /// The records of the threads that use this root.
    records: Arc<Records<P>>,
}

impl<P: Platform> Combiner<P> {
    #[inline]
    fn record(&self) -> &Record<P> {
        // SAFETY: records live as long as the array, and `records` keeps the array alive.
        unsafe { self.record.as_ref() }
    }
}

impl<P: Platform> Drop for Combiner<P> {
    fn drop(&mut self) {
        self.record().give_back();
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> Inside<P, L, S> {
    /// Has this thread or another one perform `request`.
    ///
    /// # Safety
    /// The object of the request must have a [`PlainHook`] and an item of the structure. The
    /// structure's contract must allow the operation. The caller must not use the object meanwhile.
    unsafe fn update(&self, request: Request, thread: &Combiner<P>) {
        assert!(Arc::ptr_eq(&self.records, &thread.records), "a thread of another scheme");
        let record = thread.record();
        let address = core::ptr::from_ref(self).addr();
        record.request.store(request.into_raw(), Ordering::Relaxed);
        // This store and the load of the role are sequentially consistent. So either we see the
        // role without `AGAIN`, or the combiner sees our record: it clears `AGAIN` first and looks
        // at the records then.
        record.root.store(address, Ordering::SeqCst);
        let role = self.role.load(Ordering::SeqCst);
        if role == COMBINING | AGAIN
            || self.role.fetch_or(COMBINING | AGAIN, Ordering::SeqCst) & COMBINING != 0
        {
            if P::wait_until(&record.root, Wait::Spin, |root| root != address) == DONE {
                return;
            }
            // The combiner has made us its successor. We perform our own request together with the
            // others.
            record.root.store(address, Ordering::Relaxed);
        }
        self.combine();
    }

    /// Performs what was published for this root. The caller has the role. This function hands it
    /// on or resigns it.
    fn combine(&self) {
        for pass in 1_u32.. {
            self.role.swap(COMBINING, Ordering::SeqCst);
            self.guarded.write(|contents| {
                for record in self.published() {
                    // The load of the record's root has acquired it.
                    let request = Request::from_raw(record.request.load(Ordering::Relaxed));
                    // SAFETY: the thread that published the request promises this, and waits
                    // meanwhile.
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
                // Release makes all that we did in the role visible to the successor.
                successor.root.store(LEAD, Ordering::Release);
                return;
            }
        }
    }

    /// The records that hold a request for this root.
    fn published(&self) -> impl Iterator<Item = &Record<P>> {
        let address = core::ptr::from_ref(self).addr();
        self.records.iter().filter(move |record| record.root.load(Ordering::SeqCst) == address)
    }
}

/// # Safety
/// The object of `request` must be alive, and the structure's contract must allow the operation.
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

// SAFETY: only objects among the contents refer to the body. It is freed only if there are none.
unsafe impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> Body for Inside<P, L, S> {
    fn finish(&mut self) -> bool {
        self.guarded.write_alone(|contents| contents.is_empty())
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Scheme<P> for FlatCombining<P, L> {
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
        // SAFETY: it was detached, so it is in no structure. It stays where it is until it is
        // removed.
        unsafe { root.body.update(Request::new(Operation::Insert, object), thread) };
        // SAFETY: this is the object's only token, and the object was inserted just now.
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
        // SAFETY: it is attached, so it is in a structure, and its hook says that it is in this
        // one.
        unsafe { root.body.update(Request::new(Operation::Remove, object), thread) };
        // SAFETY: this is the object's only token, and the object was removed just now.
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

// SAFETY: one `Combiner` has a record at a time, and everything in a record is atomic.
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

impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> fmt::Debug
    for FlatCombiningRoot<P, L, S>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatCombiningRoot").finish_non_exhaustive()
    }
}
