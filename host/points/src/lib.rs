//! Points: results that depend on nothing but their inputs and on what computes them.
//!
//! Most of what Kilocore computes are points of curves, thousands for a forecast, each by a simulation of its own. A
//! simulation has no input but what it is given, and the same input has the same point, bit for bit. So a point that
//! was computed once need not be computed again: not by the next command, not by a command that was interrupted and is
//! started anew, and not by another process that needs it as well.
//!
//! # The parts
//! * A [`Job`] says how a point is computed, and by what it is known: its [`Key`], a digest of all its inputs.
//! * A [`Subject`] is what the points of a batch have in common: the computation, the program that computes them, down
//!   to its compiler, and the inputs that they share. Another build has other subjects, so no answer can be stale.
//! * A [`Batch`] is a file of points. Whoever reads it believes only what is whole.
//! * The [`Store`] is the folder of such files. It is bounded, and files that were used longest ago go first.
//! * A [`PointSource`] gives the points of jobs: those that are kept, and those that it computes. It writes about every
//!   second, so that a command that is interrupted loses no more than that.
//!
//! # Several processes
//! A command that asks a source for points can be asked which these are: run with a source that is
//! [listing](PointSource::listing), it computes nothing, and says what is [missing](PointSource::missing). Run with one
//! that is [sharing](PointSource::sharing), it computes only what it is given, and [reports](PointSource::report) what has
//! come of it. A process that is given [`Orders`] does the one or the other. So a thousand points can be divided among
//! processes that all run the same command, and none has to know what the command does. A point that such a process does not
//! have is the error [`Elsewhere`]. Which of these a process does is its [`Assignment`]. Whoever keeps results elsewhere than
//! in a [`Store`] follows one of its own.
//!
//! # Decisions
//! * **Nothing is believed without its digest.** A crash may cut a file short, and another user may have written it.
//!   What a digest cannot say, the folder does: nobody else can write to it (`kilocore-kept-files`). Even so the reader
//!   takes no more memory than there are bytes, and a point that is none is computed.
//! * **Files are never changed**, and their names say what they hold. Processes that write at the same time cannot
//!   lose each other's points. The price is many small files, so small ones become one when there are many.
//! * **Errors are not kept.** They come at once, or are worth another try.
//! * **Points are no JSON** (`encoding.rs`), which has no infinite numbers.

mod assignment;
mod batch;
mod elsewhere;
mod encoding;
mod job;
mod kept;
mod key;
mod name;
mod orders;
mod parallel;
mod source;
mod store;
mod subject;

pub use assignment::Assignment;
pub use batch::{Batch, MOST_POINT_BYTES};
pub use elsewhere::{FailedPoint, KeptPoint, Missing, Report};
pub use job::{Elsewhere, Job};
pub use key::Key;
pub use name::{Name, read_name};
pub use orders::{ORDERS, Orders, OrdersError};
pub use source::{PointSource, keeps};
pub use store::{MOST_BYTES, Store};
pub use subject::{Subject, Version};
