//! Traces of the pages that a program was given and gave back, and their file format.
//!
//! A [`Trace`] is what the kernel's page allocator was asked for on behalf of one program: a list of
//! [`Event`]s in the order of time. Somebody else's program can so be replayed on another page
//! allocator, natively or simulated, without being there. [`recorder`] makes traces of
//! real programs; [`replay`] does them again on this host.
//!
//! # What a trace promises
//!
//! Whoever replays a trace need not check anything. [`Reader`] refuses a file that breaks one of
//! these promises, and [`Writer`] refuses to write one:
//!
//! * Events are in the order of time.
//! * A block is allocated only while none of its pages is held, and released only while all are.
//! * A block of order *k* has 2^*k* pages, and begins at a multiple of 2^*k*.
//! * Each cpu, thread and page is below the number that the [`Header`] gives.
//!
//! One thing is allowed that may surprise: a block may be released in parts, because the kernel
//! splits blocks. The parts together are never more than the block.
//!
//! ```no_run
//! use std::path::Path;
//! use kilocore_page_trace::{EventKind, ReadError, Reader};
//!
//! # fn replay() -> Result<(), ReadError> {
//! let reader = Reader::open(Path::new("browser.pages"))?;
//! // Room for whatever a policy keeps of each page.
//! let mut touched = vec![false; reader.header().contents.pages as usize];
//! for event in reader {
//!     match event?.kind {
//!         EventKind::Allocate { page, zeroed, .. } => touched[page.0 as usize] = zeroed,
//!         EventKind::Release { page, .. } => touched[page.0 as usize] = false,
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! A file begins with eight bytes that name its kind, and a version of four bytes. Then come
//! packets: the header first, and then up to 262,144 events each. A packet has three numbers of four
//! bytes, the count of what is in it, its size, and its packed size, and then its content, packed
//! by zstd with a checksum. All numbers are little-endian. The header is a JSON document.
//!
//! A packet of events has four columns, one after the other, because like packs well with like: what
//! happens (a byte each), the times, where it happens, and the pages. Each column begins with its
//! length, and its numbers have a variable length. `columns.rs` says what the numbers mean.
//!
//! A file may also be text ([`write_text`]): a line with the header, and then a line for each event,
//! each a JSON object. [`Trace::read`] takes both.
//!
//! # Decisions
//! * **The kernel's omissions do not break the promises.** If the kernel leaves out a release, it
//!   shows when the page is allocated again: the recorder then puts a release right before, and
//!   counts it. Writer and reader both check the promises, with a bit for each page.
//! * **Pages are numbered in groups of 1,024**, in the order in which the trace mentions them. So
//!   arrays can be indexed by page, blocks lie as they do in memory, and the lower bits of a number
//!   are those of the physical address. The trace says nothing else of where the machine's memory
//!   was.
//! * **The file has columns.** Of real programs an event takes between 2.5 and 4 bytes: half of
//!   them are the time, and half the page.

mod columns;
mod error;
mod event;
mod header;
mod held;
mod latency;
mod packet;
mod reader;
pub mod recorder;
pub mod replay;
mod script;
pub mod simulated;
mod summary;
mod text;
mod trace;
mod units;
mod writer;

pub use error::WriteError;
pub use event::{Event, EventKind};
pub use header::{About, Contents, Ending, Header, PageFaults, Unseen};
pub use held::{Held, Misuse};
pub use kilocore_figures::Nanoseconds;
pub use kilocore_trace_file::{ReadError, TracePosition, Wrong};
pub use latency::Latency;
pub use reader::{Reader, is_packed_trace};
pub use script::{Action, Script, Step};
pub use summary::{LifetimeBin, Moment, Releases, Reuse, Summary};
pub use text::write_text;
pub use trace::Trace;
pub use units::{Cpu, Order, OrderError, Page, Thread};
pub use writer::Writer;
