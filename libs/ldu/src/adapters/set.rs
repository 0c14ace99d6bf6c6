//! A hash set that may hold several equal members, intrusive, with chains.
//!
//! Each bucket is the head of a doubly linked chain. A member keeps its hash beside its links, so
//! that a growing set and a removal look at no value; a removal does not even walk along its chain,
//! which in a multiset may be long.
//!
//! # Growing
//! A set with more members than buckets doubles the latter, at once: that insertion moves all
//! members to other chains, and all such insertions together fewer than twice the most that were
//! ever in. No other operation allocates. If there is no memory to be had, the set stays as it is
//! and its chains become longer, until a later insertion finds some. Buckets are never given back
//! before the set is dropped.

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
/// While it is in, its value must go on to hash and compare as it did. Where it does not, it may
/// not be found, and no worse.
pub struct Member<P: Platform, T: Send + Sync + 'static> {
    /// What it is found by.
    pub value: T,
    links: LinkCell<P, Links<P, T>>,
}

struct Links<P: Platform, T: Send + Sync + 'static> {
    /// None at the head of a chain.
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
    /// An item that is in no set.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { value, links: LinkCell::new(Links { before: None, next: None, hash: 0 }) }
    }
}

/// The head of a chain.
type Bucket<P, T> = LinkCell<P, Option<Link<Member<P, T>>>>;

/// A set of members that are somewhere else.
pub struct Set<P: Platform, T: Send + Sync + 'static> {
    /// A power of two of them.
    buckets: Vec<Bucket<P, T>>,
    count: usize,
}

/// What a set starts with if nothing else is said.
const BUCKETS: usize = 16;

impl<P: Platform, T: Send + Sync> Set<P, T> {
    /// A set without members, with `buckets` chains to begin with or the next power of two.
    ///
    /// # Panics
    /// If there is no memory for that many.
    #[must_use]
    pub fn with_buckets(buckets: usize) -> Self {
        let buckets = buckets.max(1).checked_next_power_of_two().and_then(Self::table);
        Self { buckets: buckets.expect("memory for a set's buckets"), count: 0 }
    }

    /// How many members are in, equal ones counted apart.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no member is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many chains there are now.
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
        // SAFETY: heads are written through `&mut self` only.
        unsafe { self.buckets[bucket].get() }
    }

    #[inline(always)]
    fn set_head(&mut self, bucket: usize, head: Option<Link<Member<P, T>>>) {
        // SAFETY: `&mut self` keeps all others away.
        unsafe { self.buckets[bucket].change(|old| *old = head) };
    }

    #[inline(always)]
    fn member(&self, link: Link<Member<P, T>>) -> &Member<P, T> {
        // SAFETY: by the rule of links, since all links here come from this set, or name the item
        // of an operation under way.
        unsafe { link.follow() }
    }

    #[inline(always)]
    fn links(&self, link: Link<Member<P, T>>) -> Links<P, T> {
        // SAFETY: links are written through `&mut self` only.
        unsafe { self.member(link).links.get() }
    }

    #[inline(always)]
    fn change(&mut self, link: Link<Member<P, T>>, change: impl FnOnce(&mut Links<P, T>)) {
        // SAFETY: `&mut self` keeps all others away, and no `change` here looks at a set.
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
            // SAFETY: nobody else can reach a table that the set has no more.
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
    /// Whether a member equals `value`.
    #[must_use]
    pub fn contains(&self, value: &T) -> bool {
        self.equals(value).next().is_some()
    }

    /// How many members equal `value`.
    #[must_use]
    pub fn count(&self, value: &T) -> usize {
        self.equals(value).count()
    }

    /// The members that equal `value`.
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

    /// Looks at all links and hashes.
    ///
    /// # Errors
    /// What is wrong with them, which nothing should be.
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

/// Tells the machine that a table's memory is about to be given back.
fn discard<P: Platform, T: Send + Sync>(table: &[Bucket<P, T>]) {
    for bucket in table {
        P::discard(bucket);
    }
}

impl<P: Platform, T: Hash + Eq + Send + Sync> Structure for Set<P, T> {
    type Item = Member<P, T>;

    #[inline]
    unsafe fn insert(&mut self, item: &Member<P, T>) {
        // First, since it is the user's and may panic.
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
    /// A set without members, and with few buckets.
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
