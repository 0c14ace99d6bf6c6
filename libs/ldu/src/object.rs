//! Objects, and types that make insertions and removals of an object alternate.
//!
//! An object consists of a scheme's hook and the user's item, and it stays in one place for its
//! whole life. A [`Detached`] token stands for an object that is in no structure. Inserting the
//! object consumes this token and returns an [`Attached`] token. Removing the object consumes the
//! `Attached` token and returns a `Detached` one. So a program that inserts the same object twice
//! in a row, or removes it twice in a row, does not compile. If the token moves from one thread to
//! another, whatever moves it also orders the operations of the two threads on the object.
//!
//! A correct use:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let mut out = root.object(7);
//! if let Some(item) = out.get_mut() {
//!     *item = 8; // nobody else can see it yet
//! }
//! let inside = root.insert(out);
//! assert_eq!(*inside, 8);
//! assert_eq!(root.read(|sum| sum.0), 8);
//! let out = root.remove(inside);
//! let inside = root.insert(out);
//! let out = root.remove(inside);
//! assert_eq!(*out, 8);
//! ```
//!
//! # What does not compile
//!
//! Inserting an object twice. This compiles:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let out = root.object(7);
//! let inside = root.insert(out);
//! let again = root.insert(root.remove(inside));
//! # root.remove(again);
//! ```
//!
//! This does not compile:
//!
//! ```compile_fail,E0382
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let out = root.object(7);
//! let inside = root.insert(out);
//! let again = root.insert(out);
//! # root.remove(again);
//! ```
//!
//! Removing an object twice. This compiles:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let inside = root.insert(root.object(7));
//! let out = root.remove(inside);
//! let again = root.remove(root.insert(out));
//! ```
//!
//! This does not compile:
//!
//! ```compile_fail,E0382
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let inside = root.insert(root.object(7));
//! let out = root.remove(inside);
//! let again = root.remove(inside);
//! ```
//!
//! Using the token from before an insertion. This compiles:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let out = root.object(7);
//! let inside = root.insert(out);
//! assert_eq!(*inside, 7);
//! # root.remove(inside);
//! ```
//!
//! This does not compile:
//!
//! ```compile_fail,E0382
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let out = root.object(7);
//! let inside = root.insert(out);
//! assert_eq!(*out, 7);
//! # root.remove(inside);
//! ```
//!
//! Changing the item of an object that may be in the structure. This compiles:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let mut inside = root.insert(root.object(7));
//! let mut out = root.remove(inside);
//! if let Some(item) = out.get_mut() {
//!     *item = 8;
//! }
//! ```
//!
//! This does not compile:
//!
//! ```compile_fail,E0594
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let mut inside = root.insert(root.object(7));
//! *inside = 8;
//! let mut out = root.remove(inside);
//! ```
//!
//! Putting an object into a root of other items. This compiles:
//!
//! ```
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let other: Ldu<Native, Sum<u32>> = Ldu::new(Sum::default());
//! let out = root.remove(root.insert(root.object(7)));
//! let inside = root.insert(out);
//! # root.remove(inside);
//! ```
//!
//! This does not compile:
//!
//! ```compile_fail,E0308
//! # use kilocore_ldu::{Ldu, Structure};
//! # use kilocore_platform::Native;
//! # #[derive(Default)] struct Sum<T>(u64, std::marker::PhantomData<T>);
//! # impl<T: Copy + Into<u64> + Send + Sync + 'static> Structure for Sum<T> {
//! #     type Item = T;
//! #     unsafe fn insert(&mut self, item: &T) { self.0 += (*item).into() }
//! #     unsafe fn remove(&mut self, item: &T) { self.0 -= (*item).into() }
//! # }
//! let root: Ldu<Native, Sum<u64>> = Ldu::new(Sum::default());
//! let other: Ldu<Native, Sum<u32>> = Ldu::new(Sum::default());
//! let out = root.remove(root.insert(root.object(7)));
//! let inside = other.insert(out);
//! # other.remove(inside);
//! ```

use alloc::boxed::Box;
use core::fmt;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::ptr::NonNull;

use kilocore_platform::Platform;

/// The part of each object that belongs to the scheme.
///
/// # Safety
/// [`dispose`](Self::dispose) frees the object exactly once, and not before the scheme has stopped
/// using it. [`is_settled`](Self::is_settled) returns true only if that is so. Anyone who has a
/// token can get a reference to the hook. Therefore safe code that has `&Self` must not be able to
/// change what the scheme knows about the object.
pub unsafe trait Hook: Send + Sync + Sized + 'static {
    /// The platform on which the scheme runs.
    type Platform: Platform;

    /// Returns the hook of an object that was never in a structure.
    fn new() -> Self;

    /// Frees a detached object: now, or as soon as the scheme no longer uses it.
    ///
    /// # Safety
    /// The caller owns the object, which is detached, and does not use it again.
    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>);

    /// Returns whether only the owner can reach the item of this object, provided that the object
    /// is detached.
    fn is_settled(&self) -> bool;
}

/// An item and the scheme's hook for it. An object has cache lines of its own, because different
/// cores may update objects that lie side by side.
#[repr(C, align(64))]
pub struct Object<H, T> {
    /// What the scheme keeps of the object.
    pub hook: H,
    /// The item, which the user of the scheme puts into the root and takes out.
    pub item: T,
}

impl<H: Hook, T: Send + Sync + 'static> Object<H, T> {
    /// Drops the item and frees the object's memory.
    ///
    /// # Safety
    /// The object came from [`Detached::new`], and nobody uses it any more.
    pub unsafe fn free(object: NonNull<Self>) {
        // SAFETY: the object came from a Box in `Detached::new`, and by the caller's promise nobody
        // uses it any more. The item is dropped before its memory is freed.
        let memory = unsafe {
            object.drop_in_place();
            Box::from_raw(object.as_ptr().cast::<MaybeUninit<Self>>())
        };
        H::Platform::discard(object.as_ptr());
        drop(memory);
    }
}

/// The token of an object that is in no structure. Whoever has the token owns the object.
///
/// The scheme may not have taken the object out of the structure yet; see
/// [`is_settled`](Self::is_settled). Dropping the token frees the object, as soon as the scheme has
/// taken it out.
#[must_use = "dropping it frees the object"]
pub struct Detached<H: Hook, T: Send + Sync + 'static> {
    object: NonNull<Object<H, T>>,
}

/// The token of an object that is in a structure, or that the scheme is about to put there.
///
/// If this token is dropped, the object stays in the structure for ever and its memory is never
/// freed.
#[must_use = "an object whose token is dropped stays in the structure for ever"]
pub struct Attached<H: Hook, T: Send + Sync + 'static> {
    object: NonNull<Object<H, T>>,
}

// SAFETY: a token is a pointer to an object that it owns. The object's hook and item are Send and
// Sync, so schemes may share the object between threads.
unsafe impl<H: Hook, T: Send + Sync> Send for Detached<H, T> {}
// SAFETY: as above; `&Detached` gives access to `&H` and `&T` only.
unsafe impl<H: Hook, T: Send + Sync> Sync for Detached<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hook, T: Send + Sync> Send for Attached<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hook, T: Send + Sync> Sync for Attached<H, T> {}

impl<H: Hook, T: Send + Sync> Detached<H, T> {
    /// Allocates a new object and returns its token.
    pub fn new(item: T) -> Self {
        let object = Box::leak(Box::new(Object { hook: H::new(), item }));
        Self { object: NonNull::from(object) }
    }

    /// Returns the object. The caller owns it from now on.
    #[inline]
    #[must_use]
    pub fn into_raw(self) -> NonNull<Object<H, T>> {
        ManuallyDrop::new(self).object
    }

    /// Returns the token of an object.
    ///
    /// # Safety
    /// The object came from `into_raw` of a `Detached` or [`Attached`] token, and it has no other
    /// token. The object is in no structure; its hook may still know of a pending removal.
    #[inline]
    pub unsafe fn from_raw(object: NonNull<Object<H, T>>) -> Self {
        Self { object }
    }

    /// Returns the scheme's part of the object.
    #[inline]
    #[must_use]
    pub fn hook(&self) -> &H {
        // SAFETY: the object lives at least as long as its token.
        unsafe { &self.object.as_ref().hook }
    }

    /// Returns whether the scheme has nothing left to do with the object.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.hook().is_settled()
    }

    /// Returns the item for the caller to change, or `None` while the scheme may still read it.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if !self.is_settled() {
            return None;
        }
        // SAFETY: the object is detached and settled, so nobody else can reach the item. The borrow
        // of the token keeps it so.
        Some(unsafe { &mut self.object.as_mut().item })
    }

    /// Frees the object and returns its item.
    ///
    /// # Errors
    /// Returns the token if the object is not settled, because the scheme may still read the item.
    pub fn into_inner(self) -> Result<T, Self> {
        if !self.is_settled() {
            return Err(self);
        }
        let object = self.into_raw();
        H::Platform::discard(object.as_ptr());
        // SAFETY: the object came from a Box in `new`. It is settled, so nobody else can reach it.
        Ok(unsafe { Box::from_raw(object.as_ptr()) }.item)
    }
}

impl<H: Hook, T: Send + Sync> Drop for Detached<H, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the token owns the object, and the token ends here.
        unsafe { H::dispose(self.object) };
    }
}

impl<H: Hook, T: Send + Sync> Attached<H, T> {
    /// Returns the object. The caller owns it from now on.
    #[inline]
    #[must_use]
    pub fn into_raw(self) -> NonNull<Object<H, T>> {
        self.object
    }

    /// Returns the token of an object.
    ///
    /// # Safety
    /// The object came from `into_raw` of a [`Detached`] or `Attached` token, and it has no other
    /// token. If that token was a `Detached` one, the object was inserted since.
    #[inline]
    pub unsafe fn from_raw(object: NonNull<Object<H, T>>) -> Self {
        Self { object }
    }

    /// Returns the scheme's part of the object.
    #[inline]
    #[must_use]
    pub fn hook(&self) -> &H {
        // SAFETY: an object is only freed through a `Detached` token, and this object has none.
        unsafe { &self.object.as_ref().hook }
    }
}

impl<H: Hook, T: Send + Sync> Deref for Detached<H, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the object lives at least as long as its token.
        unsafe { &self.object.as_ref().item }
    }
}

impl<H: Hook, T: Send + Sync> Deref for Attached<H, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: an object is only freed through a `Detached` token, and this object has none.
        unsafe { &self.object.as_ref().item }
    }
}

impl<H: Hook, T: Send + Sync + fmt::Debug> fmt::Debug for Detached<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Detached").field(&**self).finish()
    }
}

impl<H: Hook, T: Send + Sync + fmt::Debug> fmt::Debug for Attached<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attached").field(&**self).finish()
    }
}

impl<H, T: fmt::Debug> fmt::Debug for Object<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("item", &self.item).finish_non_exhaustive()
    }
}
