//! Structures that are ready to be put behind a log.
//!
//! [`IntervalTree`], [`List`] and [`Set`] are intrusive: what links an item to its neighbours is
//! part of the item, so that putting it in allocates nothing (only a [`Set`] that grows does). The
//! links are in cells of the platform: the simulator charges for the cache lines that an operation
//! walks over, and a checker sees it when an update and a search meet.
//!
//! # A structure of one's own
//! Any sequential structure will do, if its contents do not depend on the order of insertions. One
//! that copies what it needs from the item can forget the item's address:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use kilocore_ldu::{Search, Structure};
//!
//! /// How often each number was put in.
//! #[derive(Default)]
//! struct Counts(BTreeMap<u64, u64>);
//!
//! impl Structure for Counts {
//!     type Item = u64;
//!
//!     unsafe fn insert(&mut self, item: &u64) {
//!         *self.0.entry(*item).or_default() += 1;
//!     }
//!
//!     unsafe fn remove(&mut self, item: &u64) {
//!         if let Some(count) = self.0.get_mut(item) {
//!             *count -= 1;
//!             if *count == 0 {
//!                 self.0.remove(item);
//!             }
//!         }
//!     }
//! }
//!
//! impl Search for Counts {
//!     type Query = u64;
//!
//!     fn search(&self, query: &u64, found: &mut dyn FnMut(&u64)) {
//!         for _ in 0..self.0.get(query).copied().unwrap_or(0) {
//!             found(query);
//!         }
//!     }
//!
//!     fn matches(item: &u64, query: &u64) -> bool {
//!         item == query
//!     }
//!
//!     fn rank(item: &u64) -> u64 {
//!         *item
//!     }
//! }
//!
//! let mut counts = Counts::default();
//! // SAFETY: nothing is removed that was not inserted; the map keeps no pointer to an item.
//! unsafe {
//!     counts.insert(&7);
//!     counts.insert(&7);
//!     counts.insert(&9);
//!     counts.remove(&7);
//! }
//! assert_eq!(counts.0, BTreeMap::from([(7, 1), (9, 1)]));
//! ```
//!
//! The map counts, because two objects may hold the same number. From keys to values it would be
//! no such structure: of two objects with one key the later insertion would decide the value, and
//! which one that is, a log does not say.

mod hasher;
mod interval_tree;
mod invalid;
mod link;
mod list;
mod set;

pub use interval_tree::{Interval, IntervalTree, Overlap};
pub use invalid::Invalid;
pub use list::{All, Entry, List};
pub use set::{Member, Set};
