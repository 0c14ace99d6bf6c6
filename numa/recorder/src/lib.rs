//! Runs a program under QEMU and streams the pages that its threads refer to.
//!
//! [`record`] starts an unmodified program under QEMU's user mode with Kilocore's plugin, and gives a
//! [`Stream`] of what it does to whoever wants it, while it runs. The program keeps its standard input,
//! output and error, its signals and its exit status. The memory that this needs does not grow with the
//! run: the program waits for a consumer that is slower.
//!
//! # What a stream does not show
//!
//! * Loads and stores of the kernel on behalf of the program, such as those of `read` and `write`.
//! * Processes that the program forks. They run under QEMU and are not recorded. A program that they, or
//!   the program itself, execute instead of themselves runs natively.
//! * What a thread did since its last quantum, if a signal ends the program.
//! * Time. Instructions stand for it, and they take QEMU other times than a processor.
#![deny(missing_docs)]

mod allocations;
mod error;
mod lane;
mod linkage;
mod locks;
mod memory;
mod modules;
mod program;
mod qemu;
mod record;
mod stream;
mod tee;
mod told;

pub use allocations::Allocations;
pub use error::{ProgramError, RecordError, StreamError};
pub use locks::{Traced, trace_locks};
pub use modules::Modules;
pub use record::{Options, Recorded, check, record};
pub use stream::Stream;
pub use tee::{Tee, TeeError};
