//! What is called while sites of allocations are recorded: all that is called otherwise, and a little more at
//! calls and returns (`kilocore_qemu_plugin::frames`). The library `preload/allocations` tells of blocks.
//!
//! # Decisions
//! * **The plugin follows calls and returns, and nobody unwinds.** The interface of QEMU 7.2 gives
//!   no registers. But a call stores its return address, and a return loads it, and the plugin sees
//!   both with their places on the stack (`kilocore_qemu_plugin::frames`). So it needs neither frame pointers nor
//!   unwind tables, and works for Go and for static programs. A call at a place leaves all that is
//!   below it, so what `longjmp` and exceptions skip is forgotten. Places that are more than 8 MiB
//!   apart are on different stacks, and a return to a place that is known ends all that came after
//!   it: so Go's system stack has its goroutine's callers. Tracing locks (`calls.rs`) does without
//!   places, as it began.
//! * **Calls have the callback that they had.** Each load and store has one; for calls and returns
//!   it is another one that counts as well. So there is no further call from translated code, and
//!   it costs about two parts of a hundred of `sort`.
//! * **Blocks are changes of the address space** for the order of a stream, with numbers. So a
//!   reference is never entered for a block that was not there yet.

use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_preload_common::allocation_calls::{ALLOCATED, FREED};
use kilocore_qemu_plugin::api::{self, LOAD, NO_REGISTERS, STORE};
use kilocore_qemu_plugin::frames::Frames;
use kilocore_qemu_plugin::instruction::{Kind, kind};
use kilocore_qemu_plugin::{access, instruction_bytes};
use kilocore_references::record::Record;
use kilocore_references::{Block, Callers};

use crate::count::{count, count_for};
use crate::thread::Thread;
use crate::vcpus;

/// Whether sites are recorded.
static ON: AtomicBool = AtomicBool::new(false);

pub(crate) fn turn_on() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Registers what is called when an instruction loads or stores.
///
/// # Safety
/// QEMU is translating the instruction.
pub(crate) unsafe fn register(instruction: *mut api::Instruction) {
    // SAFETY: as the caller promises. What is registered is called as it is declared.
    unsafe {
        let address = api::qemu_plugin_insn_vaddr(instruction);
        let mut bytes = [0; 16];
        let length = instruction_bytes(instruction, &mut bytes);
        let (callback, data): (api::OnAccess, u64) = match kind(&bytes[..length]) {
            Kind::Call => (called, address.wrapping_add(length as u64)),
            Kind::Return => (returned, 0),
            _ => (count, 0),
        };
        let data = core::ptr::without_provenance_mut(data as usize);
        let both = LOAD | STORE;
        api::qemu_plugin_register_vcpu_mem_cb(instruction, callback, NO_REGISTERS, both, data);
    }
}

/// A call stores where it returns to. One to an address in memory loads that address before.
extern "C" fn called(vcpu: c_uint, access: u32, address: u64, returns_to: *mut c_void) {
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    if access::kind(access).stores() {
        thread.frames.call(address, returns_to.addr() as u64);
    }
    count_for(thread, access, address);
}

/// A function loads where it returns to.
extern "C" fn returned(vcpu: c_uint, access: u32, address: u64, _: *mut c_void) {
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    thread.frames.end(address);
    count_for(thread, access, address);
}

/// The program gives advice about memory. Some of that is told to the plugin.
pub(crate) fn advised(thread: &mut Thread, address: u64, bytes: u64, advice: u64) {
    match advice as i32 {
        ALLOCATED if is_on() && address.checked_add(bytes).is_some() => {
            let callers = callers(&thread.frames);
            thread.change(Record::Allocated(0, Box::new(Block { address, bytes, callers })));
        }
        FREED if is_on() => thread.change(Record::Freed(0, address)),
        _ => {}
    }
}

/// Where the innermost calls return to.
pub(crate) fn callers(frames: &Frames) -> Callers {
    let known: Vec<u64> = frames.calls().take(Callers::MOST).collect();
    Callers::new(&known)
}
