//! What a program that is emulated is asked for, and what it reports.
//!
//! A program runs under QEMU with a plugin that simulates the machine. Whoever starts it writes [`Orders`] to a
//! file, and the plugin writes a [`Report`] to another one when the program has ended. Both are JSON.
//!
//! The program shares its memory with the plugin, so a report is what a stranger may have written: reading it is
//! bounded and checked.
#![deny(missing_docs)]

mod chain;
mod dependence;
mod file_system;
mod moved;
mod orders;
mod place;
mod report;
mod signals;
mod stamp;
mod unstamped;
mod window;

pub use dependence::{Dependence, Found, SeenFile, is_null_device};
mod stacks;

pub use chain::{Chain, ChainPart, ChainShare, Waits};
pub use moved::{CodeTime, LineUse, MappedFile, MovedLine, Sharing, UseKind};
pub use orders::{Orders, OrdersError};
pub use place::{Place, PlaceError};
pub use report::{Counts, MOST_BYTES, Report, ReportError, Span, StuckThread, ThreadTimes};
pub use stacks::{StackCall, Stacks};
pub use stamp::Stamp;
pub use unstamped::Unstamped;
pub use window::{Seen, Window};
