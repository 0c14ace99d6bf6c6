//! The registers of user space in a sample.

use iced_x86::Register;
use kilocore_symbols::spin_loops::place;
pub(crate) use kilocore_symbols::spin_loops::{COUNT, SAMPLED};

/// The instruction of a system call.
pub(crate) const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// Where they are among those of a sample: in the order of their numbers.
const AX: usize = 0;
const BX: usize = 1;
const DX: usize = 3;
const SI: usize = 4;
const DI: usize = 5;
const BP: usize = 6;
const SP: usize = 7;
const IP: usize = 8;
const FLAGS: usize = 9;
const R8: usize = 10;

/// The zero and the sign among the flags.
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;

/// The registers of a thread in user space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Registers(pub(crate) [u64; COUNT]);

impl Registers {
    /// Where the thread goes on.
    pub(crate) fn ip(&self) -> u64 {
        self.0[IP]
    }

    /// The stack pointer: the address of the innermost entry of the stack.
    pub(crate) fn sp(&self) -> u64 {
        self.0[SP]
    }

    /// The frame pointer, where code keeps one.
    pub(crate) fn bp(&self) -> u64 {
        self.0[BP]
    }

    /// The first argument of a function of Go.
    pub(crate) fn first_of_go(&self) -> u64 {
        self.0[AX]
    }

    /// The second argument of a function of Go.
    pub(crate) fn second_of_go(&self) -> u64 {
        self.0[BX]
    }

    /// The goroutine that a thread runs, as code of Go keeps it.
    pub(crate) fn goroutine(&self) -> u64 {
        self.0[R8 + 6]
    }

    /// The first three arguments of a system call in which the thread is.
    pub(crate) fn arguments(&self) -> [u64; 3] {
        [self.0[DI], self.0[SI], self.0[DX]]
    }

    /// Those of a thread in a system call, as far as the system tells.
    pub(crate) fn of_call(call: &kilocore_linux::Call) -> Self {
        let mut registers = Self::default();
        let [a, b, c, ..] = call.arguments;
        (registers.0[DI], registers.0[SI], registers.0[DX]) = (a, b, c);
        (registers.0[SP], registers.0[IP]) = (call.stack, call.address);
        registers
    }

    /// Of a thread that is about to execute the instruction of a system call: the call's number, and
    /// the registers that the thread has in it.
    pub(crate) fn entering(mut self) -> (u64, Self) {
        self.0[IP] = self.0[IP].wrapping_add(SYSCALL.len() as u64);
        (self.0[AX], self)
    }

    /// Whether the last instruction that sets the flags came to 0.
    pub(crate) fn zero(&self) -> bool {
        self.0[FLAGS] & ZERO != 0
    }

    pub(crate) fn sign(&self) -> bool {
        self.0[FLAGS] & SIGN != 0
    }

    /// The value of a register, or of the part of one that the name stands for. None of those that
    /// are not sampled.
    pub(crate) fn get(&self, register: Register) -> Option<u64> {
        // The bases of the segments that 64-bit code uses for nothing else.
        if matches!(register, Register::ES | Register::CS | Register::SS | Register::DS) {
            return Some(0);
        }
        let whole = place(register)?;
        let value = self.0[whole];
        Some(match register {
            Register::AH | Register::BH | Register::CH | Register::DH => value >> 8 & 0xff,
            _ => value & mask(register.size()),
        })
    }
}

/// The lowest bytes of a word.
pub(crate) fn mask(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_in_whole_and_in_part() {
        let mut registers = Registers::default();
        registers.0[AX] = 0x1122_3344_5566_7788;
        registers.0[R8 + 7] = 5;
        for (register, value) in [
            (Register::RAX, 0x1122_3344_5566_7788),
            (Register::EAX, 0x5566_7788),
            (Register::AX, 0x7788),
            (Register::AL, 0x88),
            (Register::AH, 0x77),
            (Register::R15D, 5),
        ] {
            assert_eq!(registers.get(register), Some(value), "{register:?}");
        }
        assert_eq!(registers.get(Register::FS), None);
    }
}
