//! `libkilocore_pages.so` is preloaded under an unmodified program with `LD_PRELOAD`. It serves the
//! program's large anonymous memory from a page pool, so that memory which was used a moment ago is used
//! again, while it is in some cache, and without a system call or a page fault.
//!
//! # How it works
//! The library exports `mmap`, `munmap` and what else there is for mappings, and the functions of `malloc`.
//! A request for private anonymous memory of up to 2 MiB is served from a [`kilocore_pages::PagePool`]. So
//! is a large block of `malloc`, if the program's allocator is the C library's. All else goes to the next
//! library, or to the kernel. What is asked for and cannot be had of the pool is the kernel's, too.
//!
//! A mapping must be zero. The pool knows of its free pages whether they are, and the others are cleared
//! before the program sees them.
//!
//! # What is where
//! * [`mapping_exports`], [`altering_exports`], [`limit_exports`] and [`malloc_exports`] are what programs
//!   call.
//! * [`memory`] is the pool with what is known of its pages. [`bits`] and [`tables`] hold that.
//! * [`touched`] finds out how much of their memory programs touch, and whether clearing it pays.
//! * [`shares`] counts without making cores wait for each other.
//! * [`moving`] is what `mremap` does, and [`placing`] is mappings at addresses that the program names.
//! * [`make`](mod@make) makes the pool when it is first needed, by [`settings`].
//! * [`statistics`] says what the pool did.
//! * [`next`] and [`allocator`] find the functions that are displaced; [`system`] goes past them.
//! * [`heap`] is this library's own memory.
//!
//! `docs/guide/pages-run.md` says what the library does for a user, what it does not change, and its limits.
//!
//! # Rules
//! The rules of [`kilocore_preload_common`] hold. Nobody waits for anybody: not for a thread that lost its
//! core, nor in a signal handler, nor after a fork for a thread that is not there.
// The library has no public interface. Its documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]

mod allocator;
pub mod altering_exports;
mod bits;
mod failure;
mod heap;
pub mod limit_exports;
mod make;
pub mod malloc_exports;
pub mod mapping_exports;
mod memory;
mod moving;
mod next;
mod placing;
mod settings;
mod shares;
mod statistics;
mod system;
mod tables;
mod touched;

/// The pool's tables must not come from the program's allocator, which this library is in front of.
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// Looks up all functions while there is only one thread. If one is called earlier, it is looked up then.
extern "C" fn start() {
    allocator::find_all(malloc_exports::free);
    next::find_all();
    statistics::find_all();
    statistics::prepare();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
