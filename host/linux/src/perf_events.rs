//! The kernel's perf events: opening one, the buffer that the kernel fills, the records in it.
//!
//! An [`Event`] gets a [`Ring`], from which records are drained as bytes. [`records`] takes
//! these bytes apart. What an event is to record is the caller's, who fills in the attribute.
//! [`Tracefs`] knows the places in the kernel that can be traced, by name.

mod contention;
mod event;
mod host;
mod records;
mod ring;
mod tracepoint;

pub use contention::{ContentionEvent, ContentionPlace, LockFlags, is_in_interrupt};
pub use event::Event;
pub use host::{locked_kilobytes, online_cores, paranoid};
pub use records::{HEADER, Malformed, Record, Tally, header, process, record, records, word};
pub use ring::{Ring, page_size};
pub use tracepoint::{Field, Tracefs, Tracepoint, TracepointError};
