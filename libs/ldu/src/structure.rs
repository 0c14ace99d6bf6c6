//! The interface of the structures that can be put behind a log.

/// A sequential structure that items are put into and taken out of.
///
/// Its code need not know about threads. While `insert` or `remove` runs, no other thread uses the
/// structure. While a function with `&self` runs, other threads may only read it.
///
/// Items do not arrive in the order in which threads inserted them. So sets, multisets, lists
/// without order and search trees are structures in this sense, but stacks and queues are not.
/// Neither is a map in which the later of two insertions with the same key decides the value.
pub trait Structure: Send + Sync + 'static {
    /// What is put in. It contains the arguments of an insertion and, if the structure is
    /// intrusive, the links.
    type Item: Send + Sync + 'static;

    /// Puts `item` in.
    ///
    /// # Safety
    /// `item` is in no structure. It stays alive and in place until it was removed again, so an
    /// intrusive structure may keep a pointer to it.
    unsafe fn insert(&mut self, item: &Self::Item);

    /// Puts `item` in, which belongs beside `near`. The result is that of [`insert`](Self::insert),
    /// but a structure may find the place faster if it starts at `near`.
    ///
    /// # Safety
    /// As for [`insert`](Self::insert). In addition, `near` was inserted into this structure and
    /// not removed since.
    unsafe fn insert_near(&mut self, item: &Self::Item, near: &Self::Item) {
        let _ = near;
        // SAFETY: by the caller's promise.
        unsafe { self.insert(item) };
    }

    /// Takes `item` out.
    ///
    /// # Safety
    /// `item` was inserted into this structure and not removed since.
    unsafe fn remove(&mut self, item: &Self::Item);
}

/// A structure with a search that other schemes can do as well.
///
/// This trait exists to compare schemes. A lock-free list has no sequential structure that it could
/// show to a reader, but it can find the same items. [`Ldu::read`](crate::Ldu::read) shows the
/// structure itself and does not need this trait.
pub trait Search: Structure {
    /// What a search looks for.
    type Query: ?Sized;

    /// Calls `found` with each item that matches `query`, in no particular order.
    fn search(&self, query: &Self::Query, found: &mut dyn FnMut(&Self::Item));

    /// Returns whether `item` matches `query`. It is for schemes that look at all items.
    fn matches(item: &Self::Item, query: &Self::Query) -> bool;

    /// Returns the rank of `item` in an ordered list. Items of the same rank may be in any order.
    fn rank(item: &Self::Item) -> u64;
}
