//! An operation on an object, in one word.

use core::ptr::NonNull;

use kilocore_ldu::Object;

/// What is to be done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Insert,
    Remove,
}

/// The bit of the word that tells a removal. Objects begin with a word, so their addresses have it
/// clear.
const REMOVE: usize = 1;

/// An object and what is to be done with it.
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

    /// The object, of the types that it was made of.
    #[inline]
    pub(crate) fn object<H, T>(self) -> *mut Object<H, T> {
        self.0.map_addr(|address| address & !REMOVE).cast()
    }

    /// Whether the two do opposite things with one object.
    #[inline]
    pub(crate) fn cancels(self, other: Self) -> bool {
        self.0.addr() ^ other.0.addr() == REMOVE
    }

    /// As a word.
    #[inline]
    pub(crate) fn into_raw(self) -> *mut () {
        self.0
    }

    /// From the word that [`into_raw`](Self::into_raw) gave.
    #[inline]
    pub(crate) fn from_raw(raw: *mut ()) -> Self {
        Self(raw)
    }
}
