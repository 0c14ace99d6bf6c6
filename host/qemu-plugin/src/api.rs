//! QEMU's functions and types, under its own names. They are the same in all versions of the interface from 1
//! on, but for [`add_inline`].

use std::ffi::{c_int, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};
use std::sync::OnceLock;

/// The plugin, as QEMU knows it.
pub type PluginId = u64;

/// Something of QEMU's, of which only the address is known.
#[repr(C)]
#[derive(Debug)]
pub struct Opaque {
    bytes: [u8; 0],
    elsewhere: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A block of instructions that is being translated.
pub type Block = Opaque;
/// An instruction of it.
pub type Instruction = Opaque;

/// A callback may not look at registers, so QEMU need not write them back.
pub const NO_REGISTERS: c_uint = 0;
/// Loads, as QEMU numbers kinds of accesses.
pub const LOAD: c_uint = 1;
/// Stores, as QEMU numbers kinds of accesses.
pub const STORE: c_uint = 2;
/// The addition, as QEMU numbers what can be done inline.
pub const ADD: c_uint = 0;

/// When a block is translated: the plugin, and the block.
pub type OnTranslation = extern "C" fn(PluginId, *mut Block);
/// At an access: the processor, what kind of access, where, and the registered pointer.
pub type OnAccess = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Before a block or an instruction: the processor, and the registered pointer.
pub type OnBlock = extern "C" fn(c_uint, *mut c_void);
/// Before a system call: the plugin, the processor, the call's number, and eight arguments.
pub type OnSystemCall =
    extern "C" fn(PluginId, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
/// After a system call: the plugin, the processor, the call's number, and what it returned.
pub type OnSystemReturn = extern "C" fn(PluginId, c_uint, i64, i64);
/// When the program exits: the plugin, and the registered pointer.
pub type OnExit = extern "C" fn(PluginId, *mut c_void);
/// When QEMU has forgotten what it was to call: the plugin.
pub type OnReset = extern "C" fn(PluginId);

unsafe extern "C" {
    /// Has the plugin called for each block that QEMU translates.
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, callback: OnTranslation);
    /// Has the plugin called before each system call.
    pub fn qemu_plugin_register_vcpu_syscall_cb(id: PluginId, callback: OnSystemCall);
    /// Has the plugin called after each system call that returns.
    pub fn qemu_plugin_register_vcpu_syscall_ret_cb(id: PluginId, callback: OnSystemReturn);
    /// Forgets what is to be called, and all that was translated, as soon as all threads of the program have left their
    /// translated code, and calls back then.
    pub fn qemu_plugin_reset(id: PluginId, callback: OnReset);
    /// Has the plugin called when the program exits.
    pub fn qemu_plugin_register_atexit_cb(id: PluginId, callback: OnExit, data: *mut c_void);
    /// How many instructions a block has.
    pub fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    /// Where a block begins in the program.
    pub fn qemu_plugin_tb_vaddr(block: *const Block) -> u64;
    /// An instruction of a block, from 0 on. It is there as long as QEMU translates the block.
    pub fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    /// Has a function called whenever a block begins.
    pub fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        callback: OnBlock,
        registers: c_uint,
        data: *mut c_void,
    );
    /// Where an instruction is in the program.
    pub fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    /// Where an instruction is in QEMU's process, in user mode. Null if QEMU does not know.
    pub fn qemu_plugin_insn_haddr(instruction: *const Instruction) -> *mut c_void;
    /// How many bytes an instruction has.
    pub fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    /// Has a function called whenever an instruction begins.
    pub fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: OnBlock,
        registers: c_uint,
        data: *mut c_void,
    );
    /// Has a function called at each access of an instruction: at [`LOAD`]s, at [`STORE`]s, or at both.
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        callback: OnAccess,
        registers: c_uint,
        which: c_uint,
        data: *mut c_void,
    );
    /// Where an access is in the machine's memory. Only whole machines have it, and only the callback of the access may
    /// ask. Null if QEMU does not know.
    pub fn qemu_plugin_get_hwaddr(access: u32, address: u64) -> *mut Opaque;
    /// Whether that is a device's.
    pub fn qemu_plugin_hwaddr_is_io(place: *const Opaque) -> bool;
    /// Its physical address.
    pub fn qemu_plugin_hwaddr_phys_addr(place: *const Opaque) -> u64;
    /// The binary logarithm of how many bytes an access has.
    pub fn qemu_plugin_mem_size_shift(access: u32) -> c_uint;
    /// Whether an access stores.
    pub fn qemu_plugin_mem_is_store(access: u32) -> bool;
}

/// QEMU's `qemu_plugin_register_vcpu_tb_exec_inline`: whenever this block begins, [`ADD`] a number to the one
/// at an address. The addition is not atomic, and all threads of the program add to the same number.
pub type AddInline = unsafe extern "C" fn(*mut Block, c_uint, *mut c_void, u64);

/// The function by which blocks add inline, without a callback. Only version 1 of the interface has it;
/// later ones add for each processor apart, by other functions.
#[must_use]
pub fn add_inline() -> Option<AddInline> {
    static FOUND: OnceLock<Option<AddInline>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let name = c"qemu_plugin_register_vcpu_tb_exec_inline";
        // SAFETY: a C string, looked up among all that is loaded.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: QEMU's function of this name has this type, and a null pointer is `None`.
        unsafe { std::mem::transmute::<*mut c_void, Option<AddInline>>(found) }
    })
}

const _: () = assert!(size_of::<c_int>() == 4, "versions are of four bytes");
