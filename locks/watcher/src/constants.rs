//! What registers were given.
//!
//! What a register had before it was exchanged with memory is gone. But a lock's code gives it a
//! constant shortly before, or copies another register that still has it. So the code before a place is
//! read for that.

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

/// How far back code is read, in bytes.
pub(crate) const BEFORE: usize = 64;

/// What a register was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// A constant.
    Constant(u64),
    /// What another register has, and has still.
    Copy(Register),
}

/// The constant that a register was given last before `end`, if it was one.
pub(crate) fn constant_in(register: Register, before: &[u8], end: u64) -> Option<u64> {
    match given_to(register, before, end)? {
        Given::Constant(constant) => Some(constant),
        Given::Copy(_) => None,
    }
}

/// What a register was given last before `end`, as far as the bytes before it tell.
/// They may be read from any place on; readings that end at `end` soon agree, and the one that
/// most agree on is taken.
pub(crate) fn given_to(register: Register, before: &[u8], end: u64) -> Option<Given> {
    let mut information = InstructionInfoFactory::new();
    let from = before.len().saturating_sub(BEFORE);
    let mut answers: Vec<(Option<Given>, usize)> = Vec::new();
    for start in from..before.len() {
        let Some(answer) = last_given(&mut information, register, &before[start..], end) else {
            continue;
        };
        match answers.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, count)) => *count += 1,
            None => answers.push((answer, 1)),
        }
    }
    let most = answers.iter().map(|(_, count)| *count).max()?;
    answers.into_iter().find(|(_, count)| *count == most)?.0
}

/// Reads instructions from the beginning of `bytes` to exactly its end. Returns `None` if that
/// cannot be, or if none of them writes the register; else what the last one gave it, if that is
/// known.
fn last_given(
    information: &mut InstructionInfoFactory,
    register: Register,
    bytes: &[u8],
    end: u64,
) -> Option<Option<Given>> {
    let begin = end.wrapping_sub(bytes.len() as u64);
    let mut decoder = Decoder::with_ip(64, bytes, begin, DecoderOptions::NONE);
    let mut answer = None;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let mut gives = |register: Register| {
            let whole = register.full_register();
            information.info(&instruction).used_registers().iter().any(|used| {
                used.register().full_register() == whole
                    && !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)
            })
        };
        let lost = matches!(answer, Some(Some(Given::Copy(of))) if gives(of));
        if gives(register) {
            answer = Some(given(&instruction));
        } else if lost {
            answer = Some(None);
        }
    }
    answer
}

/// What an instruction puts into its first operand, if that is a constant or a copy.
fn given(instruction: &Instruction) -> Option<Given> {
    match instruction.mnemonic() {
        Mnemonic::Mov if is_immediate(instruction.op1_kind()) => {
            Some(Given::Constant(instruction.immediate(1)))
        }
        Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
            Some(instruction.op1_register()).filter(|source| source.is_gpr()).map(Given::Copy)
        }
        Mnemonic::Xor | Mnemonic::Sub
            if instruction.op1_kind() == OpKind::Register
                && instruction.op0_register() == instruction.op1_register() =>
        {
            Some(Given::Constant(0))
        }
        Mnemonic::Or
            if is_immediate(instruction.op1_kind()) && instruction.immediate(1) == u64::MAX =>
        {
            Some(Given::Constant(u64::MAX))
        }
        _ => None,
    }
}

/// Whether an operand is a constant in the instruction.
pub(crate) fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
            | OpKind::Immediate64
    )
}
