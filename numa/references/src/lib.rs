//! Streams of the pages that a program's threads refer to: live in shared memory, and as files.
//!
//! A stream says which thread loaded from and stored to which page, how often, and in which order. A
//! simulator of page placement needs no more, and so single references are never passed on:
//!
//! * A [`Burst`] is what a thread did to one page within a *quantum*.
//! * A quantum is a run of a few thousand instructions of one thread. [`EventKind::Quantum`] ends it. It also
//!   ends at each system call.
//! * The order of the bursts within a quantum is lost.
//! * What is mapped, and which blocks the program allocates, stands between the bursts, with who did so as far
//!   as that was recorded ([`Callers`]).
//!
//! Threads run at the same time, so their quanta are merged: the thread that has executed the fewest
//! instructions goes first. [`Merge`] says how threads that wait, and changes of the address space, fit
//! in.
//!
//! Both the live stream of a running program and [`Reader`], which reads a file, are iterators of
//! `Result<Event, _>`. A consumer that wants a cost model sees this:
//!
//! ```no_run
//! use std::collections::HashMap;
//! use std::path::Path;
//! use kilocore_references::{Burst, EventKind, PageNumber, ReadError, Reader, ThreadId};
//!
//! # fn replay() -> Result<(), ReadError> {
//! // Which thread used a page first: there the kernel puts it, unless told otherwise.
//! let mut first: HashMap<PageNumber, ThreadId> = HashMap::new();
//! let mut foreign = 0;
//! for event in Reader::open(Path::new("xz.refs"))? {
//!     let event = event?;
//!     match event.kind {
//!         EventKind::Burst(Burst { page, reads, writes }) => {
//!             if *first.entry(page).or_insert(event.thread) != event.thread {
//!                 foreign += u64::from(reads) + u64::from(writes);
//!             }
//!         }
//!         EventKind::Unmapped(region) => first.retain(|page, _| !region.contains(*page)),
//!         EventKind::Mapped(mapping) => first.retain(|page, _| !mapping.region.contains(*page)),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! A file begins with eight bytes that name its kind, and a version of four bytes. Then come packets:
//! one that says where the stream comes from ([`About`], a JSON document), some with up to 65,536 events
//! each, and one that says what it all amounted to ([`Contents`], JSON again). A packet has four numbers
//! of four bytes, its kind, the count of what is in it, its size, and its packed size, and then its
//! content, packed by zstd with a checksum. All numbers are little-endian. `columns.rs` says how events
//! are written.
//!
//! # Live streams
//!
//! [`layout`] is the memory that the program and its reader share, [`record`] is what the program
//! writes there, and [`ring`] is how. The crate `reference-recorder` is the reader.
#![deny(missing_docs)]

mod callers;
mod columns;
mod error;
mod event;
mod header;
pub mod layout;
mod merge;
mod packet;
mod reader;
pub mod record;
pub mod ring;
mod tally;
mod traced_lock;
mod units;
mod writer;

pub use callers::Callers;
pub use error::WriteError;
pub use event::{Backing, Block, Burst, Event, EventKind, Mapping, Move};
pub use header::{About, Contents, Ending};
pub use kilocore_trace_file::{ReadError, TracePosition, Wrong};
pub use merge::{Merge, Readiness, rank_of_change, rank_of_quantum};
pub use reader::{Reader, is_trace};
pub use tally::Tally;
pub use traced_lock::{CALLERS, FURTHER, TracedLock};
pub use units::{Instructions, PageNumber, Region, ThreadId};
pub use writer::Writer;
