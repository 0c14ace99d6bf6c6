//! Words that threads on the processor wait for: short loops that read one word again and again.
//!
//! Where a timer finds a thread in user space, the code there is read on from that place. If it
//! comes back to where it was within a few instructions, having read a word and written none, the
//! thread spins on that word. The watchpoint then tells whether others write to it.

use std::collections::BTreeMap;
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind,
};

use crate::ids::{Pid, Word};
use crate::memory::read;
use crate::registers::Registers;

/// How many instructions a loop has at most.
const LOOP: usize = 24;
/// How much code is read from a place on.
const CODE: usize = 128;
/// How far from the stack pointer a thread's own variables lie, below it and above, in bytes.
const BELOW: u64 = 256;
const ABOVE: u64 = 1 << 16;

/// Code from places on, as it was read.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    code: BTreeMap<(Pid, u64), Vec<u8>>,
}

impl Loops {
    /// The word that a thread with these registers spins on, if it does.
    pub(crate) fn word(&mut self, pid: Pid, registers: &Registers) -> Option<Word> {
        let from = registers.ip();
        let code = self.code.entry((pid, from)).or_insert_with(|| read(pid, from, CODE));
        // A loop over a variable of its own is work, such as counting.
        let sp = registers.sp();
        let own = sp.saturating_sub(BELOW)..sp.saturating_add(ABOVE);
        let address = spun_on(code, registers).filter(|address| !own.contains(address))?;
        Some(Word { pid, address })
    }

    /// Forgets a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.code.retain(|(of, _), _| *of != pid);
    }
}

/// The address that a loop around the registers' instruction pointer reads. `code` is what is
/// there.
fn spun_on(code: &[u8], registers: &Registers) -> Option<u64> {
    let from = registers.ip();
    let mut information = InstructionInfoFactory::new();
    let mut decoder = Decoder::with_ip(64, code, from, DecoderOptions::NONE);
    let mut reads = Vec::new();
    let mut at = from;
    for step in 0..LOOP {
        if step > 0 && at == from {
            return only(&reads);
        }
        let offset = usize::try_from(at.checked_sub(from)?).ok()?;
        decoder.set_position(offset).ok()?;
        decoder.set_ip(at);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        if let Some(address) = touched(&mut information, &instruction, registers)? {
            reads.push(address);
        }
        at = match instruction.flow_control() {
            FlowControl::Next => instruction.next_ip(),
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            FlowControl::ConditionalBranch => {
                let target = instruction.near_branch_target();
                // A loop is left forwards and closed backwards.
                if loop_range(from).contains(&target) && target <= instruction.ip() {
                    if target < from {
                        // The loop begins before the place where the thread was found. What it
                        // reads after that place decides.
                        return only(&reads);
                    }
                    target
                } else {
                    instruction.next_ip()
                }
            }
            _ => return None,
        };
    }
    None
}

fn loop_range(from: u64) -> Range<u64> {
    from.saturating_sub(CODE as u64)..from.saturating_add(CODE as u64)
}

/// The one address, if all are the same.
fn only(reads: &[u64]) -> Option<u64> {
    let first = *reads.first()?;
    reads.iter().all(|address| *address == first).then_some(first)
}

/// The address that an instruction reads, if it does. Returns `None` at all if it writes to memory
/// for more than to take a lock: then this is work.
fn touched(
    information: &mut InstructionInfoFactory,
    instruction: &Instruction,
    registers: &Registers,
) -> Option<Option<u64>> {
    let operand =
        (0..instruction.op_count()).find(|operand| instruction.op_kind(*operand) == OpKind::Memory);
    let Some(operand) = operand else { return Some(None) };
    if matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
        return Some(None);
    }
    let access = information.info(instruction).op_access(operand);
    let takes = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
    if !matches!(access, OpAccess::Read | OpAccess::CondRead) && !takes {
        return None;
    }
    let address = instruction.virtual_address(operand, 0, |register, _, _| registers.get(register));
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x7000;

    fn registers(ip: u64) -> Registers {
        let mut registers = Registers::default();
        registers.0[5] = WORD;
        registers.0[8] = ip;
        registers
    }

    #[test]
    fn a_loop_that_reads_one_word_is_a_spin() {
        // pause; cmpl $0,(%rdi); jne back; ret
        let code = [0xf3, 0x90, 0x83, 0x3f, 0x00, 0x75, 0xf9, 0xc3];
        assert_eq!(spun_on(&code, &registers(0x1000)), Some(WORD));
        // Found in its middle.
        assert_eq!(spun_on(&code[2..], &registers(0x1002)), Some(WORD));
    }

    #[test]
    fn a_loop_that_tries_again_and_again_is_a_spin() {
        // 1: lock decl (%rdi); jns out; 2: pause; cmpl $0,(%rdi); jle 2b; jmp 1b
        let code = [
            0xf0, 0xff, 0x0f, 0x79, 0x0b, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7e, 0xf9, 0xeb, 0xf2, 0xc3,
            0xc3,
        ];
        assert_eq!(spun_on(&code[5..], &registers(0x1005)), Some(WORD));
    }

    #[test]
    fn a_loop_that_works_is_none() {
        // mov %eax,(%rdi); add $4,%rdi; cmp %rdx,%rdi; jne back; ret
        let code = [0x89, 0x07, 0x48, 0x83, 0xc7, 0x04, 0x48, 0x39, 0xd7, 0x75, 0xf5, 0xc3];
        assert_eq!(spun_on(&code, &registers(0x1000)), None);
        assert_eq!(spun_on(&[0xc3], &registers(0x1000)), None);
        assert_eq!(spun_on(&[], &registers(0x1000)), None);
    }
}
