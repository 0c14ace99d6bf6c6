//! Following code from an address until it comes back there.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use crate::turn::SpinLoop;

/// How many instructions are followed from an address.
const FOLLOWED: usize = 32;
/// How many branches are followed both ways on a path.
const FORKS: usize = 4;

/// How much code is looked at on either side of an address, in bytes.
pub const REACH: u64 = 128;

/// The spin loop that the instruction at `at` belongs to, if it does. `read` reads so many bytes at an
/// address, or as many of them as there are.
pub fn spin_loop(at: u64, read: impl Fn(u64, usize) -> Vec<u8>) -> Option<SpinLoop> {
    let code = Code::around(at, read);
    // Both ways of the first few branches, as the way back may be either.
    let mut open = vec![(at, Vec::new(), 0)];
    let mut budget = 8 * FOLLOWED;
    let mut found: Option<SpinLoop> = None;
    while let Some((mut next, mut path, mut forks)) = open.pop() {
        while path.len() < FOLLOWED && budget > 0 {
            budget -= 1;
            if next == at && !path.is_empty() {
                match SpinLoop::of_turn(&path) {
                    // Where waiters only read, that is what they do for most of the time.
                    Some(only_reads) if !only_reads.tries => return Some(only_reads),
                    tries => found = found.or(tries),
                }
                break;
            }
            let Some(instruction) = code.instruction(next) else { break };
            path.push(instruction);
            match instruction.flow_control() {
                FlowControl::Next => next = instruction.next_ip(),
                FlowControl::UnconditionalBranch => next = instruction.near_branch_target(),
                FlowControl::ConditionalBranch if forks < FORKS => {
                    forks += 1;
                    open.push((instruction.near_branch_target(), path.clone(), forks));
                    next = instruction.next_ip();
                }
                _ => break,
            }
        }
    }
    found
}

/// Code, and the address at which it begins.
struct Code {
    begin: u64,
    bytes: Vec<u8>,
}

impl Code {
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
