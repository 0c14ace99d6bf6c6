//! The bytes of an instruction that QEMU is translating.

use crate::api::{self, Instruction};
use crate::guest_base::learn_base;
use crate::memory;

/// Writes the bytes of an instruction to the beginning of `bytes`, and returns how many they are. None if they
/// cannot be read.
///
/// # Safety
/// QEMU is translating the instruction.
pub unsafe fn instruction_bytes(instruction: *const Instruction, bytes: &mut [u8; 16]) -> usize {
    // SAFETY: as the caller promises.
    let (address, length, base) = unsafe {
        let address = api::qemu_plugin_insn_vaddr(instruction);
        (address, api::qemu_plugin_insn_size(instruction), learn_base(instruction))
    };
    // No instruction of x86 has more than 15 bytes.
    let length = length.min(bytes.len() - 1);
    let at = address.wrapping_add(base);
    memory::read(at, &mut bytes[..length]).map_or(0, |()| length)
}
