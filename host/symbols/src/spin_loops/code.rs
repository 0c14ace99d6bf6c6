//! Code of a process, read as it is needed.

use std::cell::RefCell;

use iced_x86::{Decoder, DecoderOptions, Instruction};

/// How much code is looked at on either side of an address, in bytes.
const REACH: u64 = 128;

/// How many pieces of code are read at most. A loop calls few functions.
const PIECES: usize = 8;

/// Code, read by a function that reads so many bytes at an address, or as many of them as there are.
pub(crate) struct Code<R> {
    read: R,
    pieces: RefCell<Vec<Piece>>,
}

/// A piece of it, and the address at which it begins.
struct Piece {
    begin: u64,
    bytes: Vec<u8>,
}

impl<R: Fn(u64, usize) -> Vec<u8>> Code<R> {
    pub(crate) fn new(read: R) -> Self {
        Self { read, pieces: RefCell::default() }
    }

    /// The instruction at an address, if it can be read.
    pub(crate) fn instruction(&self, at: u64) -> Option<Instruction> {
        let mut pieces = self.pieces.borrow_mut();
        if let Some(instruction) = pieces.iter().find_map(|piece| piece.instruction(at)) {
            return Some(instruction);
        }
        if pieces.len() >= PIECES {
            return None;
        }
        let piece = Piece::around(at, &self.read);
        let instruction = piece.instruction(at);
        pieces.push(piece);
        instruction
    }

    /// The word of memory at an address.
    pub(crate) fn word(&self, at: u64) -> Option<u64> {
        (self.read)(at, size_of::<u64>()).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

impl Piece {
    /// What is around an address.
    fn around(at: u64, read: impl Fn(u64, usize) -> Vec<u8>) -> Self {
        let begin = at.saturating_sub(REACH);
        let end = at.saturating_add(REACH);
        let bytes = read(begin, (end - begin) as usize);
        if bytes.len() as u64 > at - begin {
            return Self { begin, bytes };
        }
        // The page before may not be there, but the whole page of the address is.
        let page = begin.max(at & !0xfff);
        Self { begin: page, bytes: read(page, (end - page) as usize) }
    }

    fn instruction(&self, at: u64) -> Option<Instruction> {
        let bytes = self.bytes.get(usize::try_from(at.checked_sub(self.begin)?).ok()?..)?;
        let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }
}
