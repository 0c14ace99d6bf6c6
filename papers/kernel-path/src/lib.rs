//! What processors did in a kernel for one operation: how many instructions they took, which cache lines
//! that others use as well they touched, and which locks they acquired.
//!
//! A kernel is recorded while it runs in an emulator. Each of its processors does the operation once, one
//! processor after the other, so nobody waits for anybody ([`Recording`]). What lines and locks several
//! processors touched, and where at least one of them wrote, is what can make them wait for each other on a
//! machine on which they do it at the same time. All else is a number of instructions. So a [`Path`] is short,
//! and any number of simulated cores can replay it.
//!
//! ```
//! use kilocore_kernel_path::Path;
//!
//! let text = "kilocore-kernel-path 1\noperation fork and exit\nkernel 6.12\nmachine 2 1\n\
//!             line 3 jiffies\nlock 3 semaphore vma_link_file\n\
//!             run 0\na 0\nt 0 u\nc 120\ni 0\nr 0\nrun 1\nc 7\n";
//! let path = Path::read(text)?;
//! assert_eq!(path.runs[0].len(), 5);
//! assert_eq!(path.to_string(), text);
//! # Ok::<(), kilocore_kernel_path::PathError>(())
//! ```
//!
//! `docs/formats/kernel-paths.md` describes the file.
#![warn(missing_docs)]

mod file;
mod path;
mod recording;

pub use file::{MOST_STEPS, PathError, Problem};
pub use path::{
    Instructions, LineId, Lock, LockId, LockKind, Mode, Path, Place, Processors, Step, Touch,
};
pub use recording::{Address, Recording, Seen};
