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

mod clock;
mod collect;
mod error;
mod family;
mod faults;
mod ledger;
mod open;
mod order;
mod places;
mod record;
mod seen;

pub use error::RecordError;
pub use record::{Options, Recording, record};
