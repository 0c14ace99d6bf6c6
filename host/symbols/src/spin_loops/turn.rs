//! What a turn of a loop does so far, instruction by instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use iced_x86::{
    ConditionCode, Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register, UsedMemory,
};

use crate::spin_loops::value::{Address, Base, Stack, Value};

/// The number of the system call by which a thread lets others run.
const SCHED_YIELD: u64 = 24;

/// Something that keeps its value from one turn to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    Register(Register),
    Flags,
    /// A byte of the stack, so far above what the stack pointer was.
    Byte(i64),
    /// Memory that is no part of the turn's own stack. No turn writes it.
    Memory,
}

/// Places, as they were when the turn began.
pub(crate) type Origins = BTreeSet<Location>;

/// A read of memory that is no part of the turn's own stack, or of what the turn never wrote there.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    /// The address, if it is known by what was there when the turn began.
    pub(crate) address: Option<Address>,
    /// As the instruction has it.
    pub(crate) spelled: Address,
    /// What the address was made from.
    pub(crate) from: Origins,
}

/// A branch that might have gone another way.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    /// The places whose values decided which way it went.
    pub(crate) from: Origins,
    /// Where it would have gone.
    pub(crate) other: u64,
    /// In how many calls of the turn it was; fewer than none are calls that had begun before.
    pub(crate) depth: i32,
}

/// What a turn did until now.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    stack: Rc<Stack>,
    pub(crate) instructions: Vec<u64>,
    /// The registers that were written.
    registers: BTreeMap<Register, Value>,
    /// What was written to the stack: where, how many bytes, what.
    slots: BTreeMap<i64, (u8, Value)>,
    /// From what each place that was written has its value.
    of: BTreeMap<Location, Origins>,
    /// The words of the stack that had to be looked at to follow the code.
    pub(crate) looked_at: BTreeMap<i64, u64>,
    pub(crate) reads: Vec<Read>,
    /// Reads of the stack where the turn had written nothing.
    pub(crate) own_reads: Vec<Read>,
    pub(crate) branches: Vec<Branch>,
    /// Whether it makes a system call whose number was there when the turn began.
    enters: bool,
    /// Whether the last comparison came to zero, if that is known.
    zero: Option<bool>,
    /// Where the last return led, if that is known.
    pub(crate) returns_to: Option<u64>,
    pub(crate) depth: i32,
    pub(crate) least_depth: i32,
    /// Whether it says by `pause` that it waits.
    pub(crate) pauses: bool,
    /// Whether it tries to take something.
    pub(crate) tries: bool,
}

/// What an instruction reads besides registers and flags.
#[derive(Debug, Default)]
struct Taken {
    from: Origins,
    /// The value, if it is a single one.
    value: Option<Value>,
    /// Where on the stack it writes, and how many bytes.
    to: Vec<(i64, u8)>,
}

impl Turn {
    pub(crate) fn new(stack: Rc<Stack>) -> Self {
        Self {
            stack,
            instructions: Vec::new(),
            registers: BTreeMap::new(),
            slots: BTreeMap::new(),
            of: BTreeMap::new(),
            looked_at: BTreeMap::new(),
            reads: Vec::new(),
            own_reads: Vec::new(),
            branches: Vec::new(),
            enters: false,
            zero: None,
            returns_to: None,
            depth: 0,
            least_depth: 0,
            pauses: false,
            tries: false,
        }
    }

    /// Takes an instruction. Returns nothing if no turn of a spin loop has such a one.
    pub(crate) fn take(
        &mut self,
        instruction: &Instruction,
        factory: &mut InstructionInfoFactory,
        word: impl Fn(u64) -> Option<u64>,
    ) -> Option<()> {
        self.instructions.push(instruction.ip());
        self.pauses |= instruction.mnemonic() == Mnemonic::Pause;
        self.tries |= exchanges(instruction);
        if instruction.mnemonic() == Mnemonic::Syscall {
            return self.call_the_system();
        }
        if is_a_source(instruction) {
            return None;
        }
        let info = factory.info(instruction);
        self.look_for(instruction, info, word);
        self.returns_to = self.return_address();
        let taken = self.touch(instruction, info)?;
        let from = self.origins(instruction, info, &taken);
        let value = self.result(instruction, &taken);
        let zero = self.comes_to_zero(instruction);
        let stack = self.stack_pointer(instruction, info)?;
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            self.set(instruction, used.register(), used.access(), &from, value);
        }
        if let Some(stack) = stack {
            self.registers.insert(Register::RSP, Value::on_stack(stack));
        }
        for (at, size) in taken.to {
            self.store(at, size, value, &from);
        }
        if instruction.rflags_modified() != 0 {
            self.zero = zero;
            self.of.insert(Location::Flags, from);
        }
        Some(())
    }

    /// The value of a register now.
    pub(crate) fn value(&self, register: Register) -> Value {
        let full = register.full_register();
        self.registers.get(&full).copied().unwrap_or_else(|| self.first(full))
    }

    /// Goes one way at a branch, and not the other.
    pub(crate) fn branch(&mut self, instruction: &Instruction, other: u64) {
        let counts = instruction.is_jcx_short() || instruction.is_loop() || instruction.is_loopcc();
        let mut from =
            if counts { self.from(Location::Register(Register::RCX)) } else { Origins::new() };
        if instruction.rflags_read() != 0 {
            from.extend(self.from(Location::Flags));
        }
        self.branches.push(Branch { from, other, depth: self.depth });
    }

    /// Whether a branch jumps, if that is known.
    pub(crate) fn jumps(&self, instruction: &Instruction) -> Option<bool> {
        match instruction.condition_code() {
            ConditionCode::e => self.zero,
            ConditionCode::ne => self.zero.map(|zero| !zero),
            _ => None,
        }
    }

    /// Whether an instruction that compares known values comes to zero.
    fn comes_to_zero(&self, instruction: &Instruction) -> Option<bool> {
        let value = |operand| match instruction.try_op_kind(operand) {
            Ok(OpKind::Register) => match self.value(instruction.op_register(operand)) {
                Value::Known(value) => Some(value),
                _ => None,
            },
            _ => instruction.try_immediate(operand).ok(),
        };
        let (a, b) = (value(0)?, value(1)?);
        let size = instruction.op0_register().size();
        let made = match instruction.mnemonic() {
            Mnemonic::Test => a & b,
            Mnemonic::Cmp => a.wrapping_sub(b),
            _ => return None,
        };
        Some(Value::Known(made).cut(size) == Value::Known(0))
    }

    /// What is at the top of the stack, if it is known: where a return leads.
    fn return_address(&self) -> Option<u64> {
        match self.load(self.value(Register::RSP).stack_offset()?, 8) {
            Value::Known(to) => Some(to),
            _ => None,
        }
    }

    /// The places that are not as they were when the turn began, with what each has its value from.
    pub(crate) fn changed(&self) -> BTreeMap<Location, Origins> {
        let mut changed = self.of.clone();
        changed.retain(|place, _| match place {
            Location::Register(register) => self.value(*register) != self.first(*register),
            _ => true,
        });
        for (at, (size, value)) in &self.slots {
            if *value == self.first_load(*at, *size) {
                bytes(*at, *size).for_each(|byte| drop(changed.remove(&byte)));
            }
        }
        changed
    }

    /// Whether the stack is as it was, as far as it says where the code goes on.
    pub(crate) fn is_level(&self) -> bool {
        self.value(Register::RSP) == self.first(Register::RSP)
            && self.looked_at.keys().all(|at| self.load(*at, 8) == self.first_load(*at, 8))
    }

    /// Whether a turn that begins with a system call ends with the number of the one that a loop may make.
    pub(crate) fn is_as_entered(&self) -> bool {
        !self.enters || self.value(Register::RAX) == Value::Known(SCHED_YIELD)
    }

    /// The places in which a turn adds a number to what was there, and does nothing else.
    pub(crate) fn counters(&self) -> Origins {
        let registers = self.registers.iter().filter_map(|(register, value)| match value {
            Value::Start { base: Base::Register(of), plus, .. } if of == register && *plus != 0 => {
                Some(Location::Register(*register))
            }
            _ => None,
        });
        let slots = self.slots.iter().filter_map(|(at, (size, value))| match value {
            Value::Start { base: Base::Slot { at: of, size: whole }, plus, .. } => {
                (of == at && whole == size && *plus != 0).then(|| bytes(*at, *size))
            }
            _ => None,
        });
        registers.chain(slots.flatten()).collect()
    }

    /// What a register held when the turn began.
    fn first(&self, register: Register) -> Value {
        self.stack.pointers.get(&register).map_or(Value::of(register), |at| Value::on_stack(*at))
    }

    /// What was at a place of the stack when the turn began.
    fn first_load(&self, at: i64, size: u8) -> Value {
        match self.looked_at.get(&at) {
            Some(word) if size == 8 => {
                self.stack.offset(*word).map_or(Value::Known(*word), Value::on_stack)
            }
            _ => Value::Start { base: Base::Slot { at, size }, plus: 0, whole: size == 8 },
        }
    }

    /// What is at a place of the stack now.
    fn load(&self, at: i64, size: u8) -> Value {
        match self.slots.get(&at) {
            Some((stored, value)) if *stored == size => *value,
            _ if self.is_written(at, size) => Value::Other,
            _ => self.first_load(at, size),
        }
    }

    fn is_written(&self, at: i64, size: u8) -> bool {
        let end = at + i64::from(size);
        self.slots.range(..end).any(|(from, (size, _))| from + i64::from(*size) > at)
    }

    fn store(&mut self, at: i64, size: u8, value: Value, from: &Origins) {
        let end = at + i64::from(size);
        self.slots.retain(|from, (size, _)| *from >= end || *from + i64::from(*size) <= at);
        self.slots.insert(at, (size, value.cut(size.into())));
        for byte in bytes(at, size) {
            self.of.insert(byte, from.clone());
        }
    }

    fn from(&self, place: Location) -> Origins {
        if let Location::Register(register) = place
            && (register == Register::RSP || matches!(self.value(register), Value::Known(_)))
        {
            return Origins::new();
        }
        self.of.get(&place).cloned().unwrap_or_else(|| BTreeSet::from([place]))
    }

    /// Looks at the stack where a return address or a frame pointer comes from there that the turn did
    /// not put there: the thread was found in a function that had been called.
    fn look_for(
        &mut self,
        instruction: &Instruction,
        info: &InstructionInfo,
        word: impl Fn(u64) -> Option<u64>,
    ) {
        let is_frame = info
            .used_registers()
            .iter()
            .any(|used| used.register() == Register::RBP && writes(used.access()));
        if instruction.mnemonic() != Mnemonic::Ret && !is_frame {
            return;
        }
        for memory in info.used_memory().iter().filter(|memory| reads(memory.access())) {
            let (Some(at), 8) = (self.slot(memory), memory.memory_size().size()) else { continue };
            if self.is_written(at, 8) || self.looked_at.contains_key(&at) {
                continue;
            }
            if let Some(there) = word(self.stack.pointer.wrapping_add_signed(at)) {
                self.looked_at.insert(at, there);
            }
        }
    }

    /// Takes what an instruction does to memory.
    fn touch(&mut self, instruction: &Instruction, info: &InstructionInfo) -> Option<Taken> {
        let mut taken = Taken::default();
        let is_branch = instruction.is_jmp_near_indirect() || instruction.is_call_near_indirect();
        for memory in info.used_memory() {
            let access = memory.access();
            let size = memory.memory_size().size();
            if matches!(access, OpAccess::NoMemAccess) {
                continue;
            }
            let Some(at) = self.slot(memory) else {
                if writes(access) && !exchanges(instruction) || self.is_indexed_stack(memory) {
                    return None;
                }
                // Where functions of libraries are is not what a loop waits for.
                if !is_branch {
                    let read = self.read(memory);
                    taken.from.extend(read.from.iter().copied());
                    taken.from.insert(Location::Memory);
                    self.reads.push(read);
                }
                continue;
            };
            let size = u8::try_from(size).ok().filter(|size| *size > 0)?;
            if reads(access) {
                let from = bytes(at, size).flat_map(|byte| self.from(byte));
                taken.from.extend(from.collect::<Vec<_>>());
                taken.value = Some(self.load(at, size));
                if !self.is_written(at, size) {
                    let read = self.read(memory);
                    self.own_reads.push(read);
                }
            }
            if writes(access) {
                // It may not be written, and is one thing or another then.
                let sometimes = matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite);
                if sometimes || exchanges(instruction) {
                    return None;
                }
                taken.to.push((at, size));
            }
        }
        Some(taken)
    }

    /// From what an instruction makes what it makes.
    fn origins(&self, instruction: &Instruction, info: &InstructionInfo, taken: &Taken) -> Origins {
        let mut from = taken.from.clone();
        let exchanged = instruction.mnemonic() == Mnemonic::Cmpxchg;
        for used in info.used_registers().iter().filter(|used| reads(used.access())) {
            // What a compare-and-swap that failed leaves there was in memory.
            let register = used.register().full_register();
            if !(exchanged && register == Register::RAX) {
                from.extend(self.from(Location::Register(register)));
            }
        }
        if instruction.rflags_read() != 0 {
            from.extend(self.from(Location::Flags));
        }
        from
    }

    fn set(
        &mut self,
        instruction: &Instruction,
        register: Register,
        access: OpAccess,
        from: &Origins,
        value: Value,
    ) {
        let full = register.full_register();
        let exchanged = instruction.mnemonic() == Mnemonic::Cmpxchg;
        let sometimes = matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite);
        let mut made = from.clone();
        if sometimes && !exchanged {
            made.extend(self.from(Location::Register(full)));
        }
        let is_result = !sometimes && register.size() >= 4;
        let value = if is_result { value.cut(register.size()) } else { Value::Other };
        self.registers.insert(full, value);
        self.of.insert(Location::Register(full), made);
    }

    /// What an instruction writes to the one place that it writes, if that can be told.
    fn result(&self, instruction: &Instruction, taken: &Taken) -> Value {
        use Mnemonic::{Add, Call, Dec, Inc, Lea, Leave, Mov, Pop, Push, Sub, Xor};
        let last = instruction.op_count().wrapping_sub(1);
        let immediate = || instruction.try_immediate(last).ok();
        let source = |operand: u32| match instruction.try_op_kind(operand) {
            Ok(OpKind::Register) => self.value(instruction.op_register(operand)),
            Ok(OpKind::Memory) => taken.value.unwrap_or(Value::Other),
            _ => immediate().map_or(Value::Other, Value::Known),
        };
        let same = instruction.op_count() == 2
            && instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        let by = |sign: i64| match immediate() {
            Some(more) => source(0).plus((more as i64).wrapping_mul(sign)),
            None => Value::Other,
        };
        match instruction.mnemonic() {
            Mov => source(1),
            Push => source(0),
            Pop | Leave => taken.value.unwrap_or(Value::Other),
            Call => Value::Known(instruction.next_ip()),
            Lea => self.pointed(instruction),
            Xor | Sub if same => Value::Known(0),
            Add => by(1),
            Sub => by(-1),
            Inc => source(0).plus(1),
            Dec => source(0).plus(-1),
            _ => Value::Other,
        }
    }

    /// Where the stack pointer is after an instruction that moves it. Nothing if that cannot be told.
    fn stack_pointer(
        &self,
        instruction: &Instruction,
        info: &InstructionInfo,
    ) -> Option<Option<i64>> {
        let moves = info
            .used_registers()
            .iter()
            .any(|used| used.register().full_register() == Register::RSP && writes(used.access()));
        if !moves {
            return Some(None);
        }
        let here = self.value(Register::RSP).stack_offset()?;
        let to = match instruction.mnemonic() {
            Mnemonic::Leave => self.value(Register::RBP).stack_offset()?.wrapping_add(8),
            Mnemonic::Pop if instruction.op0_register() == Register::RSP => return None,
            _ if instruction.is_stack_instruction() => {
                here.wrapping_add(instruction.stack_pointer_increment().into())
            }
            _ => self.result(instruction, &Taken::default()).stack_offset()?,
        };
        Some(Some(to))
    }

    /// A thread lets others run, and goes on as before.
    fn call_the_system(&mut self) -> Option<()> {
        // The number may have been put there before the turn began.
        let number = self.value(Register::RAX);
        self.enters |= number == self.first(Register::RAX);
        if !self.enters && number != Value::Known(SCHED_YIELD) {
            return None;
        }
        for register in [Register::RAX, Register::RCX, Register::R11] {
            self.registers.insert(register, Value::Other);
            self.of.insert(Location::Register(register), Origins::new());
        }
        Some(())
    }

    /// The address that `lea` makes.
    fn pointed(&self, instruction: &Instruction) -> Value {
        let displacement = instruction.memory_displacement64();
        match (instruction.memory_base(), instruction.memory_index()) {
            (Register::RIP | Register::EIP | Register::None, Register::None) => {
                Value::Known(displacement)
            }
            (base, Register::None) => self.value(base).plus(displacement as i64),
            _ => Value::Other,
        }
    }

    /// Where on the stack memory is, if it is there.
    fn slot(&self, memory: &UsedMemory) -> Option<i64> {
        let plain = memory.index() == Register::None && plain(memory.segment()) == Register::None;
        let offset = self.value(memory.base()).stack_offset().filter(|_| plain)?;
        Some(offset.wrapping_add(memory.displacement() as i64))
    }

    /// Whether it is somewhere on the stack, and nobody knows where.
    fn is_indexed_stack(&self, memory: &UsedMemory) -> bool {
        memory.index() != Register::None && self.value(memory.base()).stack_offset().is_some()
    }

    fn read(&self, memory: &UsedMemory) -> Read {
        let from = [memory.base(), memory.index()]
            .into_iter()
            .filter(|by| *by != Register::None)
            .flat_map(|by| self.from(Location::Register(by.full_register())))
            .collect();
        Read { address: self.address(memory), spelled: spelled(memory), from }
    }

    fn address(&self, memory: &UsedMemory) -> Option<Address> {
        let mut address = spelled(memory);
        if let Some(Base::Register(register)) = address.base {
            match self.value(register) {
                Value::Known(known) => {
                    address.base = None;
                    address.displacement = address.displacement.wrapping_add(known);
                }
                Value::Start { base, plus, whole: true } => {
                    address.base = Some(base);
                    address.displacement = address.displacement.wrapping_add_signed(plus);
                }
                _ => return None,
            }
        }
        if let Some((index, scale)) = address.index {
            match self.value(index) {
                Value::Start { base: Base::Register(register), plus, whole: true } => {
                    address.index = Some((register, scale));
                    let plus = plus.wrapping_mul(scale.into());
                    address.displacement = address.displacement.wrapping_add_signed(plus);
                }
                _ => return None,
            }
        }
        Some(address)
    }
}

fn spelled(memory: &UsedMemory) -> Address {
    let base = match memory.base() {
        Register::None | Register::RIP | Register::EIP => None,
        register => Some(Base::Register(register)),
    };
    let index = (memory.index() != Register::None).then(|| (memory.index(), memory.scale()));
    Address { segment: plain(memory.segment()), base, index, displacement: memory.displacement() }
}

/// A segment, or none where 64-bit code uses it for nothing.
const fn plain(segment: Register) -> Register {
    match segment {
        Register::FS | Register::GS => segment,
        _ => Register::None,
    }
}

fn bytes(at: i64, size: u8) -> impl Iterator<Item = Location> {
    (at..at + i64::from(size)).map(Location::Byte)
}

/// Whether an instruction takes a lock that is free and changes nothing if it is not.
fn exchanges(instruction: &Instruction) -> bool {
    use Mnemonic::{Bts, Cmpxchg, Cmpxchg8b, Cmpxchg16b, Xchg};
    match instruction.mnemonic() {
        Bts => instruction.has_lock_prefix(),
        mnemonic => matches!(mnemonic, Xchg | Cmpxchg | Cmpxchg8b | Cmpxchg16b),
    }
}

/// Whether it asks something other than memory, such as the clock: then the loop waits for that.
fn is_a_source(instruction: &Instruction) -> bool {
    use Mnemonic::{Cpuid, In, Rdpmc, Rdrand, Rdseed, Rdtsc, Rdtscp, Xgetbv};
    let mnemonic = instruction.mnemonic();
    matches!(mnemonic, Rdtsc | Rdtscp | Rdrand | Rdseed | Rdpmc | Cpuid | Xgetbv | In)
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}
