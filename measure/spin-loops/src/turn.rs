//! What a turn of a loop does, and whether the next one goes on from it.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{
    Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, Register, UsedMemory,
};

/// A loop in which a thread waits for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinLoop {
    /// An instruction that reads memory, if all that do read the same address, and no register is changed
    /// that the address is made from.
    pub reads: Option<Instruction>,
    /// Whether it says by `pause` that it waits.
    pub pauses: bool,
    /// Whether it tries to take something in each turn: to get it at once takes the same instructions
    /// as to wait for it.
    pub tries: bool,
}

/// Something that keeps its value from one turn to the next. The flags are one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Register(Register),
    Flags,
}

/// From what places, as they were when the turn began, each place has its value.
#[derive(Debug, Default)]
struct Origins {
    of: BTreeMap<Place, BTreeSet<Place>>,
}

/// An address that an instruction reads: segment, base, index, scale and displacement.
type Address = (Register, Register, Register, u32, u64);

impl SpinLoop {
    /// Returns what loop it is whose turn is these instructions, from any of them until it is back there.
    pub(crate) fn of_turn(turn: &[Instruction]) -> Option<Self> {
        let mut factory = InstructionInfoFactory::new();
        let mut origins = Origins::default();
        let (mut pauses, mut tries) = (false, false);
        let mut reads: Vec<(Address, Instruction)> = Vec::new();
        for instruction in turn {
            pauses |= instruction.mnemonic() == Mnemonic::Pause;
            let info = factory.info(instruction);
            let exchanges = exchanges(instruction);
            tries |= exchanges;
            for memory in info.used_memory() {
                match memory.access() {
                    OpAccess::NoMemAccess => continue,
                    OpAccess::Read | OpAccess::CondRead => {}
                    _ if exchanges => {}
                    _ => return None,
                }
                reads.push((address(memory), *instruction));
            }
            if is_a_source(instruction) {
                return None;
            }
            origins.take(instruction, info);
        }
        let changed: BTreeSet<Register> = origins.registers().collect();
        let goes_on = origins.go_on();
        if !pauses && (reads.is_empty() || goes_on || rereads(&reads)) {
            return None;
        }
        let first = reads.first().copied().filter(|(first, _)| {
            let fixed = [first.1, first.2].iter().all(|by| !changed.contains(&by.full_register()));
            fixed && reads.iter().all(|(address, _)| address == first)
        });
        Some(Self { reads: first.map(|(_, instruction)| instruction), pauses, tries })
    }

    /// Whether threads that are found in it wait. Where a loop pauses and tries again, the try is not
    /// counted: most samples of a lock that nobody fights for fall just behind it.
    #[must_use]
    pub fn waits(&self) -> bool {
        !(self.pauses && self.tries)
    }
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
    use Mnemonic::{Cpuid, In, Rdpmc, Rdrand, Rdseed, Rdtsc, Rdtscp, Syscall, Xgetbv};
    let mnemonic = instruction.mnemonic();
    matches!(mnemonic, Rdtsc | Rdtscp | Rdrand | Rdseed | Rdpmc | Cpuid | Xgetbv | In | Syscall)
}

/// Whether a word is read twice with others between. A reader of data that are written seldom does so, to
/// see whether they were written meanwhile; it mostly takes a single turn.
fn rereads(reads: &[(Address, Instruction)]) -> bool {
    let distinct: BTreeSet<Address> = reads.iter().map(|(address, _)| *address).collect();
    distinct.len() > 1 && distinct.len() < reads.len()
}

fn address(memory: &UsedMemory) -> Address {
    (memory.segment(), memory.base(), memory.index(), memory.scale(), memory.displacement())
}

impl Origins {
    fn from(&self, place: Place) -> BTreeSet<Place> {
        self.of.get(&place).cloned().unwrap_or_else(|| BTreeSet::from([place]))
    }

    /// Takes what an instruction makes of places.
    fn take(&mut self, instruction: &Instruction, info: &InstructionInfo) {
        let exchanged = instruction.mnemonic() == Mnemonic::Cmpxchg;
        let mut from = BTreeSet::new();
        for used in info.used_registers() {
            // What a compare-and-swap that failed leaves there was in memory.
            let is_expected = exchanged && used.register().full_register() == Register::RAX;
            if reads(used.access()) && !is_expected {
                from.extend(self.from(Place::Register(used.register().full_register())));
            }
        }
        if instruction.rflags_read() != 0 {
            from.extend(self.from(Place::Flags));
        }
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            let place = Place::Register(used.register().full_register());
            let mut made = from.clone();
            let sometimes = matches!(used.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite);
            if sometimes && !exchanged {
                made.extend(self.from(place));
            }
            self.of.insert(place, made);
        }
        if instruction.rflags_modified() != 0 {
            self.of.insert(Place::Flags, from);
        }
    }

    /// The registers that are written.
    fn registers(&self) -> impl Iterator<Item = Register> {
        self.of.keys().filter_map(|place| match place {
            Place::Register(register) => Some(*register),
            Place::Flags => None,
        })
    }

    /// Whether a place is made from what it was itself a turn before, or some turns before. Where none is,
    /// every place has soon become what the memory and what nobody changes make of it, and stays that.
    fn go_on(&self) -> bool {
        let mut left: BTreeMap<Place, BTreeSet<Place>> = self.of.clone();
        loop {
            let settled: Vec<Place> = left
                .iter()
                .filter(|(_, from)| from.iter().all(|one| !left.contains_key(one)))
                .map(|(place, _)| *place)
                .collect();
            if settled.is_empty() {
                return !left.is_empty();
            }
            settled.iter().for_each(|place| drop(left.remove(place)));
        }
    }
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}
