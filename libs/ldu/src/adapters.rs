//! Structures that are ready to be put behind a log.
//!
//! [`IntervalTree`], [`List`] and [`Set`] are intrusive: the links from an item to its neighbours
//! are part of the item, so an insertion allocates nothing (except when a [`Set`] grows). The links
//! are stored in cells of the platform. So the simulator charges for the cache lines that an
//! operation visits, and a checker notices if an update and a search use a link at the same time.
//!
//! # A structure of one's own
//! Any sequential structure can be put behind a log, provided that its contents do not depend on
//! the order of insertions. A structure may copy what it needs from the item, and need not keep the
//! item's address:
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
//! The map counts because two objects may hold the same number. A map from keys to values would not
//! do: if two objects had the same key, the later insertion would decide the value, and a log does
//! not keep the order of insertions of different objects.

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
