//! What an instruction may do to a lock, and whether it calls or returns, told from its bytes.
//!
//! QEMU's interface gives neither values nor registers. The bytes of an instruction do say whether it is an
//! atomic update, and whether it is one of the plain stores by which locks are given back.

/// What an instruction may do to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It updates memory in one step: it has a `lock` prefix, or is an `xchg` with memory.
    Atomic,
    /// It writes a register or a constant to memory, or updates memory without a `lock` prefix.
    Store,
    /// It calls a function.
    Call,
    /// It returns from one.
    Return,
    /// It is no concern of a lock.
    Other,
}

/// Prefixes of segments, sizes and repetition.
const PREFIXES: [u8; 10] = [0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3];

/// An instruction's bytes, taken apart.
struct Parts<'a> {
    /// Whether it has a `lock` prefix.
    locked: bool,
    /// The lower half of its REX prefix, or 0.
    extended: u8,
    /// From its opcode on.
    rest: &'a [u8],
}

fn parts(bytes: &[u8]) -> Parts<'_> {
    let (mut locked, mut extended, mut at) = (false, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0xf0 => locked = true,
            0x40..=0x4f => extended = byte & 0xf,
            _ if PREFIXES.contains(&byte) => {}
            _ => break,
        }
        at += 1;
    }
    Parts { locked, extended, rest: bytes.get(at..).unwrap_or_default() }
}

/// Whether an instruction's address in memory, if it has a one-byte opcode and one, is relative to the stack pointer.
#[must_use]
pub fn is_on_stack(bytes: &[u8]) -> bool {
    let Parts { extended, rest, .. } = parts(bytes);
    // The base is the stack pointer, and not the twelfth register.
    matches!(rest, [_, mode, scaled, ..] if *mode < 0xc0 && mode & 7 == 4 && scaled & 7 == 4)
        && extended & 1 == 0
}

/// Whether an instruction may go on at a smaller address than its own, without a load or a store. Every loop has one that
/// does, or refers to memory.
#[must_use]
pub fn jumps_back(bytes: &[u8]) -> bool {
    match *parts(bytes).rest {
        [0x70..=0x7f | 0xe0..=0xe3 | 0xeb, distance, ..] => distance > 0x7f,
        [0xe9, _, _, _, highest, ..] | [0x0f, 0x80..=0x8f, _, _, _, highest, ..] => highest > 0x7f,
        // By a register.
        [0xff, mode, ..] => mode >= 0xc0 && mode >> 3 & 7 == 4,
        _ => false,
    }
}

/// Tells what an instruction of 64-bit mode is, from its bytes.
#[must_use]
pub fn kind(bytes: &[u8]) -> Kind {
    let Parts { locked, extended, rest } = parts(bytes);
    let wide = extended & 8 != 0;
    if let [0xc2 | 0xc3, ..] = rest {
        return Kind::Return;
    }
    let (&[opcode, next, ..], third) = (rest, rest.get(2)) else { return Kind::Other };
    if locked {
        // `cmpxchg16b`: no lock is that wide, and QEMU may have to stop all threads for it.
        let is_widest = wide && (opcode, next) == (0x0f, 0xc7) && third.is_some();
        return if is_widest { Kind::Other } else { Kind::Atomic };
    }
    let is_memory = next < 0xc0;
    let which = next >> 3 & 7;
    match opcode {
        0x86 | 0x87 if is_memory => Kind::Atomic,
        0x88 | 0x89 | 0xc6 | 0xc7 if is_memory => Kind::Store,
        // Arithmetic whose result goes to memory. The seventh kind compares, which writes nothing.
        0x00..=0x37 if opcode & 7 < 2 && is_memory => Kind::Store,
        0x80 | 0x81 | 0x83 if is_memory && which != 7 => Kind::Store,
        0xe8 => Kind::Call,
        0xff if which == 2 => Kind::Call,
        0xfe | 0xff if is_memory && which < 2 => Kind::Store,
        _ => Kind::Other,
    }
}
