//! What is called while locks are traced: all that is called otherwise, and a little more.
//!
//! Instructions that may take a lock or give it back are called about before and after (`gate.rs`). All
//! other accesses cost one more comparison, as long as their thread holds nothing.

use std::ffi::{c_uint, c_void};

use crate::api::{self, Block, Instruction, LOAD, NO_REGISTERS, STORE};
use crate::instruction::{Kind, kind};
use crate::thread::Thread;
use crate::words::{self, By};
use crate::{access, count, gate, memory, vcpus};

/// The number of instructions behind one in its block has so many bits, below its address.
const BEHIND: u32 = 16;

/// Registers what is called for a block.
///
/// # Safety
/// QEMU translates the block.
pub(crate) unsafe fn register(block: *mut Block) {
    // SAFETY: QEMU translates the block, and its instructions are asked for meanwhile. What is registered
    // is called as it is declared.
    unsafe {
        let instructions = api::qemu_plugin_tb_n_insns(block);
        let data = core::ptr::without_provenance_mut(instructions);
        api::qemu_plugin_register_vcpu_tb_exec_cb(block, begin, NO_REGISTERS, data);
        for index in 0..instructions {
            let instruction = api::qemu_plugin_tb_get_insn(block, index);
            register_instruction(instruction, instructions - 1 - index);
        }
    }
}

/// # Safety
/// As [`register`].
unsafe fn register_instruction(instruction: *mut Instruction, behind: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        let address = api::qemu_plugin_insn_vaddr(instruction);
        let mut bytes = [0; 15];
        let length = api::qemu_plugin_insn_size(instruction).min(bytes.len());
        let known = memory::read(address, &mut bytes[..length]).is_some();
        let data = (address << BEHIND) as usize | behind;
        let data = core::ptr::without_provenance_mut(data);
        let kind = if known { kind(&bytes[..length]) } else { Kind::Other };
        let (before, after): (Option<api::OnBlock>, api::OnAccess) = match kind {
            Kind::Atomic => (Some(before_update), updated),
            Kind::Store => (Some(before_store), stored),
            Kind::Call => (Some(call), other),
            Kind::Return => (Some(return_from), other),
            Kind::Other => (None, other),
        };
        let data = if kind == Kind::Call {
            core::ptr::without_provenance_mut((address as usize).wrapping_add(length))
        } else {
            data
        };
        if let Some(before) = before {
            api::qemu_plugin_register_vcpu_insn_exec_cb(instruction, before, NO_REGISTERS, data);
        }
        let both = LOAD | STORE;
        api::qemu_plugin_register_vcpu_mem_cb(instruction, after, NO_REGISTERS, both, data);
    }
}

/// A block of so many instructions begins.
extern "C" fn begin(vcpu: c_uint, instructions: *mut c_void) {
    let Some(thread) = vcpus::running(vcpu) else { return };
    // The last block was left in the middle, by a fault.
    leave_gate(vcpu, thread);
    thread.holds.clock += instructions.addr() as u64;
    thread.advance(instructions.addr() as i64);
}

/// An instruction loads or stores that is no concern of a lock.
extern "C" fn other(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    if let Some(thread) = vcpus::recorded(vcpu)
        && !thread.holds.is_empty()
    {
        touch(thread, access, address);
    }
}

fn touch(thread: &mut Thread, access: u32, address: u64) {
    thread.holds.touch(address, bytes(access), is_store(access));
}

fn bytes(access: u32) -> u64 {
    // SAFETY: what QEMU gave for this access.
    1 << unsafe { api::qemu_plugin_mem_size_shift(access) }
}

fn is_store(access: u32) -> bool {
    access::counts(access).stores() > 0
}

/// A call comes, which returns to this address.
extern "C" fn call(vcpu: c_uint, returns_to: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.calls.call(returns_to.addr() as u64);
    }
}

/// A function is about to return.
extern "C" fn return_from(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.calls.end();
    }
}

/// An atomic update comes.
extern "C" fn before_update(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu) {
        thread.holds.in_gate = gate::enter(vcpu);
    }
}

/// A store comes, maybe to a lock that its thread holds.
extern "C" fn before_store(vcpu: c_uint, _: *mut c_void) {
    if let Some(thread) = vcpus::recorded(vcpu)
        && !thread.holds.is_empty()
    {
        thread.holds.in_gate = gate::enter(vcpu);
    }
}

/// An atomic update has been done; or one half of it, which a program of one thread does in two.
extern "C" fn updated(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    if !is_store(access) {
        return;
    }
    let by = by(thread, data);
    // Without the gate, the word may be gone.
    let is_lock =
        thread.holds.in_gate && words::updated(address, bytes(access), by, &mut thread.holds);
    leave_gate(vcpu, thread);
    // The line of a lock inside another one moves with that lock.
    if !is_lock && !thread.holds.is_empty() {
        touch(thread, access, address);
    }
}

/// A store has been done, or the load of an update that is not done in one step.
extern "C" fn stored(vcpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    count::count(vcpu, access, address, data);
    let Some(thread) = vcpus::recorded(vcpu) else { return };
    if thread.holds.is_empty() {
        return;
    }
    if is_store(access) {
        let by = by(thread, data);
        let gives_back = thread.holds.in_gate
            && thread.holds.has(address)
            && words::stored(address, by, &mut thread.holds);
        leave_gate(vcpu, thread);
        if gives_back {
            return;
        }
    }
    touch(thread, access, address);
}

#[inline(always)]
fn leave_gate(vcpu: c_uint, thread: &mut Thread) {
    if thread.holds.in_gate {
        thread.holds.in_gate = false;
        gate::leave(vcpu);
    }
}

/// Who does this: the thread, at the instruction that was registered with this.
fn by(thread: &Thread, data: *mut c_void) -> By {
    let data = data.addr() as u64;
    let behind = data & ((1 << BEHIND) - 1);
    By {
        thread: thread.number,
        code: data >> BEHIND,
        callers: thread.calls.innermost(),
        clock: thread.holds.clock.saturating_sub(behind),
    }
}
