//! What the instruction that has just written to a watched word did to it.
//!
//! A watchpoint tells of a write after it has happened: the address that is sampled is that of the
//! next instruction. So the instruction is looked for backwards. Of all the ways to read the bytes
//! before that address, the right one is a write to just the watched word, with the registers as
//! they are. What it stored is in its operands, or in a register that was given a constant or a
//! copy shortly before. What it found there is in a register, or follows from the flags.

use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

use crate::constants::{BEFORE, Given, given_to, is_immediate};
use crate::registers::{Registers, mask};

/// The longest instruction, in bytes.
const LONGEST: usize = 15;
/// How a value became another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is another, whatever it was.
    Stored,
    /// It stayed what it was: a compare-and-swap that failed.
    Nothing,
    /// So much was added.
    Added(u64),
    /// These bits were kept, and then these flipped.
    Bits { kept: u64, flipped: u64 },
    /// It was added to, or its bits changed, by an unknown value.
    Unknown,
}

/// A write to a word. Its values are those of the written bytes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    /// The address of the first byte written.
    pub(crate) address: u64,
    /// How many bytes were written: 1, 2, 4 or 8.
    pub(crate) size: usize,
    /// What was there before, if that is known.
    pub(crate) old: Option<u64>,
    /// What is there now, if that is known.
    pub(crate) new: Option<u64>,
    pub(crate) change: Change,
    /// Whether it is an atomic read-modify-write.
    pub(crate) atomic: bool,
    /// Whether the sum or the bits came to 0, if the flags tell.
    pub(crate) zero: Option<bool>,
    /// Whether they came to a value whose highest bit is set, if the flags tell.
    pub(crate) sign: Option<bool>,
}

/// An instruction that writes to a watched word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    instruction: Instruction,
    /// What the register with its source had been given, if that is known.
    given: Option<Given>,
}

impl Site {
    /// Finds the write to one of the `watched` bytes that ended at the registers' instruction
    /// pointer. `code` are the bytes before that, as many as could be read. Returns `None` if there
    /// is none, as after a copy of a block of memory.
    pub(crate) fn before(code: &[u8], registers: &Registers, watched: &Range<u64>) -> Option<Self> {
        let end = registers.ip();
        // An instruction without its prefixes is one, too, and hits the same word; so is one with a
        // byte before it that happens to be a prefix.
        let votes = last_lengths(code, end);
        let fitting = (1..=LONGEST.min(code.len())).filter_map(|length| {
            let bytes = &code[code.len() - length..];
            let instruction = decode(bytes, end.wrapping_sub(length as u64), length)?;
            let (address, size) = written(&instruction, registers)?;
            hits(address, size, watched).then_some((length, instruction))
        });
        let (length, instruction) = fitting.max_by_key(|(length, ..)| (votes[*length], *length))?;
        let before = &code[..code.len() - length];
        let given = match instruction.mnemonic() {
            Mnemonic::Xchg => given_to(register_operand(&instruction), before, instruction.ip()),
            Mnemonic::Xadd => given_to(instruction.op1_register(), before, instruction.ip()),
            _ => None,
        };
        Some(Self { instruction, given })
    }

    /// What the instruction has done with these registers; `None` if that was not a write to the
    /// `watched` bytes.
    pub(crate) fn write(&self, registers: &Registers, watched: &Range<u64>) -> Option<Write> {
        let (address, size) = written(&self.instruction, registers)?;
        let given = match self.given {
            Some(Given::Constant(constant)) => Some(constant),
            Some(Given::Copy(of)) => registers.get(of),
            None => None,
        };
        hits(address, size, watched)
            .then(|| effect(&self.instruction, given, registers, address, size))
    }
}

fn hits(address: u64, size: usize, watched: &Range<u64>) -> bool {
    address < watched.end && address.wrapping_add(size as u64) > watched.start
}

/// How many readings of the bytes before `end`, from different places on, end there with an
/// instruction of each length. Readings soon agree on where instructions begin.
fn last_lengths(code: &[u8], end: u64) -> [u32; LONGEST + 1] {
    let mut votes = [0; LONGEST + 1];
    for start in code.len().saturating_sub(BEFORE)..code.len() {
        let bytes = &code[start..];
        let begin = end.wrapping_sub(bytes.len() as u64);
        let mut decoder = Decoder::with_ip(64, bytes, begin, DecoderOptions::NONE);
        let mut last = 0;
        while decoder.can_decode() {
            let instruction = decoder.decode();
            last = if instruction.is_invalid() { 0 } else { instruction.len() };
            if last == 0 {
                break;
            }
        }
        votes[last] += u32::from(last > 0);
    }
    votes
}

/// The instruction that these bytes are, all of them.
fn decode(bytes: &[u8], address: u64, length: usize) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid() && instruction.len() == length).then_some(instruction)
}

/// Where an instruction writes to memory, and how many bytes.
fn written(instruction: &Instruction, registers: &Registers) -> Option<(u64, usize)> {
    let operand = (0..instruction.op_count())
        .find(|operand| instruction.op_kind(*operand) == OpKind::Memory)?;
    let mut information = InstructionInfoFactory::new();
    let info = information.info(instruction);
    let writes = matches!(
        info.op_access(operand),
        OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite | OpAccess::ReadCondWrite
    );
    let size = instruction.memory_size().size();
    if !writes || !matches!(size, 1 | 2 | 4 | 8) {
        return None;
    }
    let address = instruction.virtual_address(operand, 0, |register, _, _| registers.get(register));
    Some((address?, size))
}

/// What a write of an instruction did.
fn effect(
    instruction: &Instruction,
    given: Option<u64>,
    registers: &Registers,
    address: u64,
    size: usize,
) -> Write {
    let kept = mask(size);
    let flags = Write {
        address,
        size,
        old: None,
        new: None,
        change: Change::Unknown,
        atomic: instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg,
        zero: None,
        sign: None,
    };
    let counted = Write { zero: Some(registers.zero()), sign: Some(registers.sign()), ..flags };
    let operand = operand(instruction, registers).map(|value| value & kept);
    let given = given.map(|value| value & kept);
    let added = |by: Option<u64>| match by {
        Some(by) => Write { change: Change::Added(by & kept), ..counted },
        None => counted,
    };
    let bits = |stay: Option<u64>, flipped: Option<u64>| match (stay, flipped) {
        (Some(stay), Some(flipped)) => {
            Write { change: Change::Bits { kept: stay & kept, flipped: flipped & kept }, ..counted }
        }
        _ => counted,
    };
    match instruction.mnemonic() {
        Mnemonic::Cmpxchg => {
            let seen = registers.get(sized_accumulator(size)).map(|value| value & kept);
            if registers.zero() {
                Write { old: seen, new: operand, change: Change::Stored, ..flags }
            } else {
                Write { old: seen, new: seen, change: Change::Nothing, ..flags }
            }
        }
        Mnemonic::Xchg => {
            // The register holds what was in memory, whichever operand it is.
            let register = register_operand(instruction);
            let old = registers.get(register).map(|value| value & kept);
            Write { old, new: given, change: Change::Stored, ..flags }
        }
        Mnemonic::Xadd => Write { old: operand, ..added(given) },
        Mnemonic::Mov => Write { new: operand, change: Change::Stored, ..flags },
        Mnemonic::Inc => added(Some(1)),
        Mnemonic::Dec => added(Some(u64::MAX)),
        Mnemonic::Add => added(operand),
        Mnemonic::Sub => added(operand.map(u64::wrapping_neg)),
        Mnemonic::And => bits(operand, Some(0)),
        Mnemonic::Or => bits(operand.map(|value| !value), operand),
        Mnemonic::Xor => bits(Some(u64::MAX), operand),
        Mnemonic::Bts => bit(flags, operand, |bit| (!bit, bit)),
        Mnemonic::Btr => bit(flags, operand, |bit| (!bit, 0)),
        Mnemonic::Btc => bit(flags, operand, |bit| (u64::MAX, bit)),
        _ => flags,
    }
}

/// A write of one bit. These leave no flags that tell of the whole.
fn bit(flags: Write, index: Option<u64>, of: impl Fn(u64) -> (u64, u64)) -> Write {
    let Some(index) = index.filter(|index| *index < 8 * flags.size as u64) else { return flags };
    let (kept, flipped) = of(1 << index);
    let kept = kept & mask(flags.size);
    Write { change: Change::Bits { kept, flipped }, ..flags }
}

/// The value of the operand that is not in memory.
fn operand(instruction: &Instruction, registers: &Registers) -> Option<u64> {
    match instruction.op1_kind() {
        OpKind::Register => registers.get(instruction.op1_register()),
        kind if instruction.op_count() > 1 && is_immediate(kind) => Some(instruction.immediate(1)),
        _ => None,
    }
}

fn register_operand(instruction: &Instruction) -> Register {
    match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register(),
        _ => instruction.op1_register(),
    }
}

fn sized_accumulator(size: usize) -> Register {
    match size {
        1 => Register::AL,
        2 => Register::AX,
        4 => Register::EAX,
        _ => Register::RAX,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORD: u64 = 0x7000;
    const IP: u64 = 0x40_0000;

    /// Registers after an instruction: of each that matters, its place and value.
    fn registers(values: &[(usize, u64)]) -> Registers {
        let mut registers = Registers::default();
        registers.0[8] = IP;
        for (place, value) in values {
            registers.0[*place] = *value;
        }
        registers
    }

    fn read(code: &[u8], values: &[(usize, u64)]) -> Option<Write> {
        let registers = registers(values);
        Site::before(code, &registers, &(WORD..WORD + 4))?.write(&registers, &(WORD..WORD + 4))
    }

    const AX: usize = 0;
    const DX: usize = 3;
    const DI: usize = 5;
    const FLAGS: usize = 9;
    const ZF: u64 = 1 << 6;

    #[test]
    fn a_compare_and_swap_tells_whether_it_succeeded() {
        // lock cmpxchg %edx,(%rdi)
        let code = [0x90, 0xf0, 0x0f, 0xb1, 0x17];
        let done = read(&code, &[(DI, WORD), (DX, 1), (FLAGS, ZF)]).unwrap();
        assert_eq!((done.old, done.new, done.change), (Some(0), Some(1), Change::Stored));
        assert!(done.atomic && done.size == 4 && done.address == WORD);
        let failed = read(&code, &[(DI, WORD), (DX, 1), (AX, 2)]).unwrap();
        assert_eq!((failed.old, failed.new, failed.change), (Some(2), Some(2), Change::Nothing));
    }

    #[test]
    fn an_exchange_stores_what_its_register_was_given() {
        // xor %eax,%eax; mov %rsi,%rsi; xchg %eax,(%rdi)
        let release = [0x31, 0xc0, 0x48, 0x89, 0xf6, 0x87, 0x07];
        let write = read(&release, &[(DI, WORD), (AX, 2)]).unwrap();
        assert_eq!((write.old, write.new), (Some(2), Some(0)));
        // mov $2,%eax; xchg %eax,(%rdi)
        let mark = [0xb8, 2, 0, 0, 0, 0x87, 0x07];
        let write = read(&mark, &[(DI, WORD), (AX, 1)]).unwrap();
        assert_eq!((write.old, write.new, write.atomic), (Some(1), Some(2), true));
        // mov %edx,%eax; xchg %eax,(%rdi): the other register has it still.
        let copy = [0x89, 0xd0, 0x87, 0x07];
        assert_eq!(read(&copy, &[(DI, WORD), (AX, 1), (DX, 3)]).unwrap().new, Some(3));
        // mov %edx,%eax; inc %edx; xchg %eax,(%rdi): it has something else by now.
        let lost = [0x89, 0xd0, 0xff, 0xc2, 0x87, 0x07];
        assert_eq!(read(&lost, &[(DI, WORD), (AX, 1), (DX, 4)]).unwrap().new, None);
        // mov (%rdx),%eax; xchg %eax,(%rdi): nobody knows what was there.
        let loaded = [0x8b, 0x02, 0x87, 0x07];
        assert_eq!(read(&loaded, &[(DI, WORD), (AX, 1), (DX, WORD)]).unwrap().new, None);
    }

    #[test]
    fn additions_are_read_with_their_amount_and_their_flags() {
        // lock decl (%rdi)
        let write = read(&[0xf0, 0xff, 0x0f], &[(DI, WORD), (FLAGS, ZF)]).unwrap();
        assert_eq!((write.change, write.zero), (Change::Added(0xffff_ffff), Some(true)));
        // mov $-1,%eax; lock xadd %eax,(%rdi)
        let code = [0xb8, 0xff, 0xff, 0xff, 0xff, 0xf0, 0x0f, 0xc1, 0x07];
        let write = read(&code, &[(DI, WORD), (AX, 3)]).unwrap();
        assert_eq!((write.old, write.change), (Some(3), Change::Added(0xffff_ffff)));
        // lock sub $8,(%rdi)
        let write = read(&[0xf0, 0x83, 0x2f, 0x08], &[(DI, WORD)]).unwrap();
        assert_eq!(write.change, Change::Added(0xffff_fff8));
    }

    #[test]
    fn plain_stores_and_single_bits_are_read() {
        // movl $0,(%rdi)
        let write = read(&[0xc7, 0x07, 0, 0, 0, 0], &[(DI, WORD)]).unwrap();
        assert_eq!((write.new, write.change, write.atomic), (Some(0), Change::Stored, false));
        // movb $1,2(%rdi): one byte of the word
        let write = read(&[0xc6, 0x47, 2, 1], &[(DI, WORD)]).unwrap();
        assert_eq!((write.address, write.size, write.new), (WORD + 2, 1, Some(1)));
        // lock btrl $3,(%rdi)
        let write = read(&[0xf0, 0x0f, 0xba, 0x37, 3], &[(DI, WORD)]).unwrap();
        assert_eq!(write.change, Change::Bits { kept: 0xffff_fff7, flipped: 0 });
    }

    #[test]
    fn what_writes_elsewhere_is_no_write_to_the_word() {
        assert_eq!(read(&[0x87, 0x07], &[(DI, WORD + 64)]), None);
        assert_eq!(read(&[0x8b, 0x07], &[(DI, WORD)]), None, "a load");
        assert_eq!(read(&[], &[(DI, WORD)]), None);
    }

    proptest! {
        #[test]
        fn any_code_is_read_to_an_answer(
            code in proptest::collection::vec(any::<u8>(), 0..90),
            values in proptest::collection::vec((0..18usize, prop_oneof![Just(WORD), any::<u64>()]), 0..18),
        ) {
            if let Some(write) = read(&code, &values) {
                prop_assert!(write.address < WORD + 4);
                for value in [write.old, write.new].into_iter().flatten() {
                    prop_assert_eq!(value & !mask(write.size), 0);
                }
            }
        }
    }
}
