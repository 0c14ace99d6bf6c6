//! Structures that are ready to be put behind a log.

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
