//! A plugin of QEMU's user mode under which a program's threads run on a simulated machine.
//!
//! QEMU executes the program's instructions. The plugin decides when each thread may go on, and what time it is.
//! Each thread of the program is a task of the simulator (`kilocore_sim::Guests`): one of them runs at a time,
//! and others only when the simulated time is theirs. So the program runs as it would on a machine that is not
//! here, with as many cores.
//!
//! * **Time** passes with instructions (`clock.rs`), and with what accesses, waits and calls of the
//!   system cost on the simulated machine.
//! * **Loads and stores** are looked up in a small table of the lines that the core has. Only what is not there
//!   reaches the simulator (`accesses.rs`).
//! * **Atomic instructions and calls of the system** happen in the order of simulated time, and so do stores to
//!   lines that other cores have taken away lately (`accesses.rs`).
//! * **Threads that spin** on a word sleep until somebody writes its line (`spinning.rs`).
//! * **Futexes** sleep and wake in the simulator, and the kernel's own call returns at once (`futexes.rs`).
//! * **Waits for pipes, eventfds and pairs of sockets** of the program's own are simulated as well (`waits.rs`,
//!   `transfers.rs`, `polls.rs`). Other waits for descriptors are those of the host (`outside.rs`).
//! * **Signals that end the program** end it although its threads wait (`dying.rs`, `signals.rs`).
//! * **Threads that are bound to processors** stay there (`binding.rs`).
//! * **What it costs whom** is counted by block of code (`blocks.rs`), and by line that moves (`moves.rs`).
//! * **Who waits for whom** the simulator knows, and follows the chain of waits that bounds the run. Where in the code
//!   each thread is then, `calls.rs` knows, and where it computes, `samples.rs`.
//! * **What the program sees of the machine** is the simulated one: its processors and nodes (`described.rs`), which
//!   one a thread is on, and what time it is (`seen.rs`), also by the counter of cycles (`counter.rs`).
//! * **What the run depends on**, and whether its result can be used again, is noted on the way (`depends.rs`).
//! * **Only a part of the run** may be asked for (`window.rs`). What comes before it is fast-forwarded as far as that is
//!   sound (`forward.rs`).
//!
//! The plugin takes two arguments: `orders=FILE` and `report=FILE`, as `kilocore_emulation_orders` describes.
//!
//! This crate is under the GNU General Public License, version 2 or later, because plugins become parts of QEMU.
//! It knows QEMU by its documented interface for plugins only, from version 1 of that interface (QEMU 7.2) on.
//!
//! # What is not emulated
//! * Instruction fetch, and how instructions depend on one another: each takes the same time.
//! * What the kernel does to the program's memory, such as the data that `read` brings.
//! * Processes that the program forks: they run under QEMU without a clock of their own.
//!
//! # Decisions
//! * **A thread that is born runs to its first call of the system** before it becomes a task, as QEMU has to
//!   stop all threads when the first one is made, and a thread that waits inside of translated code cannot be
//!   stopped. These are some tens of instructions.
//! * **Who ends is gone before the next one goes on.** The kernel clears the word that a joining thread looks
//!   at, a moment after the call; whoever is next waits for that in real time.
//! * **Fast-forwarding ends with the first thread** that the program makes. QEMU can throw away its translations only when
//!   no thread waits inside of them, and the core of who touches a page first says where it lies.
//! * **When QEMU stops all threads**, as before it starts a process, those that wait for their turn inside of translated code are
//!   let go for the rest of their block, one after the other (`stops.rs`). They execute some instructions before their turn.
//! * **Results of calls are those of the host's kernel.** The interface of QEMU 7.2 cannot skip a call. So a wait
//!   that is over is made to return at once: the word, or the time, is changed for the moment of the call.
#![deny(missing_docs)]

mod accesses;
mod asked;
mod awaits;
mod binding;
mod blocks;
mod call;
mod calls;
mod chain;
mod clock;
mod conditions;
mod counter;
mod counts;
mod depends;
mod described;
mod descriptors;
mod dying;
mod files;
mod forward;
mod futexes;
mod guest;
mod host;
mod internal;
mod interrupts;
mod lives;
mod loaded;
mod machine;
mod memory;
mod moves;
mod output;
mod outside;
mod paths;
mod polls;
mod repeatable;
mod repeats;
mod replaced;
mod report;
mod results;
mod room;
mod same_each_time;
mod samples;
mod seen;
mod sent;
mod signals;
mod since;
mod site;
mod sleeping;
mod spinning;
mod stacks;
mod stops;
mod stuck;
mod system;
mod takes;
mod threads;
mod timers;
mod transfers;
mod translate;
mod waits;
mod watchdog;
mod watched;
mod whereabouts;
mod window;

use kilocore_emulation_orders::Orders;
use kilocore_qemu_plugin::{access, api, remember_own_mappings};

kilocore_qemu_plugin::plugin!(install);

fn install(id: api::PluginId, arguments: &[&str]) -> Result<(), String> {
    let (mut orders, mut report) = (None, None);
    for argument in arguments {
        match argument.split_once('=') {
            Some(("orders", file)) => orders = Some(file.to_owned()),
            Some(("report", file)) => report = Some(file.to_owned()),
            _ => return Err(format!("the plugin has no argument '{argument}'")),
        }
    }
    let file = orders.ok_or("the plugin needs the argument orders=FILE")?;
    let bytes = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
    let orders = Orders::read(&bytes).map_err(|error| format!("{file}: {error}"))?;
    let report = report.ok_or("the plugin needs the argument report=FILE")?;
    report::open(&report).map_err(|error| format!("{report}: {error}"))?;
    access::learn().map_err(|error| error.to_string())?;
    remember_own_mappings();
    depends::emulator_is_loaded();
    descriptors::remember();
    threads::forget_in_children()?;
    machine::begin(&orders);
    takes::begin(&orders);
    seen::begin(orders.seed);
    conditions::begin(&orders);
    forward::begin(id);
    window::begin(&orders);
    stacks::begin(&orders);
    threads::begin(&orders)?;
    watchdog::begin()?;
    listen(id);
    Ok(())
}

/// Has QEMU call what is to be called.
extern "C" fn listen(id: api::PluginId) {
    // SAFETY: QEMU gave this id, and the functions are what it expects.
    unsafe {
        api::qemu_plugin_register_vcpu_tb_trans_cb(id, translate::block);
        api::qemu_plugin_register_vcpu_syscall_cb(id, system::enter);
        api::qemu_plugin_register_vcpu_syscall_ret_cb(id, system::leave);
        api::qemu_plugin_register_atexit_cb(id, threads::at_exit, core::ptr::null_mut());
    }
}
