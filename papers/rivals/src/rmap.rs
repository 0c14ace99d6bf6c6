//! A model of Linux's reverse mapping, which tells who maps a page.
//!
//! To reclaim, migrate or truncate a page, the kernel must find every process that maps it. For
//! each file, the kernel therefore keeps the areas of memory that map it. For an anonymous page, it
//! keeps the areas that may hold a page of the area in which the page was born.
//!
//! `fork`, `exec`, `mmap`, `munmap` and `exit` update these records far more often than anybody
//! reads them. Each update takes a lock that is shared by all processes that run the same library
//! or come from the same parent. This lock keeps process creation from scaling. Deferred-update
//! logs were made for this case (the LDU paper, section 2.4).
//!
//! # The model
//! * A [`File`] has an interval tree of the pages that areas map, as Linux's `address_space` has.
//! * An anonymous area belongs to a [`Family`]: Linux's root `anon_vma`. The lock of the root
//!   serves all `anon_vma`s that forks have derived from it. `fork` links the child's area to each
//!   `anon_vma` of the parent's area, and to a new `anon_vma` of its own.
//! * [`Memory`] has the operations. A [`Process`] consists of its areas. [`Memory::walk_file`] and
//!   [`Memory::walk_anonymous`] are the readers.
//! * The copy of an area is inserted into its file's tree beside the original. All links of an area
//!   to its family are inserted or removed under one acquisition of the family's lock, if the
//!   scheme has one.
//! * A [`Scheme`](kilocore_ldu::Scheme) says how a tree is shared between cores. There is one
//!   scheme for files and one for anonymous memory, because the paper combines two.
//!
//! # What is left out
//! * Page tables are left out, and with them what a reader does with the areas that it finds.
//! * Areas are neither merged nor split.
//! * An `anon_vma` whose process is gone is not reused. Linux has done so since 4.0, but the
//!   paper's kernel does not.
//! * The allocators are left out.
//!
//! In Linux each `anon_vma` has a tree of its own. Here the `anon_vma`s of a family are ranges of
//! one tree, which is about one level deeper. Linux counts the references to files and families in
//! words that all share. Here they are counted as well, in words of the platform, so that the
//! counting costs what it costs in Linux, and the same under every scheme.

mod mapping;
mod memory;
mod process;
mod shared;

pub use mapping::{Mapping, Page, ProcessId, Tree};
pub use memory::{Context, Memory};
pub use process::{Area, Layout, Process, Region};
pub use shared::{Family, File};
