//! An intrusive hash set with chains. It may contain several equal members.
//!
//! Each bucket is the head of a doubly linked chain. A member keeps its hash beside its links, so
//! neither a removal nor a growing set looks at values. A removal does not walk along its chain
//! either, which may be long in a multiset.
//!
//! # Growing
//! If an insertion makes the members more than the buckets, it doubles the buckets and moves all
//! members to the new chains. All these moves together are fewer than twice the largest number of
//! members that the set ever had. No other operation allocates. If no memory can be allocated, the
//! set keeps its buckets and its chains become longer, until a later insertion can allocate. The
//! set frees no buckets before it is dropped, except when it replaces them by more.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::mem;

use kilocore_platform::Platform;

use super::Invalid;
use super::hasher::hash_of;
use super::invalid::Tally;
use super::link::{Link, LinkCell};
use crate::{Search, Structure};

/// An item of a [`Set`].
///
/// While the member is in a set, its value should hash and compare as it did when it was inserted.
/// If the value changes, a search may fail to find the member, but nothing worse happens.
pub struct Member<P: Platform, T: Send + Sync + 'static> {
    /// The value by which the member is found.
    pub value: T,
    links: LinkCell<P, Links<P, T>>,
}

struct Links<P: Platform, T: Send + Sync + 'static> {
    /// The member before this one, or `None` at the head of a chain.
    before: Option<Link<Member<P, T>>>,
    next: Option<Link<Member<P, T>>>,
    hash: u64,
}

impl<P: Platform, T: Send + Sync> Clone for Links<P, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform, T: Send + Sync> Copy for Links<P, T> {}

impl<P: Platform, T: Send + Sync> Member<P, T> {
    /// Returns an item that is in no set.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { value, links: LinkCell::new(Links { before: None, next: None, hash: 0 }) }
    }
}

/// The head of a chain.
type Bucket<P, T> = LinkCell<P, Option<Link<Member<P, T>>>>;

/// A set of members. It does not own them, but contains links to them.
pub struct Set<P: Platform, T: Send + Sync + 'static> {
    /// Their number is a power of two.
    buckets: Vec<Bucket<P, T>>,
    count: usize,
}

/// The number of buckets of a new set by default.
const BUCKETS: usize = 16;

impl<P: Platform, T: Send + Sync> Set<P, T> {
    /// Returns an empty set with `buckets` chains. If `buckets` is not a power of two, the set has
    /// the next larger power of two.
    ///
    /// # Panics
    /// If there is no memory for that many chains.
    #[must_use]
    pub fn with_buckets(buckets: usize) -> Self {
        let buckets = buckets.max(1).checked_next_power_of_two().and_then(Self::table);
        Self { buckets: buckets.expect("memory for a set's buckets"), count: 0 }
    }

    /// Returns how many members are in the set. Equal members are counted separately.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many chains the set has now.
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    fn table(buckets: usize) -> Option<Vec<Bucket<P, T>>> {
        let mut table = Vec::new();
        table.try_reserve_exact(buckets).ok()?;
        table.resize_with(buckets, || LinkCell::new(None));
        Some(table)
    }

    #[inline(always)]
    fn bucket_of(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    #[inline(always)]
    fn head(&self, bucket: usize) -> Option<Link<Member<P, T>>> {
        // SAFETY: heads are written through `&mut self` only, so nobody writes them now.
        unsafe { self.buckets[bucket].get() }
    }

    #[inline(always)]
    fn set_head(&mut self, bucket: usize, head: Option<Link<Member<P, T>>>) {
        // SAFETY: `&mut self` excludes all other users.
        unsafe { self.buckets[bucket].change(|old| *old = head) };
    }

    #[inline(always)]
    fn member(&self, link: Link<Member<P, T>>) -> &Member<P, T> {
        // SAFETY: by the rule of links (`link.rs`). All links here come from this set, or lead to
        // the item of the operation under way.
        unsafe { link.follow() }
    }

    #[inline(always)]
    fn links(&self, link: Link<Member<P, T>>) -> Links<P, T> {
        // SAFETY: links are written through `&mut self` only, so nobody writes them now.
        unsafe { self.member(link).links.get() }
    }

    #[inline(always)]
    fn change(&mut self, link: Link<Member<P, T>>, change: impl FnOnce(&mut Links<P, T>)) {
        // SAFETY: `&mut self` excludes all other users, and no `change` here uses a set.
        unsafe { self.member(link).links.change(change) };
    }

    /// Puts a member at the head of its chain.
    fn push(&mut self, link: Link<Member<P, T>>, hash: u64) {
        let bucket = self.bucket_of(hash);
        let next = self.head(bucket);
        self.change(link, |links| *links = Links { before: None, next, hash });
        if let Some(next) = next {
            self.change(next, |links| links.before = Some(link));
        }
        self.set_head(bucket, Some(link));
    }

    #[cold]
    fn grow(&mut self) {
        let Some(table) = self.buckets.len().checked_mul(2).and_then(Self::table) else {
            return;
        };
        let old = mem::replace(&mut self.buckets, table);
        for bucket in &old {
            // SAFETY: the set no longer has this table, so nobody else can reach it.
            let mut next = unsafe { bucket.get() };
            while let Some(link) = next {
                let links = self.links(link);
                next = links.next;
                self.push(link, links.hash);
            }
        }
        discard(&old);
    }
}

impl<P: Platform, T: Hash + Eq + Send + Sync> Set<P, T> {
    /// Returns whether a member equals `value`.
    #[must_use]
    pub fn contains(&self, value: &T) -> bool {
        self.equals(value).next().is_some()
    }

    /// Returns how many members equal `value`.
    #[must_use]
    pub fn count(&self, value: &T) -> usize {
        self.equals(value).count()
    }

    /// Returns the members that equal `value`.
    fn equals(&self, value: &T) -> impl Iterator<Item = &Member<P, T>> {
        let hash = hash_of(value);
        self.chain(self.bucket_of(hash)).filter_map(move |(link, links)| {
            let member = self.member(link);
            (links.hash == hash && member.value == *value).then_some(member)
        })
    }

    fn chain(&self, bucket: usize) -> impl Iterator<Item = (Link<Member<P, T>>, Links<P, T>)> {
        let mut next = self.head(bucket);
        core::iter::from_fn(move || {
            let link = next?;
            let links = self.links(link);
            next = links.next;
            Some((link, links))
        })
    }

    /// Checks all links and hashes.
    ///
    /// # Errors
    /// Returns the first violation that it finds. A correct program has none.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut tally = Tally::of(self.count);
        for bucket in 0..self.buckets.len() {
            let mut before = None;
            for (link, links) in self.chain(bucket) {
                tally.step()?;
                if links.before != before {
                    return Err(Invalid::BackLink);
                }
                if self.bucket_of(links.hash) != bucket {
                    return Err(Invalid::Bucket);
                }
                if hash_of(&self.member(link).value) != links.hash {
                    return Err(Invalid::Hash);
                }
                before = Some(link);
            }
        }
        tally.finish()
    }
}

/// Tells the platform that a table's memory is about to be freed.
fn discard<P: Platform, T: Send + Sync>(table: &[Bucket<P, T>]) {
    for bucket in table {
        P::discard(bucket);
    }
}

impl<P: Platform, T: Hash + Eq + Send + Sync> Structure for Set<P, T> {
    type Item = Member<P, T>;

    #[inline]
    unsafe fn insert(&mut self, item: &Member<P, T>) {
        // The hash comes first because it calls the user's code, which may panic.
        let hash = hash_of(&item.value);
        self.push(Link::to(item), hash);
        self.count += 1;
        if self.count > self.buckets.len() {
            self.grow();
        }
    }

    #[inline]
    unsafe fn remove(&mut self, item: &Member<P, T>) {
        let Links { before, next, hash } = self.links(Link::to(item));
        match before {
            Some(before) => self.change(before, |links| links.next = next),
            None => self.set_head(self.bucket_of(hash), next),
        }
        if let Some(next) = next {
            self.change(next, |links| links.before = before);
        }
        self.count -= 1;
    }
}

impl<P: Platform, T: Hash + Eq + Send + Sync> Search for Set<P, T> {
    type Query = T;

    fn search(&self, query: &T, found: &mut dyn FnMut(&Member<P, T>)) {
        self.equals(query).for_each(found);
    }

    fn matches(item: &Member<P, T>, query: &T) -> bool {
        item.value == *query
    }

    fn rank(item: &Member<P, T>) -> u64 {
        hash_of(&item.value)
    }
}

impl<P: Platform, T: Send + Sync> Default for Set<P, T> {
    /// Returns an empty set with few buckets.
    fn default() -> Self {
        Self::with_buckets(BUCKETS)
    }
}

impl<P: Platform, T: Send + Sync> Drop for Set<P, T> {
    fn drop(&mut self) {
        discard(&self.buckets);
    }
}

impl<P: Platform, T: Send + Sync + fmt::Debug> fmt::Debug for Member<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<P: Platform, T: Send + Sync> fmt::Debug for Set<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set")
            .field("len", &self.count)
            .field("buckets", &self.buckets.len())
            .finish_non_exhaustive()
    }
}
