//! Structures that are ready to be put behind a log.

mod invalid;
mod link;
mod list;

pub use invalid::Invalid;
pub use list::{All, Entry, List};
