//! Words that threads on the processor wait for: short loops that read one word again and again.
//!
//! Where a timer finds a thread in user space, the code there is read on from that place. If it
//! comes back to where it was within a few instructions, having read a word and written none, the
//! thread spins on that word. A loop that moves on to the next word, as a search through a text does,
//! is none: it changes the register by which it reads. The watchpoint then tells whether others write
//! to the word.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
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

/// Code around places, as it was read.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    code: BTreeMap<(Pid, u64), Code>,
}

/// Code, and the address at which it begins.
#[derive(Debug)]
struct Code {
    begin: u64,
    bytes: Vec<u8>,
}

impl Code {
    /// What is around a place; only from there on, if there is nothing before.
    fn around(pid: Pid, place: u64) -> Self {
        let begin = place.saturating_sub(CODE as u64);
        let bytes = read(pid, begin, 2 * CODE);
        if bytes.len() > CODE {
            return Self { begin, bytes };
        }
        Self { begin: place, bytes: read(pid, place, CODE) }
    }

    /// The instruction at an address, if there is one.
    fn instruction(&self, at: u64) -> Option<Instruction> {
        let offset = usize::try_from(at.checked_sub(self.begin)?).ok()?;
        let bytes = self.bytes.get(offset..)?;
        let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }
}

impl Loops {
    /// The word that a thread with these registers spins on, if it does.
    pub(crate) fn word(&mut self, pid: Pid, registers: &Registers) -> Option<Word> {
        let from = registers.ip();
        let code = self.code.entry((pid, from)).or_insert_with(|| Code::around(pid, from));
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

/// What a loop does to registers and memory.
struct Deeds {
    information: InstructionInfoFactory,
    reads: Vec<u64>,
    /// The registers by which it reads, and those that it changes.
    read_by: BTreeSet<Register>,
    changed: BTreeSet<Register>,
}

impl Deeds {
    fn new() -> Self {
        Self {
            information: InstructionInfoFactory::new(),
            reads: Vec::new(),
            read_by: BTreeSet::new(),
            changed: BTreeSet::new(),
        }
    }

    /// The one address that is read again and again, if that is so.
    fn one_address(&self) -> Option<u64> {
        let first = *self.reads.first()?;
        let same = self.reads.iter().all(|address| *address == first);
        (same && self.read_by.is_disjoint(&self.changed)).then_some(first)
    }

    /// The address that an instruction reads, if it does. Returns `None` at all if it writes to memory
    /// for more than to take a lock: then this is work.
    fn touched(&mut self, instruction: &Instruction, registers: &Registers) -> Option<Option<u64>> {
        let operand = (0..instruction.op_count())
            .find(|operand| instruction.op_kind(*operand) == OpKind::Memory);
        let Some(operand) = operand else { return Some(None) };
        if matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
            return Some(None);
        }
        let access = self.information.info(instruction).op_access(operand);
        let takes = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
        if !matches!(access, OpAccess::Read | OpAccess::CondRead) && !takes {
            return None;
        }
        let address =
            instruction.virtual_address(operand, 0, |register, _, _| registers.get(register));
        Some(address)
    }

    /// Takes what an instruction does to registers.
    fn change(&mut self, instruction: &Instruction) {
        let used = self.information.info(instruction).used_registers();
        let written = used.iter().filter(|used| {
            use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
            matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite)
        });
        self.changed.extend(written.map(|used| used.register().full_register()));
    }
}

/// The address that a loop around the registers' instruction pointer reads. `code` is what is
/// there. What the loop reads between that place and its end decides.
fn spun_on(code: &Code, registers: &Registers) -> Option<u64> {
    let from = registers.ip();
    let mut deeds = Deeds::new();
    let (mut at, mut is_back) = (from, false);
    for step in 0..LOOP {
        if step > 0 && at == from {
            return deeds.one_address();
        }
        let Some(instruction) = code.instruction(at) else { break };
        if !is_back && let Some(address) = deeds.touched(&instruction, registers)? {
            deeds.reads.push(address);
            let by = [instruction.memory_base(), instruction.memory_index()];
            deeds.read_by.extend(by.map(Register::full_register));
        }
        deeds.change(&instruction);
        at = match instruction.flow_control() {
            FlowControl::Next => instruction.next_ip(),
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            FlowControl::ConditionalBranch => {
                let target = instruction.near_branch_target();
                // A loop is left forwards and closed backwards.
                let closes = loop_range(from).contains(&target) && target <= instruction.ip();
                if closes { target } else { instruction.next_ip() }
            }
            _ => break,
        };
        is_back |= at < from;
    }
    // The loop has been closed, though the way back to the place was not found: a branch forwards may
    // lead there, or what is before it is out of reach.
    is_back.then(|| deeds.one_address()).flatten()
}

fn loop_range(from: u64) -> Range<u64> {
    from.saturating_sub(CODE as u64)..from.saturating_add(CODE as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x7000;

    /// Code that begins at an address.
    fn code(begin: u64, bytes: &[u8]) -> Code {
        Code { begin, bytes: bytes.to_vec() }
    }

    fn registers(ip: u64) -> Registers {
        let mut registers = Registers::default();
        registers.0[5] = WORD;
        registers.0[8] = ip;
        registers
    }

    #[test]
    fn a_loop_that_reads_one_word_is_a_spin() {
        // pause; cmpl $0,(%rdi); jne back; ret
        let bytes = [0xf3, 0x90, 0x83, 0x3f, 0x00, 0x75, 0xf9, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), Some(WORD));
        // Found in its middle, with what is before it and without.
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1002)), Some(WORD));
        assert_eq!(spun_on(&code(0x1002, &bytes[2..]), &registers(0x1002)), Some(WORD));
    }

    #[test]
    fn a_loop_that_begins_with_a_try_is_a_spin() {
        // 1: lock decl (%rdi); jne 2f; xor %eax,%eax; ret; 2: pause; cmpl $0,(%rdi); jg 1b; jmp 2b
        let bytes = [
            0xf0, 0xff, 0x0f, 0x75, 0x03, 0x31, 0xc0, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf1,
            0xeb, 0xf7,
        ];
        for from in [8, 10] {
            let found = spun_on(&code(0x1000, &bytes), &registers(0x1000 + from));
            assert_eq!(found, Some(WORD), "from {from}");
        }
    }

    #[test]
    fn a_loop_that_tries_again_and_again_is_a_spin() {
        // 1: lock decl (%rdi); jns out; 2: pause; cmpl $0,(%rdi); jle 2b; jmp 1b
        let bytes = [
            0xf0, 0xff, 0x0f, 0x79, 0x0b, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7e, 0xf9, 0xeb, 0xf2, 0xc3,
            0xc3,
        ];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1005)), Some(WORD));
        assert_eq!(spun_on(&code(0x1005, &bytes[5..]), &registers(0x1005)), Some(WORD));
    }

    #[test]
    fn a_loop_that_works_is_none() {
        // mov %eax,(%rdi); add $4,%rdi; cmp %rdx,%rdi; jne back; ret
        let bytes = [0x89, 0x07, 0x48, 0x83, 0xc7, 0x04, 0x48, 0x39, 0xd7, 0x75, 0xf5, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), None);
        assert_eq!(spun_on(&code(0x1000, &[0xc3]), &registers(0x1000)), None);
        assert_eq!(spun_on(&code(0x1000, &[]), &registers(0x1000)), None);
    }

    #[test]
    fn a_loop_that_reads_the_next_word_each_time_is_none() {
        // 1: cmpb $10,(%rdi); je out; inc %rdi; jmp 1b
        let bytes = [0x80, 0x3f, 0x0a, 0x74, 0x05, 0x48, 0xff, 0xc7, 0xeb, 0xf6, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), None);
        // 1: inc %rdi; cmpb $10,(%rdi); jne 1b, found behind the step.
        let bytes = [0x48, 0xff, 0xc7, 0x80, 0x3f, 0x0a, 0x75, 0xf8, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1003)), None);
    }
}
