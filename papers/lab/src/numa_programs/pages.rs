//! Arrays that share no page with anything else.
//!
//! Where a page lies decides what a reference costs, so what one thread keeps to itself must not
//! share a page with what others use. Each array begins at a page and fills its last one. The global
//! allocator provides it. In a simulation that has a heap of its own it lies there.

use core::ops::{Deref, Range};
use core::ptr::NonNull;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// An array on pages of its own.
pub(crate) struct Pages<T> {
    start: NonNull<T>,
    len: usize,
    layout: Layout,
}

// SAFETY: it owns its elements as a boxed slice does.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: sharing it shares the elements and no more.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T> Pages<T> {
    /// An array of the elements that `make` returns for their indices.
    pub(crate) fn new(len: usize, mut make: impl FnMut(usize) -> T) -> Self {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= PAGE) };
        let bytes = size_of::<T>().checked_mul(len).expect("it fits the address space");
        let layout = Layout::from_size_align(bytes.next_multiple_of(PAGE).max(PAGE), PAGE)
            .expect("a power of two, and it fits the address space");
        // SAFETY: the layout has at least a page.
        let start = unsafe { alloc(layout) }.cast::<T>();
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        for index in 0..len {
            // SAFETY: the block has room for `len` elements and is aligned for them. If `make`
            // panics, the block leaks.
            unsafe { start.add(index).write(make(index)) };
        }
        Self { start, len, layout }
    }

    /// The addresses of its pages.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.start.addr().get();
        start..start + self.layout.size()
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `new` has written that many elements there, and they live as long as `self`.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_ref() }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: the elements are dropped once and not used again, and the block came from the
        // same allocator with the same layout.
        unsafe {
            NonNull::slice_from_raw_parts(self.start, self.len).drop_in_place();
            dealloc(self.start.as_ptr().cast(), self.layout);
        }
    }
}

/// The addresses of what each thread keeps to itself, from the records of all threads in order.
pub(crate) fn addresses_by_thread<T>(
    records: &[Pages<T>],
) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
    records.iter().map(Pages::addresses).enumerate()
}
