//! What is called at each block of instructions, and at each load and store: the hot paths.

use std::ffi::{c_uint, c_void};

use crate::access;
use crate::api::{self, Block, LOAD, NO_REGISTERS, PluginId, STORE};
use crate::{trace, vcpus};

/// No access is wider. Accesses that begin further from the end of their page do not leave it.
const WIDEST: u64 = 64;

/// QEMU translates a block.
pub(crate) extern "C" fn block(_: PluginId, block: *mut Block) {
    if trace::is_on() {
        // SAFETY: QEMU gives a block that it is translating.
        unsafe { trace::register(block) };
        return;
    }
    // SAFETY: QEMU gives a block that it is translating, and its instructions are asked for while it
    // does. What is registered is called as it is declared.
    unsafe {
        let instructions = api::qemu_plugin_tb_n_insns(block);
        let data = core::ptr::without_provenance_mut(instructions);
        api::qemu_plugin_register_vcpu_tb_exec_cb(block, begin, NO_REGISTERS, data);
        for index in 0..instructions {
            let instruction = api::qemu_plugin_tb_get_insn(block, index);
            api::qemu_plugin_register_vcpu_mem_cb(
                instruction,
                count,
                NO_REGISTERS,
                LOAD | STORE,
                core::ptr::null_mut(),
            );
        }
    }
}

/// A block of so many instructions begins.
extern "C" fn begin(vcpu: c_uint, instructions: *mut c_void) {
    if let Some(thread) = vcpus::running(vcpu) {
        thread.advance(instructions.addr() as i64);
    }
}

/// An instruction loads or stores.
pub(crate) extern "C" fn count(vcpu: c_uint, access: u32, address: u64, _: *mut c_void) {
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    thread.count(address >> 12, access::counts(access));
    if address & 0xfff > 0x1000 - WIDEST {
        next_page(vcpu, access, address);
    }
}

/// Counts an access for the next page as well, if it goes on there.
#[cold]
#[inline(never)]
fn next_page(vcpu: c_uint, access: u32, address: u64) {
    // SAFETY: what QEMU gave for this access.
    let bytes = 1_u64 << unsafe { api::qemu_plugin_mem_size_shift(access) };
    let last = address.wrapping_add(bytes - 1) >> 12;
    if last != address >> 12
        && let Some(thread) = vcpus::recorded(vcpu)
    {
        thread.count(last, access::counts(access));
    }
}
