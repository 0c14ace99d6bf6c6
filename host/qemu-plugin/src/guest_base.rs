//! Where the program's addresses are in QEMU's process.

use std::sync::OnceLock;

use crate::api::{self, Instruction};

/// What is added to the program's addresses, once that is known.
static BASE: OnceLock<u64> = OnceLock::new();

/// What is added to the program's addresses to make QEMU's. Between machines of one kind it is nearly always nothing,
/// and it is none before QEMU has translated a block whose [bytes](crate::instruction_bytes) were asked for.
#[must_use]
pub fn guest_base() -> u64 {
    BASE.get().copied().unwrap_or(0)
}

/// Finds out what is added, once, and returns it.
///
/// # Safety
/// QEMU is translating the instruction.
pub(crate) unsafe fn learn_base(instruction: *const Instruction) -> u64 {
    if let Some(&base) = BASE.get() {
        return base;
    }
    // SAFETY: as the caller promises.
    let (here, there) = unsafe {
        (api::qemu_plugin_insn_haddr(instruction), api::qemu_plugin_insn_vaddr(instruction))
    };
    if here.is_null() {
        return guest_base();
    }
    *BASE.get_or_init(|| (here.addr() as u64).wrapping_sub(there))
}
