//! An operation on an object, in one word.

use core::ptr::NonNull;

use kilocore_ldu::Object;

/// What has to be done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Insert,
    Remove,
}

/// The bit of the word that means removal. It is clear in the address of an object, because objects
/// begin with a word.
const REMOVE: usize = 1;

/// An object, and the operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request(*mut ());

impl Request {
    #[inline]
    pub(crate) fn new<H, T>(operation: Operation, object: NonNull<Object<H, T>>) -> Self {
        const { assert!(align_of::<H>() > REMOVE) };
        let bit = if operation == Operation::Remove { REMOVE } else { 0 };
        Self(object.as_ptr().cast::<()>().map_addr(|address| address | bit))
    }

    #[inline]
    pub(crate) fn operation(self) -> Operation {
        if self.0.addr() & REMOVE == 0 { Operation::Insert } else { Operation::Remove }
    }

    /// The object. The types must be those with which the request was made.
    #[inline]
    pub(crate) fn object<H, T>(self) -> *mut Object<H, T> {
        self.0.map_addr(|address| address & !REMOVE).cast()
    }

    /// Whether the two are opposite operations on the same object.
    #[inline]
    pub(crate) fn cancels(self, other: Self) -> bool {
        self.0.addr() ^ other.0.addr() == REMOVE
    }

    /// Returns the request as a word.
    #[inline]
    pub(crate) fn into_raw(self) -> *mut () {
        self.0
    }

    /// Returns the request of a word that [`into_raw`](Self::into_raw) returned.
    #[inline]
    pub(crate) fn from_raw(raw: *mut ()) -> Self {
        Self(raw)
    }
}
