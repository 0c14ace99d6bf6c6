//! An intrusive doubly linked list without order. It is the structure that a lock-free list is
//! compared with.
//!
//! An item is inserted at the head. It is removed from its place by means of its own links. Each of
//! the two touches at most two other items. A search looks at all items.

use core::fmt;

use kilocore_platform::Platform;

use super::Invalid;
use super::invalid::Tally;
use super::link::{Link, LinkCell};
use crate::{Search, Structure};

/// An item of a [`List`].
pub struct Entry<P: Platform, T: Send + Sync + 'static> {
    /// What the user keeps in it.
    pub value: T,
    links: LinkCell<P, Links<P, T>>,
}

struct Links<P: Platform, T: Send + Sync + 'static> {
    before: Option<Link<Entry<P, T>>>,
    next: Option<Link<Entry<P, T>>>,
}

impl<P: Platform, T: Send + Sync> Clone for Links<P, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform, T: Send + Sync> Copy for Links<P, T> {}

impl<P: Platform, T: Send + Sync> Entry<P, T> {
    /// Returns an item that is in no list.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { value, links: LinkCell::new(Links { before: None, next: None }) }
    }
}

/// A list of items. It does not own them, but contains links to them.
pub struct List<P: Platform, T: Send + Sync + 'static> {
    head: Option<Link<Entry<P, T>>>,
    count: usize,
}

/// A query to a [`List`]: all its items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct All;

impl<P: Platform, T: Send + Sync> List<P, T> {
    /// Returns an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { head: None, count: 0 }
    }

    /// Returns how many items are in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Calls `show` with each item. The item that was inserted last comes first.
    pub fn for_each(&self, mut show: impl FnMut(&Entry<P, T>)) {
        let mut next = self.head;
        while let Some(link) = next {
            let entry = self.entry(link);
            next = self.links(link).next;
            show(entry);
        }
    }

    /// Checks all links.
    ///
    /// # Errors
    /// Returns the first violation that it finds. A correct program has none.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut tally = Tally::of(self.count);
        let (mut before, mut next) = (None, self.head);
        while let Some(link) = next {
            tally.step()?;
            let links = self.links(link);
            if links.before != before {
                return Err(Invalid::BackLink);
            }
            (before, next) = (Some(link), links.next);
        }
        tally.finish()
    }

    #[inline(always)]
    fn entry(&self, link: Link<Entry<P, T>>) -> &Entry<P, T> {
        // SAFETY: by the rule of links (`link.rs`). All links here come from this list, or lead to
        // the item of the operation under way.
        unsafe { link.follow() }
    }

    #[inline(always)]
    fn links(&self, link: Link<Entry<P, T>>) -> Links<P, T> {
        // SAFETY: links are written through `&mut self` only, so nobody writes them now.
        unsafe { self.entry(link).links.get() }
    }

    #[inline(always)]
    fn change(&mut self, link: Link<Entry<P, T>>, change: impl FnOnce(&mut Links<P, T>)) {
        // SAFETY: `&mut self` excludes all other users, and no `change` here uses a list.
        unsafe { self.entry(link).links.change(change) };
    }
}

impl<P: Platform, T: Send + Sync> Structure for List<P, T> {
    type Item = Entry<P, T>;

    #[inline]
    unsafe fn insert(&mut self, item: &Entry<P, T>) {
        let link = Link::to(item);
        let next = self.head;
        self.change(link, |links| *links = Links { before: None, next });
        if let Some(next) = next {
            self.change(next, |links| links.before = Some(link));
        }
        self.head = Some(link);
        self.count += 1;
    }

    #[inline]
    unsafe fn remove(&mut self, item: &Entry<P, T>) {
        let Links { before, next } = self.links(Link::to(item));
        match before {
            Some(before) => self.change(before, |links| links.next = next),
            None => self.head = next,
        }
        if let Some(next) = next {
            self.change(next, |links| links.before = before);
        }
        self.count -= 1;
    }
}

impl<P: Platform, T: Send + Sync> Search for List<P, T> {
    type Query = All;

    fn search(&self, _: &All, found: &mut dyn FnMut(&Entry<P, T>)) {
        self.for_each(found);
    }

    fn matches(_: &Entry<P, T>, _: &All) -> bool {
        true
    }

    fn rank(_: &Entry<P, T>) -> u64 {
        0
    }
}

impl<P: Platform, T: Send + Sync> Default for List<P, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform, T: Send + Sync + fmt::Debug> fmt::Debug for Entry<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<P: Platform, T: Send + Sync> fmt::Debug for List<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("len", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use kilocore_platform::Native;

    use super::*;

    fn entries() -> Vec<Entry<Native, u32>> {
        (0..4).map(Entry::new).collect()
    }

    fn list_of(entries: &[Entry<Native, u32>]) -> List<Native, u32> {
        let mut list = List::new();
        for entry in entries {
            // SAFETY: each entry is inserted once, and outlives the list in all tests.
            unsafe { list.insert(entry) };
        }
        list
    }

    fn values(list: &List<Native, u32>) -> Vec<u32> {
        let mut values = Vec::new();
        list.for_each(|entry| values.push(entry.value));
        values
    }

    #[test]
    fn the_head_the_middle_and_the_end_can_go() {
        let entries = entries();
        let mut list = list_of(&entries);
        assert_eq!(values(&list), [3, 2, 1, 0]);
        for (gone, left) in [(3, &[2, 1, 0][..]), (1, &[2, 0]), (0, &[2]), (2, &[])] {
            // SAFETY: each entry is in the list and is removed once.
            unsafe { list.remove(&entries[gone]) };
            assert_eq!(values(&list), left);
            assert_eq!(list.validate(), Ok(()));
        }
        assert!(list.is_empty());
    }

    #[test]
    fn validate_sees_a_wrong_link_back() {
        let entries = entries();
        let mut list = list_of(&entries);
        list.change(Link::to(&entries[1]), |links| links.before = None);
        assert_eq!(list.validate(), Err(Invalid::BackLink));
    }

    #[test]
    fn validate_sees_a_circle_and_a_lost_item() {
        let entries = entries();
        let mut list = list_of(&entries);
        list.change(Link::to(&entries[1]), |links| links.next = None);
        assert_eq!(list.validate(), Err(Invalid::Count { reached: 3, said: 4 }));
        list.change(Link::to(&entries[0]), |links| links.next = Some(Link::to(&entries[3])));
        list.change(Link::to(&entries[1]), |links| links.next = Some(Link::to(&entries[0])));
        list.change(Link::to(&entries[3]), |links| links.before = Some(Link::to(&entries[0])));
        assert_eq!(list.validate(), Err(Invalid::BackLink), "the head has nobody before it");
        list.count = 2;
        list.change(Link::to(&entries[3]), |links| links.before = None);
        assert_eq!(list.validate(), Err(Invalid::Count { reached: 3, said: 2 }));
    }
}
