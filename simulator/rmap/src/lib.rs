//! A model of Linux's reverse mapping: who maps a page?
//!
//! To reclaim, migrate or truncate a page, the kernel must find every process that maps it. For that
//! it keeps, for each file, the areas of memory that map the file, and for anonymous memory the
//! areas that may hold a page of the area in which the page was born. `fork`, `exec`, `mmap`,
//! `munmap` and `exit` update these, far more often than anybody reads them, and each under one
//! lock that all processes share which run the same library or come from the same parent. That is
//! what stops process creation from scaling, and what deferred-update logs were made for (the LDU
//! paper, section 2.4).
//!
//! # The model
//! * A [`File`] has an interval tree of the pages that areas map, as Linux's `address_space` has.
//! * An anonymous area belongs to a [`Family`]: Linux's root `anon_vma`, whose lock serves all
//!   `anon_vma`s that forks have derived from it. `fork` links the child's area to each `anon_vma` of
//!   the parent's, and to a new one of its own.
//! * [`Memory`] has the operations; a [`Process`] is its areas. [`Memory::walk_file`] and
//!   [`Memory::walk_anonymous`] are the readers.
//! * A copy of an area goes into its file's tree beside the original, and all links of an area to its
//!   family go in, and out, under one acquisition of the family's lock, where the scheme has one.
//! * How a tree is shared between cores is a [`Scheme`](kilocore_ldu::Scheme), one for files and one
//!   for anonymous memory, since the paper combines two.
//!
//! # What is left out
//! Page tables, and so what a reader does with what it has found; merging and splitting of areas;
//! the reuse of an `anon_vma` whose process is gone, which Linux has had since 4.0 and the paper's
//! kernel has not; and the allocators. In Linux each `anon_vma` has a tree of its own, and here those
//! of a family are ranges of one tree: about one level deeper. What Linux counts in words that all
//! share (references to files and families) is counted here too, in words of the platform, so that
//! it costs what it costs under every scheme alike.
#![no_std]

extern crate alloc;

mod mapping;
mod memory;
mod process;
mod shared;

pub use mapping::{Mapping, Page, ProcessId, Tree};
pub use memory::{Context, Memory};
pub use process::{Area, Layout, Process, Region};
pub use shared::{Family, File};
