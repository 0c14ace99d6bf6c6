//! What is known of the value of a register, or of a word on the stack, during a turn.

use std::collections::BTreeMap;

use iced_x86::Register;

/// How far above the stack pointer, and below it, the variables of functions lie at most that a loop calls
/// or is called by.
const ABOVE: u64 = 1 << 20;
const BELOW: u64 = 256;

/// The stack of a thread where it was found.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) pointer: u64,
    /// The registers that point to it, and how far above the stack pointer.
    pub(crate) pointers: BTreeMap<Register, i64>,
}

impl Stack {
    pub(crate) fn new(registers: impl Fn(Register) -> Option<u64>) -> Self {
        let pointer = registers(Register::RSP).unwrap_or(0);
        let mut stack = Self { pointer, pointers: BTreeMap::from([(Register::RSP, 0)]) };
        let all = Register::values().filter(|register| register.is_gpr64());
        for register in all {
            if let Some(at) = registers(register).and_then(|value| stack.offset(value)) {
                stack.pointers.insert(register, at);
            }
        }
        stack
    }

    /// How far above the stack pointer an address is, if it is on the stack.
    pub(crate) const fn offset(&self, address: u64) -> Option<i64> {
        let from = self.pointer.saturating_sub(BELOW);
        if address.wrapping_sub(from) < BELOW + ABOVE {
            return Some(address.wrapping_sub(self.pointer) as i64);
        }
        None
    }
}

/// Where a value came from that was there when the turn began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// The value of this register.
    Register(Register),
    /// So many bytes on the stack, so far above the stack pointer.
    Slot {
        /// How many bytes above the stack pointer of the turn's beginning it is.
        at: i64,
        /// How many bytes it has.
        size: u8,
    },
}

/// What the walk knows of a value that the code calculates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Known(u64),
    /// What was somewhere when the turn began, and so much more.
    Start {
        base: Base,
        plus: i64,
        /// Whether it is a whole word: only that is an address.
        whole: bool,
    },
    Other,
}

impl Value {
    /// What a register holds when the turn begins.
    pub(crate) const fn of(register: Register) -> Self {
        Self::Start { base: Base::Register(register), plus: 0, whole: true }
    }

    /// An address so far above what the stack pointer was when the turn began.
    pub(crate) const fn on_stack(plus: i64) -> Self {
        Self::Start { base: Base::Register(Register::RSP), plus, whole: true }
    }

    /// The value and so much more.
    pub(crate) const fn plus(self, more: i64) -> Self {
        match self {
            Self::Known(value) => Self::Known(value.wrapping_add_signed(more)),
            Self::Start { base, plus, whole } => {
                Self::Start { base, plus: plus.wrapping_add(more), whole }
            }
            Self::Other => Self::Other,
        }
    }

    /// What is left of it in so many bytes.
    pub(crate) const fn cut(self, size: usize) -> Self {
        match self {
            value if size >= 8 => value,
            Self::Known(value) => Self::Known(value & ((1 << (8 * size)) - 1)),
            Self::Start { base, plus, .. } => Self::Start { base, plus, whole: false },
            Self::Other => Self::Other,
        }
    }

    /// How far above the first stack pointer it points, if it points to the stack.
    pub(crate) const fn stack_offset(self) -> Option<i64> {
        match self {
            Self::Start { base: Base::Register(Register::RSP), plus, whole: true } => Some(plus),
            _ => None,
        }
    }
}

/// An address that a loop reads, by what registers and the stack were where the loop was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub(crate) segment: Register,
    /// A register or a word, if the displacement is not the address.
    pub(crate) base: Option<Base>,
    /// A register, and by what it is multiplied.
    pub(crate) index: Option<(Register, u32)>,
    pub(crate) displacement: u64,
}

impl Address {
    /// Which address it is, by the registers where the loop was found and by the words of memory.
    pub fn resolve(
        &self,
        register: impl Fn(Register) -> Option<u64>,
        word: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let base = match self.base {
            None => 0,
            Some(Base::Register(of)) => register(of)?,
            Some(Base::Slot { at, .. }) => word(register(Register::RSP)?.wrapping_add_signed(at))?,
        };
        let index = match self.index {
            None => 0,
            Some((of, scale)) => register(of)?.wrapping_mul(u64::from(scale)),
        };
        let segment = match self.segment {
            Register::None => 0,
            segment => register(segment)?,
        };
        Some(segment.wrapping_add(base).wrapping_add(index).wrapping_add(self.displacement))
    }

    /// The registers and words that it is made from.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Base> {
        self.base.into_iter().chain(self.index.map(|(register, _)| Base::Register(register)))
    }
}
