//! How the library `preload/allocations` tells of blocks of memory: by `madvise` with advice that there is
//! not.
//!
//! The program runs in QEMU, whose plugin (`numa/qemu`) sees each system call with its arguments. The
//! kernel refuses such advice, whatever the address is, and does nothing. So the call does no harm either
//! where no plugin looks on.

/// A block was allocated: at the call's address, of so many bytes.
pub const ALLOCATED: i32 = 0x4b43_0001;

/// The block at the call's address is about to be freed.
pub const FREED: i32 = 0x4b43_0002;

/// An environment variable: blocks of fewer bytes are not told of. The library takes it out of the
/// environment.
pub const SMALLEST_BLOCK: &str = "KILOCORE_SMALLEST_BLOCK";
