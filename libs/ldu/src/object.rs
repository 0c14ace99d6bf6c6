//! Objects, and the contract of alternation as types.
//!
//! An object is an item with a scheme's hook before it, at one place for its whole life. A
//! [`Detached`] one is in no structure and has one owner; inserting it consumes that and gives an
//! [`Attached`], and removing consumes the latter. So insert, insert or remove, remove of the same
//! object does not compile, and the operations on one object are ordered by whatever passes the
//! token from thread to thread.
//!
//! What is right:
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
//! To insert twice. This does:
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
//! This does not:
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
//! To remove twice. This does:
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
//! This does not:
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
//! To use the token from before an insertion. This does:
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
//! This does not:
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
//! To change the item of an object that may be in the structure. This does:
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
//! This does not:
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
//! To put an object into a root of other items. This does:
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
//! This does not:
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

/// What a scheme keeps in each object, beside the item.
///
/// # Safety
/// [`dispose`](Self::dispose) frees the object, once, and not before the scheme has stopped using
/// it. [`is_settled`](Self::is_settled) tells the truth. Whoever has a token can look at the hook, so
/// safe code that has `&Self` cannot change what the scheme knows of the object.
pub unsafe trait Hook: Send + Sync + Sized + 'static {
    /// The machine that the scheme runs on.
    type Platform: Platform;

    /// The hook of an object that never was in a structure.
    fn new() -> Self;

    /// Gives a detached object back to the allocator, now or when the scheme no longer uses it.
    ///
    /// # Safety
    /// The caller owns the object, which is detached, and does not use it again.
    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>);

    /// Whether nobody but its owner can reach this object's item, provided that it is detached.
    fn is_settled(&self) -> bool;
}

/// An item and what a scheme needs to know of it, on cache lines of their own: objects that lie side
/// by side are updated by different cores.
#[repr(C, align(64))]
pub struct Object<H, T> {
    /// The scheme's part.
    pub hook: H,
    /// The user's part.
    pub item: T,
}

impl<H: Hook, T: Send + Sync + 'static> Object<H, T> {
    /// Gives the memory back, and drops the item.
    ///
    /// # Safety
    /// The object came from [`Detached::new`] and nobody uses it any more.
    pub unsafe fn free(object: NonNull<Self>) {
        // SAFETY: it came from a Box in `Detached::new`, and by the caller's promise this is its
        // end. What the item does when it is dropped is done while the memory still is its own.
        let memory = unsafe {
            object.drop_in_place();
            Box::from_raw(object.as_ptr().cast::<MaybeUninit<Self>>())
        };
        H::Platform::discard(object.as_ptr());
        drop(memory);
    }
}

/// An object that is in no structure, owned by whoever has this.
///
/// A scheme may still be about to take it out: see [`is_settled`](Self::is_settled). Dropping it
/// gives its memory back when that has happened.
#[must_use = "dropping it frees the object"]
pub struct Detached<H: Hook, T: Send + Sync + 'static> {
    object: NonNull<Object<H, T>>,
}

/// An object that is in a structure, or about to be put into it.
///
/// Dropping this token leaves the object in for good: its memory is never given back.
#[must_use = "an object whose token is dropped stays in the structure for ever"]
pub struct Attached<H: Hook, T: Send + Sync + 'static> {
    object: NonNull<Object<H, T>>,
}

// SAFETY: a token is a box to an object that schemes share between threads; its hook and item are
// Send and Sync.
unsafe impl<H: Hook, T: Send + Sync> Send for Detached<H, T> {}
// SAFETY: as above; `&Detached` shows `&T` and no more.
unsafe impl<H: Hook, T: Send + Sync> Sync for Detached<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hook, T: Send + Sync> Send for Attached<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hook, T: Send + Sync> Sync for Attached<H, T> {}

impl<H: Hook, T: Send + Sync> Detached<H, T> {
    /// A new object, in memory of its own.
    pub fn new(item: T) -> Self {
        let object = Box::leak(Box::new(Object { hook: H::new(), item }));
        Self { object: NonNull::from(object) }
    }

    /// The object, whose owner the caller now is.
    #[inline]
    #[must_use]
    pub fn into_raw(self) -> NonNull<Object<H, T>> {
        ManuallyDrop::new(self).object
    }

    /// The token of an object.
    ///
    /// # Safety
    /// It came from [`into_raw`](Self::into_raw) of a `Detached` or [`Attached`], is in no
    /// structure except for what its hook knows to be pending, and has no other token.
    #[inline]
    pub unsafe fn from_raw(object: NonNull<Object<H, T>>) -> Self {
        Self { object }
    }

    /// The scheme's part of the object.
    #[inline]
    #[must_use]
    pub fn hook(&self) -> &H {
        // SAFETY: the object lives as long as its token.
        unsafe { &self.object.as_ref().hook }
    }

    /// Whether the scheme has nothing left to do with the object.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.hook().is_settled()
    }

    /// The item, to be changed; none while the scheme may still read it.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if !self.is_settled() {
            return None;
        }
        // SAFETY: it is detached and settled, so nobody else can reach the item, and the borrow of
        // the token keeps it so.
        Some(unsafe { &mut self.object.as_mut().item })
    }

    /// The item, or the object again while the scheme may still read it.
    ///
    /// # Errors
    /// The object, if it is not settled.
    pub fn into_inner(self) -> Result<T, Self> {
        if !self.is_settled() {
            return Err(self);
        }
        let object = self.into_raw();
        H::Platform::discard(object.as_ptr());
        // SAFETY: it came from a Box in `new`, and nobody else can reach it.
        Ok(unsafe { Box::from_raw(object.as_ptr()) }.item)
    }
}

impl<H: Hook, T: Send + Sync> Drop for Detached<H, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the token is the object's owner and ends here.
        unsafe { H::dispose(self.object) };
    }
}

impl<H: Hook, T: Send + Sync> Attached<H, T> {
    /// The object, whose token the caller now is.
    #[inline]
    #[must_use]
    pub fn into_raw(self) -> NonNull<Object<H, T>> {
        self.object
    }

    /// The token of an object.
    ///
    /// # Safety
    /// It came from [`into_raw`](Self::into_raw) of a [`Detached`] or `Attached`, was inserted
    /// since if it was detached, and has no other token.
    #[inline]
    pub unsafe fn from_raw(object: NonNull<Object<H, T>>) -> Self {
        Self { object }
    }

    /// The scheme's part of the object.
    #[inline]
    #[must_use]
    pub fn hook(&self) -> &H {
        // SAFETY: an object is only given back through a `Detached`, which it is not.
        unsafe { &self.object.as_ref().hook }
    }
}

impl<H: Hook, T: Send + Sync> Deref for Detached<H, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the object lives as long as its token.
        unsafe { &self.object.as_ref().item }
    }
}

impl<H: Hook, T: Send + Sync> Deref for Attached<H, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: an object is only given back through a `Detached`, which it is not.
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
