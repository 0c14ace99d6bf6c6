//! The functions that those of this library have displaced: those of the program's own allocator.

kilocore_preload_common::displaced_allocator!();
