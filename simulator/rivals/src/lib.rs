//! What deferred-update logs have to beat.
//!
//! Each rival is a [`Scheme`](kilocore_ldu::Scheme), so that benchmarks and experiments give all
//! of them and the logs the same work, and each is as good as its authors' descriptions allow;
//! where one is better off here than it would be in the field, its page says so.
//!
//! | scheme | an update | a search |
//! | --- | --- | --- |
//! | [`Locked`] | takes the lock | takes the lock, shared where the lock can be |
//! | [`Harris`] | links or unlinks by compare-and-swap | walks the list |
//! | [`OpLog`] | is written to its core's log | merges all cores' logs by time, applies them, reads |
//! | [`FlatCombining`] | is published; one thread does everybody's | takes the lock |
//!
//! The feature `conformance` has the suite that all schemes pass.
#![no_std]

extern crate alloc;
#[cfg(feature = "conformance")]
extern crate std;

mod anchor;
mod contents;
mod debts;
mod flat_combining;
mod guarded;
mod harris;
mod home;
mod locked;
mod op_log;
mod plain;
mod request;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use flat_combining::{Combiner, FlatCombining, FlatCombiningRoot};
pub use harris::{Harris, HarrisHook, HarrisRoot, HarrisThread, Order, Ordered, Unordered};
pub use locked::{Label, Locked, LockedRoot, Mutex, Stock};
pub use op_log::{OpLog, OpLogHook, OpLogRoot, Published, Tuning};
pub use plain::PlainHook;
