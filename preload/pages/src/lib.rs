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
//!
//! # Decisions
//! * **Mappings and large blocks of `malloc` are both served.** glibc's `malloc` does not call
//!   `mmap` by that name, so its blocks are served where they are asked for. If the program brings
//!   its own allocator, that one keeps its blocks, and its mappings are served.
//! * **What an owner did to a mapping ends with it.** A bit for each page says that the program has
//!   changed the page's protection, advice, policy or locks, or has mapped something over it. Such
//!   pages get a new mapping before they go back to the pool. Undoing each kind of change by itself
//!   would need to know all of them.
//! * **A bit for each page says that the program holds it.** Unmapping takes the bits. So a range
//!   that is unmapped twice goes back once, any part of any ranges may be unmapped at once, and a
//!   call on memory that is gone gets the kernel's answer. It costs an atomic operation for 64
//!   pages.
//! * **The program's idea of what is free is kept, and not the kernel's** (`placing.rs`,
//!   `memory/taking.rs`). To the kernel all of the pool is mapped. So what the program maps where
//!   it unmapped something takes the pages from the pool first, a mapping that must replace nothing
//!   (`MAP_FIXED_NOREPLACE`) becomes one that replaces the pool's, and below a stack that grows
//!   down free pages are unmapped.
//! * **The dynamic linker is asked nothing once the program runs.** It holds its lock while
//!   constructors run, and these may wait for a thread that maps memory.
//! * **The pool's tables are beside the memory, and never in it.** So blocks begin where pages do,
//!   and pages that nobody has touched take no memory.
//! * **Memory that is to grow or move leaves the pool.** The kernel moves it (`MREMAP_DONTUNMAP`),
//!   with all that was done to it. The program then has one mapping of the kernel's. To copy would
//!   be slower, and to put a second mapping behind the first would make later calls on both fail.
//! * **Clearing pays only for memory that is touched.** The kernel brings in page by page what a
//!   program touches, and the pool clears all that it hands out. For each size of ranges, the
//!   library estimates the share that is touched, from ranges that were fresh. Where it is less
//!   than a third, memory goes back to the kernel as it is unmapped. Without that, a program that
//!   maps 2 MiB and touches one page was three times slower.
//! * **Idle memory is bounded**: 64 MiB that were used, and of that nothing that was idle for ten
//!   seconds while the program goes on mapping. There is no thread for it. A thread in somebody
//!   else's program has its signals, its forks and its limits to get along with.
//! * **Cores count by themselves.** A request takes a tenth of a microsecond, which is less than a
//!   line that all cores write to would take.
//! * **A pool retires before a limit.** If the program limits its address space, or locks all of
//!   its memory, the pool unmaps its stores and serves nobody any more. Otherwise its empty
//!   addresses would count.
//! * **The library makes its tables once, from memory of its own**, and the lists of the pool are only
//!   tried. So everything works in constructors, in signal handlers, and in
//!   children of a `fork`.
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
    allocator::find_all();
    allocator::serve_if_glibcs(malloc_exports::free);
    next::find_all();
    statistics::find_all();
    statistics::prepare();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
