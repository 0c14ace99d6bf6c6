//! What is called when QEMU translates a block of instructions, and when the block is executed.

use std::ffi::{c_uint, c_void};

use kilocore_qemu_plugin::api::{self, Block, LOAD, NO_REGISTERS, PluginId, STORE};

use crate::count::count;
use crate::{sites, trace, traced, vcpus};

/// QEMU translates a block.
pub(crate) extern "C" fn block(_: PluginId, block: *mut Block) {
    if traced::is_on() {
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
            if sites::is_on() {
                sites::register(instruction);
                continue;
            }
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
