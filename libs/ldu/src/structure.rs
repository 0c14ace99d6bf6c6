//! What can be put behind a log: any sequential structure of items.

/// A sequential structure that items are put into and taken out of.
///
/// Nothing in it needs to know of threads: whoever calls `insert` or `remove` is alone with the
/// structure, and whoever has `&self` shares it with readers only.
///
/// The order in which items arrive is not the order in which threads inserted them, so a stack or
/// a queue is not a structure in this sense; sets, multisets, maps, lists without order and trees
/// are.
pub trait Structure: Send + Sync + 'static {
    /// What is put in: the arguments of an insertion and, in an intrusive structure, the links.
    type Item: Send + Sync + 'static;

    /// Puts `item` in.
    ///
    /// # Safety
    /// `item` is not in this structure or another one. It stays alive and where it is until it
    /// was removed again; so an intrusive structure may keep a pointer to it, and one that copies
    /// what it needs can forget about this.
    unsafe fn insert(&mut self, item: &Self::Item);

    /// Puts `item` in as [`insert`](Self::insert) does, where `near` is in already and belongs
    /// beside it: a structure that can start looking there does.
    ///
    /// # Safety
    /// As for [`insert`](Self::insert); and `near` was inserted into this structure, and not
    /// removed since.
    unsafe fn insert_near(&mut self, item: &Self::Item, near: &Self::Item) {
        let _ = near;
        // SAFETY: by the caller's promise.
        unsafe { self.insert(item) };
    }

    /// Takes `item` out.
    ///
    /// # Safety
    /// `item` was inserted into this structure, and not removed since.
    unsafe fn remove(&mut self, item: &Self::Item);
}

/// A structure that can be asked for items in a way that other structures can answer, too.
///
/// [`Ldu::read`](crate::Ldu::read) shows the structure itself and needs none of this. It is for
/// comparing: schemes such as a lock-free list have no sequential structure to show, but they can
/// find the same items.
pub trait Search: Structure {
    /// What is asked for.
    type Query: ?Sized;

    /// Shows each item that answers `query`, in no particular order.
    fn search(&self, query: &Self::Query, found: &mut dyn FnMut(&Self::Item));

    /// Whether `item` answers `query`: for schemes that look at all items.
    fn matches(item: &Self::Item, query: &Self::Query) -> bool;

    /// Where `item` belongs in an ordered list, items of the same rank in any order.
    fn rank(item: &Self::Item) -> u64;
}
