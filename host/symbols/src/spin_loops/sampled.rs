//! The registers of user space that the kernel's samples carry.

use iced_x86::Register;

/// Those that are asked for, as the kernel numbers them: the general ones, the instruction pointer and the
/// flags.
pub const SAMPLED: u64 = 0xff_03ff;

/// How many these are.
pub const COUNT: usize = SAMPLED.count_ones() as usize;

/// The register that holds the stack pointer.
pub const STACK_POINTER: Register = Register::RSP;

/// Where a register is among those of a sample, or the one that it is a part of.
#[must_use]
pub fn place(register: Register) -> Option<usize> {
    let order = [
        Register::RAX,
        Register::RBX,
        Register::RCX,
        Register::RDX,
        Register::RSI,
        Register::RDI,
        Register::RBP,
        Register::RSP,
        Register::RIP,
        // The flags are between.
        Register::None,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    let full = register.full_register();
    order.iter().position(|one| *one == full && full != Register::None)
}
