//! Records the pages that a program is given and gives back, as a trace of `page-trace`.
//!
//! [`record`] runs a program and follows it, with all processes that it starts. It asks the kernel for
//! a record of each allocation and each release of a block of pages, on all cores, whoever does it.
//! Allocations count if a thread of the program makes them. Releases count if the program had
//! allocated the block, whoever releases it: pages also go back in interrupts, in the kernel's own
//! threads, and in other programs. Physical addresses say which is which, so a release always finds
//! its allocation.
//!
//! The kernel's records come through a buffer of each core ([`open`]), are put in order of time
//! (`order.rs`), and are told apart by who did it (`family.rs`) and by what the program holds
//! (`ledger.rs`). They go straight into the file, so that the memory that this takes does not depend
//! on how long it runs.
//!
//! There is no way to do this without the kernel's tracepoints. Page faults can be counted and
//! addresses be had without them, but not when pages go back, nor what the kernel itself needs for
//! the program. So where tracepoints cannot be had, recording is refused.
//!
//! # Decisions
//! * **The kernel's tracepoints say which page it is.** `kmem:mm_page_alloc` and
//!   `kmem:mm_page_free` name the physical block, so each release finds its allocation, whatever
//!   happened to addresses in between. The flags of an allocation say whether the page is to be
//!   filled with zeroes. Bits of these flags differ from kernel to kernel, and the kernel's
//!   description of the place names them.
//! * **Allocations in interrupts do not count**, because they have nothing to do with the thread
//!   that is interrupted. They are counted.
//! * **Page faults are counted by another way**, a counter of the program's processes. Nearly each
//!   new page of a program comes by a fault, so the count checks the trace: of a program that
//!   touches 25,000 pages, the trace had 25,088 zeroed pages, and the counter 25,100 faults.
//! * **Losses are counted exactly.** An event counts how often it happened, recorded or not, so
//!   what was not delivered is the difference. The kernel's own count of losses is less than that:
//!   it has only the records for which there was no room. Linux 6.18 also leaves out a few records
//!   of softirqs, and nobody would know. Two processes that made nearly a million events in three
//!   seconds lost none of them, or 3, or 6; each of these was a release of one of the kernel's own
//!   pages.
//! * **The recorder's memory is bounded.** Records go through buffers of at most 256 MB together,
//!   are put in order over two rounds, and go into the file. What grows is a bit for each page and
//!   an entry for each 4 MB of memory that the program uses. The thread that empties the buffers
//!   goes first when there are too few cores.
//! * **Recording goes on for 200 ms after the program's end**, because the kernel gives back the
//!   tables of pages only when no core can look at them any more.
//! * **Without tracepoints, recording is refused**, because half of a trace is not a smaller trace;
//!   it is another program.

mod clock;
mod collect;
mod error;
mod family;
mod faults;
mod ledger;
mod open;
mod order;
mod page_record;
mod places;
mod record;

pub use error::RecordError;
pub use record::{Options, Recording, record};
