//! The kernel's perf events: opening one, the buffer that the kernel fills, the records in it.
//!
//! An [`Event`] gets a [`Ring`], from which records are drained as bytes. [`records`] takes
//! these bytes apart. What an event is to record is the caller's, who fills in the attribute.

mod event;
mod host;
mod records;
mod ring;

pub use event::Event;
pub use host::{locked_kilobytes, online_cores, paranoid};
pub use records::{HEADER, Malformed, Record, Tally, header, process, record, records, word};
pub use ring::{Ring, page_size};
