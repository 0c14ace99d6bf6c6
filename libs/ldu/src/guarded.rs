//! The structure of a root, and the tokens of the objects that are put into it.

use core::ptr::NonNull;

use kilocore_platform::{Platform, SharedCell};

use crate::log::Released;
use crate::node::{Node, Update};
use crate::object::{Attached, Detached, Object};
use crate::structure::Structure;

/// The token of an object that can be put into a structure of type `S`.
pub type Out<P, S> = Detached<Node<P>, <S as Structure>::Item>;
/// The token of an object that is in a structure of type `S`.
pub type In<P, S> = Attached<Node<P>, <S as Structure>::Item>;
/// Such an object without a token.
pub(crate) type Raw<P, S> = NonNull<Object<Node<P>, <S as Structure>::Item>>;

/// The operation was refused because the object belongs to another root. The error contains the
/// object's token, and nothing has changed.
#[derive(Debug)]
pub struct ElsewhereError<T>(pub T);

#[cold]
pub(crate) fn elsewhere(what: &str) -> ! {
    panic!("the object to be {what} is another root's");
}

/// A structure that is used only by those that hold the lock of its root.
pub(crate) struct Guarded<P: Platform, S: Structure>(P::Cell<S>);

impl<P: Platform, S: Structure> Guarded<P, S> {
    pub(crate) fn new(structure: S) -> Self {
        Self(P::Cell::new(structure))
    }

    /// Applies an update.
    ///
    /// # Safety
    /// The caller holds the lock as the writer. The node is that of an [`Object`] with an item of the
    /// structure; the object is alive, and its insertions and removals are applied alternately.
    #[inline]
    pub(crate) unsafe fn apply(&self, node: NonNull<Node<P>>, update: Update) {
        // SAFETY: the node is the first field of such an object, by the caller's promise.
        let item = unsafe { &node.cast::<Object<Node<P>, S::Item>>().as_ref().item };
        self.0.with_mut(|structure| {
            let whole = AbortOnUnwind;
            // SAFETY: the writer is alone with the structure.
            let structure = unsafe { &mut *structure };
            match update {
                // SAFETY: the caller applies them alternately, and the object stays in place until it
                // was removed.
                Update::Insert => unsafe { structure.insert(item) },
                // SAFETY: as above.
                Update::Remove => unsafe { structure.remove(item) },
            }
            core::mem::forget(whole);
        });
    }

    /// Returns what `show` makes of the structure.
    ///
    /// # Safety
    /// The caller holds the lock, as a reader at least, and holds it until this has returned.
    #[inline]
    pub(crate) unsafe fn show<R>(&self, show: impl FnOnce(&S) -> R) -> R {
        // SAFETY: who is inside as a reader shares the structure with readers only.
        self.0.with(|structure| show(unsafe { &*structure }))
    }
}

/// Aborts the program if the structure panics in the middle of an update. Such a structure can
/// neither be read nor repaired. The abort comes about by a second panic during the first one.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        panic!("the structure behind a log must not panic");
    }
}

/// Makes the token of an object that is out one of an object that is in, by `update`. If the root has
/// not `adopted` the object, nothing is done.
///
/// # Safety
/// If `adopted`, `update` puts the object in, which it owns, and which is out.
#[inline]
pub(crate) unsafe fn insert_by<P: Platform, S: Structure>(
    adopted: bool,
    object: Out<P, S>,
    update: impl FnOnce(Raw<P, S>),
) -> Result<In<P, S>, ElsewhereError<Out<P, S>>> {
    if !adopted {
        return Err(ElsewhereError(object));
    }
    let object = object.into_raw();
    update(object);
    // SAFETY: the object's only other token went into this function, and the object was just
    // inserted.
    Ok(unsafe { Attached::from_raw(object) })
}

/// Does the opposite of [`insert_by`], for an object that is the root's if it is `own`.
///
/// # Safety
/// If `own`, `update` takes the object out, which it owns, and which is in.
#[inline]
pub(crate) unsafe fn remove_by<P: Platform, S: Structure>(
    own: bool,
    object: In<P, S>,
    update: impl FnOnce(Raw<P, S>),
) -> Result<Out<P, S>, ElsewhereError<In<P, S>>> {
    if !own {
        return Err(ElsewhereError(object));
    }
    let object = object.into_raw();
    update(object);
    // SAFETY: the object's only other token went into this function, and the object was just
    // removed.
    Ok(unsafe { Detached::from_raw(object) })
}

/// Frees objects of a root of structures `S`. The caller must not hold the lock, because dropping
/// an item may run any code.
#[inline]
pub(crate) fn free<P: Platform, S: Structure>(released: Released<P>) {
    released.free_all(|node| {
        // SAFETY: only objects of this type are logged in such a root. The object was given up by
        // its owner, and it is out of the structure and the queue.
        unsafe { Object::<Node<P>, S::Item>::free(node.cast()) };
    });
}
