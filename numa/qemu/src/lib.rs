//! A plugin of QEMU's user mode that streams the pages that a program's threads refer to.
//!
//! QEMU translates the program's code, and calls the plugin at each load and store. The plugin only
//! counts: each thread has a small table of pages, and what was counted goes into a ring of shared
//! memory when a quantum of instructions is over (`thread.rs`). Somebody else reads the rings; a thread
//! whose ring is full waits for that reader, so nothing grows. System calls end a quantum, and those
//! that change the address space become records of their own (`syscalls.rs`).
//!
//! The plugin takes up to three arguments. `shared=FILE` names the memory, which the reader has created
//! (`kilocore_references::layout`). With `locks=on` the plugin also looks for words that are used as locks
//! (`trace.rs`), and tells what it saw of them when the program ends; `window=N` says how many instructions
//! a processor looks ahead (`chain.rs`). With `sites=on` it says who mapped memory, and which blocks the
//! program allocates (`sites.rs`). It is told of blocks by a library in the program. It does one of the
//! two at a time.
//!
//! What it sees is what QEMU translates. The kernel's own reads and writes of the program's memory, as
//! those of `read` and `write`, are not seen. A process that the program forks goes on and is not
//! recorded.
//!
//! This crate is under the GNU General Public License, version 2 or later, because plugins become
//! parts of QEMU. It knows QEMU by its documented interface for plugins only, from version 1 of
//! that interface (QEMU 7.2) on, as `kilocore-qemu-plugin` declares it. No other crate is linked
//! with it: the recorder names its file to QEMU.
//!
//! # Decisions
//! * **A simulator of pages needs no single references.** The plugin counts them in a table of 128
//!   pages for each thread, with one comparison and one addition for each access. Every 2,000
//!   instructions it writes what was counted, a *burst* of 16 bytes for each page. The order within
//!   these is lost, and nothing else.
//! * **Instructions are counted by block.** A block that a signal or a fault leaves in the middle
//!   counts as a whole. QEMU's inline counters are one for all threads in 7.2, so threads would
//!   lose each other's counts.
//! * **The plugin registers little.** Threads are noticed when they execute something and when they
//!   call `exit`; these are the parts of QEMU's interface that all its versions have in common.
#![deny(missing_docs)]

mod address_space;
mod area;
mod calls;
mod chain;
mod count;
mod counts;
mod flow;
mod futex;
mod gate;
mod hold;
mod maps;
mod memory;
mod sites;
mod syscalls;
mod table;
mod thread;
mod trace;
mod traced;
mod translate;
mod values;
mod vcpus;
mod word;
mod words;

use kilocore_qemu_plugin::{access, api, plugin};

plugin!(install);

fn install(id: api::PluginId, arguments: &[&str]) -> Result<(), String> {
    let mut shared = None;
    for argument in arguments {
        match argument.split_once('=') {
            Some(("shared", file)) => shared = Some(file.to_owned()),
            Some(("locks", "on")) => traced::turn_on(),
            Some(("window", number)) => chain::set_window(
                number.parse().map_err(|_| format!("the window '{number}' is no number"))?,
            ),
            Some(("sites", "on")) => sites::turn_on(),
            _ => return Err(format!("the plugin has no argument '{argument}'")),
        }
    }
    let file = shared.ok_or("the plugin needs the argument shared=FILE")?;
    area::open(&file).map_err(|error| format!("{file}: {error}"))?;
    access::learn().map_err(|error| error.to_string())?;
    kilocore_qemu_plugin::remember_own_mappings();
    vcpus::forget_in_children()?;
    // SAFETY: QEMU gave this id, and the functions are what it expects.
    unsafe {
        api::qemu_plugin_register_vcpu_tb_trans_cb(id, translate::block);
        api::qemu_plugin_register_vcpu_syscall_cb(id, syscalls::enter);
        api::qemu_plugin_register_vcpu_syscall_ret_cb(id, syscalls::leave);
        api::qemu_plugin_register_atexit_cb(id, vcpus::at_exit, core::ptr::null_mut());
    }
    Ok(())
}
