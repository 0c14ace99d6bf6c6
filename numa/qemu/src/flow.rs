//! Which values each instruction of a block passes on to which registers and to memory.
//!
//! A block is decoded once, when it is translated. What is left of each instruction is a few sets of
//! registers, and only an instruction that uses memory is called about when it is executed: what those
//! before it did with registers is done then, too.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfo, InstructionInfoFactory, OpAccess,
    OpKind, Register, RflagsBits,
};

/// A set of registers, a bit for each: 16 general ones, 32 vectors, and the flags. The stack pointer is in
/// none: it is always known.
pub(crate) type Set = u64;

/// The bit of the first vector register.
const VECTORS: usize = 16;
/// The bit of the flags.
const FLAGS: usize = VECTORS + 32;
/// How many registers there are.
pub(crate) const REGISTERS: usize = FLAGS + 1;

/// The value of some registers comes from others, as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) from: Set,
    pub(crate) to: Set,
}

/// An instruction of a block.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) address: u64,
    /// The address behind it.
    pub(crate) next: u64,
    /// How many instructions of its block come after it.
    pub(crate) behind: u64,
    /// What those did that come before it, since the last one that uses memory.
    pub(crate) before: Box<[Step]>,
    /// What its addresses are made of.
    pub(crate) addressed: Set,
    /// Whether it uses the stack by the stack pointer.
    pub(crate) in_stack: bool,
    /// Registers that it reads and writes.
    pub(crate) step: Step,
    /// Registers whose values it writes to memory.
    pub(crate) stored: Set,
}

/// A block of instructions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    code: Box<[u8]>,
    pub(crate) sites: Box<[Site]>,
    /// What those instructions did that come behind the last one that uses memory.
    pub(crate) rest: Box<[Step]>,
}

/// All blocks, by the addresses where they begin. QEMU translates a block anew now and then, and finds the
/// same. They are never freed, because translated code refers to them.
static BLOCKS: LazyLock<Mutex<HashMap<u64, Vec<&'static Block>>>> = LazyLock::new(Mutex::default);

/// The block of these instructions: each address, and the instruction's bytes, which are empty if they
/// are not known.
pub(crate) fn block(instructions: &[(u64, Box<[u8]>)]) -> &'static Block {
    let code: Vec<u8> = instructions.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let begin = instructions.first().map_or(0, |(address, _)| *address);
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = blocks.entry(begin).or_default();
    let same =
        |block: &&&'static Block| *block.code == *code && block.sites.len() == instructions.len();
    if let Some(block) = known.iter().find(same) {
        return block;
    }
    let block: &'static Block = Box::leak(Box::new(decoded(code.into(), instructions)));
    known.push(block);
    block
}

/// What an instruction does, before it is known what comes after it.
#[derive(Debug, Default)]
struct Effect {
    uses_memory: bool,
    addressed: Set,
    in_stack: bool,
    step: Step,
    stored: Set,
}

fn decoded(code: Box<[u8]>, instructions: &[(u64, Box<[u8]>)]) -> Block {
    let mut factory = InstructionInfoFactory::new();
    let mut effects: Vec<Effect> =
        instructions.iter().map(|(at, bytes)| effect(*at, bytes, &mut factory)).collect();
    leave_out_flags(&mut effects);
    let mut pending = Vec::new();
    let mut sites = Vec::new();
    let count = instructions.len();
    for (index, (effect, (address, bytes))) in effects.iter().zip(instructions).enumerate() {
        let mut site = Site {
            address: *address,
            next: address.wrapping_add(bytes.len() as u64),
            behind: (count - 1 - index) as u64,
            ..Site::default()
        };
        if effect.uses_memory {
            site.before = std::mem::take(&mut pending).into();
            (site.addressed, site.in_stack) = (effect.addressed, effect.in_stack);
            (site.step, site.stored) = (effect.step, effect.stored);
        } else if effect.step.to != 0 {
            pending.push(effect.step);
        }
        sites.push(site);
    }
    Block { code, sites: sites.into(), rest: pending.into() }
}

/// Forgets flags that only branches look at, as processors guess where these lead. Those of a block's last
/// instructions are taken to be of that kind.
fn leave_out_flags(effects: &mut [Effect]) {
    const BIT: Set = 1 << FLAGS;
    let mut wanted = false;
    for effect in effects.iter_mut().rev() {
        let gives = effect.step.to & BIT != 0;
        if gives && !wanted {
            effect.step.to &= !BIT;
        }
        wanted &= !gives;
        wanted |= (effect.step.from | effect.stored) & BIT != 0
            && (effect.step.to != 0 || effect.stored != 0);
    }
}

fn effect(address: u64, bytes: &[u8], factory: &mut InstructionInfoFactory) -> Effect {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    if !decoder.can_decode() {
        return Effect::default();
    }
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return Effect::default();
    }
    let about = factory.info(&instruction);
    let mut effect = Effect { step: step(&instruction, about), ..Effect::default() };
    for memory in about.used_memory() {
        if memory.access() == OpAccess::NoMemAccess {
            continue;
        }
        effect.uses_memory = true;
        effect.addressed |= bit(memory.base()) | bit(memory.index());
        effect.in_stack |= memory.base().full_register() == Register::RSP;
        if writes(memory.access()) {
            effect.stored |= stored(&instruction, about);
        }
    }
    effect
}

/// The registers that an instruction reads and writes.
fn step(instruction: &Instruction, about: &InstructionInfo) -> Step {
    const ARITHMETIC: u32 = RflagsBits::OF
        | RflagsBits::SF
        | RflagsBits::ZF
        | RflagsBits::AF
        | RflagsBits::CF
        | RflagsBits::PF;
    let mut step = Step::default();
    for used in about.used_registers() {
        let (register, access) = (used.register(), used.access());
        if writes(access) {
            step.to |= bit(register);
        }
        // A register that is written in part, or maybe not at all, keeps something of what it was.
        let is_part = register.is_gpr() && register.size() < 4;
        if access != OpAccess::Write || is_part {
            step.from |= bit(register);
        }
    }
    if instruction.rflags_read() & ARITHMETIC != 0 {
        step.from |= 1 << FLAGS;
    }
    if instruction.rflags_modified() & ARITHMETIC != 0 {
        step.to |= 1 << FLAGS;
    }
    // String instructions move their pointers on, whatever they find there.
    let is_string = (0..instruction.op_count()).any(|operand| {
        matches!(instruction.op_kind(operand), OpKind::MemorySegRSI | OpKind::MemoryESRDI)
    });
    if is_string {
        step.to &= !(bit(Register::RSI) | bit(Register::RDI) | bit(Register::RCX));
    }
    step
}

/// The registers whose values an instruction writes to memory.
fn stored(instruction: &Instruction, about: &InstructionInfo) -> Set {
    let mut set = 0;
    for operand in 0..instruction.op_count() {
        let is_register = instruction.op_kind(operand) == OpKind::Register;
        if is_register && about.op_access(operand) != OpAccess::Write {
            set |= bit(instruction.op_register(operand));
        }
    }
    if step(instruction, about).from & 1 << FLAGS != 0 {
        set |= 1 << FLAGS;
    }
    set
}

fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn bit(register: Register) -> Set {
    let whole = register.full_register();
    if whole == Register::RSP {
        0
    } else if whole.is_gpr64() {
        1 << whole.number()
    } else if whole.is_vector_register() {
        1 << (VECTORS + whole.number())
    } else {
        0
    }
}
