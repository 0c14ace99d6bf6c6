//! The twin as a subject of the programs: its roots, and the tokens of its objects.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use kilocore_ldu::Limits;
use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, Ordering, Platform, SharedCell};

use super::paper::Kind::{Insert, Remove};
use super::paper::{Node, Object, Pitfall, Root, at};
use super::paper_slots::PaperSlots;
use super::subject::{Cores, Subject};
use super::{Census, Probe};

/// The twin, with the error `E`.
pub struct Paper<P: Platform, E: Pitfall> {
    /// The root is leaked unless it is ended.
    root: NonNull<Root<P, E>>,
}

/// An object that is out. It is freed when this token is dropped.
pub struct PaperOut<P: Platform, E: Pitfall>(PaperIn<P, E>);

/// An object that is in.
pub struct PaperIn<P: Platform, E: Pitfall>(NonNull<Object<P, E>>, PhantomData<E>);

// SAFETY: a root is shared between threads.
unsafe impl<P: Platform, E: Pitfall> Send for Paper<P, E> {}
// SAFETY: as above.
unsafe impl<P: Platform, E: Pitfall> Sync for Paper<P, E> {}
// SAFETY: objects are shared between threads.
unsafe impl<P: Platform, E: Pitfall> Send for PaperIn<P, E> {}

impl<P: Platform, E: Pitfall> PaperIn<P, E> {
    fn object(&self) -> &Object<P, E> {
        at(self.0.as_ptr()).expect("an object is somewhere")
    }
}

impl<P: Platform, E: Pitfall> Deref for PaperIn<P, E> {
    type Target = Probe;
    fn deref(&self) -> &Probe {
        &self.object().probe
    }
}

impl<P: Platform, E: Pitfall> Deref for PaperOut<P, E> {
    type Target = Probe;
    fn deref(&self) -> &Probe {
        &self.0
    }
}

impl<P: Platform, E: Pitfall> Drop for PaperOut<P, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let object = self.0.object();
        let unused = E::FREES_UNUSED && object.used.load(Ordering::Acquire) == 0;
        if !unused && let Some(root) = at(object.root.load(Ordering::Relaxed)) {
            // The thread that has applied this object held the lock, and has released it.
            root.synchronized(|| ());
        }
        object.end();
        P::discard(self.0.0.as_ptr());
        // SAFETY: the object came from a box, and this was its last token.
        drop(unsafe { Box::from_raw(self.0.0.as_ptr()) });
    }
}

impl<P: Platform, E: Pitfall> Paper<P, E> {
    fn root(&self) -> &Root<P, E> {
        at(self.root.as_ptr()).expect("a root is somewhere")
    }
}

/// The global list if there are no cores.
impl<P: Platform, E: Pitfall> Cores<P> for Paper<P, E> {
    fn domain(cores: u32) -> Self::Domain {
        (cores > 0).then(|| PaperSlots::new(cores))
    }
}

impl<P: Platform, E: Pitfall> Subject<P> for Paper<P, E> {
    /// The slots, or none for the global list.
    type Domain = Option<Arc<PaperSlots<P, E>>>;
    type Out = PaperOut<P, E>;
    type In = PaperIn<P, E>;

    fn new(slots: Self::Domain, _: Limits) -> Self {
        let root = Root {
            lock: Ttas::new(),
            list: P::Ptr::new(ptr::null_mut()),
            slots,
            census: P::Cell::new(Census::default()),
        };
        Self { root: NonNull::from(Box::leak(Box::new(root))) }
    }

    fn object(&self, probe: Probe) -> Self::Out {
        let object = Box::leak(Box::new(Object {
            used: P::U32::new(0),
            root: P::Ptr::new(ptr::null_mut()),
            nodes: [Node::new(Insert), Node::new(Remove)],
            probe,
        }));
        let place = ptr::from_ref(object);
        object.nodes.iter_mut().for_each(|node| node.object = place);
        PaperOut(PaperIn(NonNull::from(object), PhantomData))
    }

    fn insert(&self, object: Self::Out) -> Self::In {
        let token = PaperIn(object.0.0, PhantomData);
        std::mem::forget(object);
        let object = token.object();
        if object.root.load(Ordering::Relaxed) != self.root.as_ptr() {
            object.root.store(self.root.as_ptr(), Ordering::Relaxed);
        }
        self.root().log(object, Insert);
        token
    }

    fn insert_from(&self, other: &Self, object: Self::Out) -> Self::In {
        if !E::MOVES_UNDRAINED {
            other.synchronize();
        }
        self.insert(object)
    }

    fn remove(&self, object: Self::In) -> Self::Out {
        self.root().log(object.object(), Remove);
        PaperOut(object)
    }

    fn read(&self) -> u64 {
        let root = self.root();
        // SAFETY: the lock is held. If it is not, the checker's cell reports it.
        root.synchronized(|| root.census.with(|census| unsafe { (*census).members }))
    }

    fn synchronize(&self) {
        self.root().synchronized(|| ());
    }

    fn end(self) {
        let root = self.root();
        if !E::ENDS_UNDRAINED {
            match &root.slots {
                None => root.synchronized(|| ()),
                Some(slots) => slots.forget(root, || root.synchronized(|| ())),
            }
        }
        P::discard(self.root.as_ptr());
        // SAFETY: the root came from a box, and only this thread has it, unless that is the error.
        drop(unsafe { Box::from_raw(self.root.as_ptr()) });
    }
}
