//! What is used of QEMU's interface for plugins, declared from its documentation. These parts are the
//! same in all versions of the interface from 1 on.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};

/// The plugin, as QEMU knows it.
pub(crate) type PluginId = u64;

/// Something of QEMU's, of which only the address is known.
#[repr(C)]
pub(crate) struct Opaque {
    bytes: [u8; 0],
    elsewhere: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A block of instructions that is being translated.
pub(crate) type Block = Opaque;
/// An instruction of it.
pub(crate) type Instruction = Opaque;

/// A callback may not look at registers, so QEMU need not write them back.
pub(crate) const NO_REGISTERS: c_uint = 0;
/// Loads, as QEMU numbers kinds of accesses.
pub(crate) const LOAD: c_uint = 1;
/// Stores, as QEMU numbers kinds of accesses.
pub(crate) const STORE: c_uint = 2;

/// At an access: the processor, what kind of access, where, and the registered pointer.
pub(crate) type OnAccess = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Before a block or an instruction: the processor, and the registered pointer.
pub(crate) type OnBlock = extern "C" fn(c_uint, *mut c_void);
/// Before a system call: the plugin, the processor, the call's number, and eight arguments.
pub(crate) type OnSystemCall =
    extern "C" fn(PluginId, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
/// After a system call: the plugin, the processor, the call's number, and what it returned.
pub(crate) type OnSystemReturn = extern "C" fn(PluginId, c_uint, i64, i64);

unsafe extern "C" {
    pub(crate) fn qemu_plugin_register_vcpu_tb_trans_cb(
        id: PluginId,
        callback: extern "C" fn(PluginId, *mut Block),
    );
    pub(crate) fn qemu_plugin_register_vcpu_syscall_cb(id: PluginId, callback: OnSystemCall);
    pub(crate) fn qemu_plugin_register_vcpu_syscall_ret_cb(id: PluginId, callback: OnSystemReturn);
    pub(crate) fn qemu_plugin_register_atexit_cb(
        id: PluginId,
        callback: extern "C" fn(PluginId, *mut c_void),
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    pub(crate) fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    pub(crate) fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        callback: OnBlock,
        registers: c_uint,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    pub(crate) fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    pub(crate) fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: OnBlock,
        registers: c_uint,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        callback: OnAccess,
        registers: c_uint,
        which: c_uint,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_mem_size_shift(access: u32) -> c_uint;
    pub(crate) fn qemu_plugin_mem_is_store(access: u32) -> bool;
    pub(crate) fn qemu_plugin_start_code() -> u64;
    pub(crate) fn qemu_plugin_path_to_binary() -> *const c_char;
}

const _: () = assert!(size_of::<c_int>() == 4, "versions are of four bytes");
