//! `libkilocore_allocations.so` is preloaded under a program that runs in QEMU with Kilocore's plugin. It
//! tells the plugin which blocks the program's allocator gives out, and when they are freed.
//!
//! The library exports the functions of `malloc` and calls the displaced ones. Blocks from some size on are
//! told of by a system call that does nothing (`kilocore_preload_common::allocation_calls`). Who asked for a
//! block is not looked for here: the plugin sees calls and returns.
//!
//! * [`exports`] are the functions that programs call.
//! * [`next`] finds the functions that are displaced.
//! * [`tell`] tells.
//! * [`environment`] reads what the recorder has set, and takes it away again: programs that this one
//!   executes run without QEMU, and need no such library.
//!
//! The rules of [`kilocore_preload_common`] hold. The library itself never allocates.
//!
//! # Decisions
//! * **Blocks are told by a library in the program** (`preload/allocations`). The plugin could find
//!   `malloc`, but not what it is given and what it returns. The library says that by `madvise`
//!   with advice that there is not: the plugin sees the arguments of system calls, and the kernel
//!   does nothing, not even in a process that was started without QEMU, where a system call of an
//!   unknown number may end a process that is confined. A shared area would need its own order with
//!   the changes of the address space; a system call has that already.
//! * **A block is freed in the stream before it is freed**, and allocated after it was. Else
//!   another thread could have the address before the stream says so. In between it is the heap's.
//! * **The library comes first of all that is preloaded**, because an allocator does not call the
//!   next one. It takes itself out of the environment before the program begins. Programs without
//!   glibc, and static ones, run without it, and the stream says that.
// The library has no public interface. Its documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]

mod environment;
pub mod exports;
mod next;
mod tell;

/// Begins while there is only one thread. Blocks that were allocated before are not told of.
extern "C" fn start() {
    next::find_all();
    tell::begin(environment::take());
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
