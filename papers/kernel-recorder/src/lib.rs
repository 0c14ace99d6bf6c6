//! A plugin of QEMU that records what processors do in a kernel for one operation each.
//!
//! A program inside the virtual machine says when a processor begins and ends: it executes one of two
//! instructions that do nothing, whose unused constants are known here (`marks.rs`). In between, the plugin
//! notes each access to memory by its physical address, and which locks were acquired and released. The addresses
//! of the kernel's functions are in the file `System.map` that its build leaves behind. When QEMU exits,
//! what was seen becomes a path (`kilocore_kernel_path`) and is written.
//!
//! The plugin takes the arguments `symbols=FILE`, `output=FILE`, `operation=WORDS`, `kernel=WORDS` and `nodes=N`;
//! an underscore in the words stands for a space. QEMU has to execute all processors in one thread
//! (`-accel tcg,thread=single`), and the kernel has to be where its symbols say (`nokaslr`).
//!
//! This crate is under the GNU General Public License, version 2 or later, because plugins become parts of
//! QEMU. No other crate is linked with it.
//!
//! # Decisions
//! * **One processor at a time.** Processors that do the operation one after the other never wait for each
//!   other, so the path is what each does when it need not wait. The model adds the waiting.
//! * **A lock is known by the function that acquires it, and by the word that this function updates in one step.**
//!   QEMU's interface gives no registers, which would say it at once. The functions of Linux 6.12 for spin locks,
//!   semaphores and mutexes each make one such update if nobody holds the lock (`locks.rs`).
//! * **Physical addresses.** The kernel has more than one address for some of its memory.
#![deny(missing_docs)]

mod locks;
mod marks;
mod recorder;
mod symbols;
mod translate;

use std::ffi::c_void;
use std::fs;

use kilocore_qemu_plugin::{access, api, plugin};

use crate::recorder::{RECORDER, Recorder};
use crate::symbols::Symbols;

plugin!(install);

fn install(id: api::PluginId, arguments: &[&str]) -> Result<(), String> {
    let (mut symbols, mut output, mut operation, mut kernel, mut nodes) =
        (None, None, None, None, 1);
    for argument in arguments {
        match argument.split_once('=') {
            Some(("symbols", file)) => symbols = Some(file),
            Some(("output", file)) => output = Some(file.to_owned()),
            Some(("operation", words)) => operation = Some(words.replace('_', " ")),
            Some(("kernel", words)) => kernel = Some(words.replace('_', " ")),
            Some(("nodes", number)) => {
                nodes = number.parse().map_err(|_| format!("nodes={number} is no number"))?;
            }
            _ => return Err(format!("the plugin has no argument '{argument}'")),
        }
    }
    let symbols = symbols.ok_or("the plugin needs the argument symbols=FILE")?;
    let text = fs::read_to_string(symbols).map_err(|error| format!("{symbols}: {error}"))?;
    let recorder = Recorder {
        symbols: Symbols::read(&text).ok_or_else(|| format!("{symbols}: this is no System.map"))?,
        output: output.ok_or("the plugin needs the argument output=FILE")?,
        operation: operation.ok_or("the plugin needs the argument operation=WORDS")?,
        kernel: kernel.ok_or("the plugin needs the argument kernel=WORDS")?,
        nodes,
    };
    RECORDER.set(recorder).map_err(|_| "the plugin is there already")?;
    access::learn().map_err(|error| error.to_string())?;
    // SAFETY: QEMU gave this id, and the functions are what it expects.
    unsafe {
        api::qemu_plugin_register_vcpu_tb_trans_cb(id, translate::block);
        api::qemu_plugin_register_atexit_cb(id, at_exit, core::ptr::null_mut());
    }
    Ok(())
}

extern "C" fn at_exit(_: api::PluginId, _: *mut c_void) {
    if let Err(error) = recorder::write() {
        eprintln!("kilocore: {error}");
    }
}
