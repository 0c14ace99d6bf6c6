//! Names for addresses of ELF files, of the kernel and of just-in-time compilers, after the
//! program has ended.
//!
//! [`Binary`] names the code of an executable file or a library, [`KernelSymbols`] that of the
//! kernel and its modules, and [`PerfMap`] what a just-in-time compiler says of its own code. A
//! [`BuildId`] tells whether a file is still the one that ran; [`DebugFiles`] knows where else the
//! file of a build id may lie. Whatever bytes these files have, reading them ends with a table or
//! with an error.

mod binary;
mod binary_error;
mod build_id;
mod data;
mod debug_files;
mod debug_info;
mod definitions;
mod entries;
mod extents;
mod frame;
mod go_table;
mod kernel;
mod kernel_lock_names;
mod kernel_locks;
mod outline;
mod perf_map;
mod segments;
pub mod spin_loops;
mod table;
mod unwind;
mod unwind_tables;
mod vdso;

pub use binary::Binary;
pub use binary_error::BinaryError;
pub use build_id::BuildId;
pub use data::{Variables, is_go};
pub use debug_files::DebugFiles;
pub use definitions::Definitions;
pub use entries::{Entries, function_names};
pub use frame::Frame;
pub use kernel::{KernelSymbol, KernelSymbols, KernelSymbolsError};
pub use kernel_lock_names::{LockWaiters, kernel_lock_name};
pub use kernel_locks::{is_kernel_lock, is_kernel_lock_report};
pub use outline::Outline;
pub use perf_map::PerfMap;
pub use unwind::{Section, UnwindSections};
pub use unwind_tables::{TableBytes, UnwindTables, stack_reader};
pub use vdso::own_vdso;
