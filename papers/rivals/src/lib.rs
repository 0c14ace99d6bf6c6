//! The competitors of deferred-update logs.
//!
//! Each rival is a [`Scheme`](kilocore_ldu::Scheme), so that benchmarks and experiments give the
//! rivals and the logs the same work. Each is as good as its authors' descriptions allow. If a
//! rival is better off here than it would be in practice, its module's documentation says so.
//!
//! | scheme | an update | a search |
//! | --- | --- | --- |
//! | [`Locked`] | takes the lock | takes the lock, shared if the lock allows it |
//! | [`Harris`] | links or unlinks by compare-and-swap | walks the list |
//! | [`OpLog`] | is written to its core's log | merges all cores' logs by time, applies them, reads |
//! | [`FlatCombining`] | is published; one thread does those of all | takes the lock |
//!
//! With the feature `conformance`, this crate has the suite that all schemes pass.
//!
//! # How to add a rival
//! A rival is a file of this crate that implements `Scheme`, whose documentation says what an
//! implementation promises. Three lines make it known:
//!
//! * One line in `tests/common/mod.rs` puts it through the suite that all schemes
//!   pass: alone, on threads, under shuttle and simulated.
//! * One line in `papers/lab/src/ldu/schemes.rs` gives it a name for `kilocore-lab ldu`.
//! * One line in `evidence/comparisons/benches/updates/main.rs` measures it natively.
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
pub mod rmap;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use flat_combining::{Combiner, FlatCombining, FlatCombiningRoot};
pub use harris::{Harris, HarrisHook, HarrisRoot, HarrisThread, Order, Ordered, Unordered};
pub use locked::{Label, Locked, LockedRoot, Mutex, Stock};
pub use op_log::{OpLog, OpLogHook, OpLogRoot, Published, Tuning};
pub use plain::PlainHook;
