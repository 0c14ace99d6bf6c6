//! Telling a spin loop by its code.
//!
//! From a sampled address, code is read on. If it comes back to where it was within a few instructions,
//! it is a loop. It spins if it reads memory or holds `pause`, writes no memory, and changes no register
//! from which it makes the address that it reads. A loop without `pause` may also exchange, as a
//! test-and-set lock does.
//!
//! Where a lock reads before it exchanges again, the exchange itself is not counted: most samples of a
//! lock that nobody fights for fall just behind it. With a plain test-and-set lock, taking it and waiting
//! for it are the same code, and both are counted.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};

/// How many instructions are followed from an address.
const FOLLOWED: usize = 32;

/// How much code is needed on either side of the address, in bytes.
pub(crate) const REACH: usize = 128;

/// Whether the code at `at` belongs to a spin loop. `code` begins at the address `begin`.
pub(crate) fn spins(code: &[u8], begin: u64, at: u64) -> bool {
    // Both ways of the first few branches, as the way back may be either.
    let mut open = vec![(at, Vec::new(), 0)];
    let mut budget = 8 * FOLLOWED;
    while let Some((mut next, mut path, mut forks)) = open.pop() {
        while path.len() < FOLLOWED && budget > 0 {
            budget -= 1;
            if next == at && !path.is_empty() {
                if is_spinning(&path) {
                    return true;
                }
                break;
            }
            let Some(instruction) = decode(code, begin, next) else { break };
            path.push(instruction);
            match instruction.flow_control() {
                FlowControl::Next => next = instruction.next_ip(),
                FlowControl::UnconditionalBranch => next = instruction.near_branch_target(),
                FlowControl::ConditionalBranch if forks < 4 => {
                    forks += 1;
                    open.push((instruction.near_branch_target(), path.clone(), forks));
                    next = instruction.next_ip();
                }
                _ => break,
            }
        }
    }
    false
}

fn decode(code: &[u8], begin: u64, at: u64) -> Option<Instruction> {
    let bytes = code.get(usize::try_from(at.checked_sub(begin)?).ok()?..)?;
    let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// Whether a loop of these instructions does nothing but wait.
fn is_spinning(path: &[Instruction]) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let (mut pauses, mut reads, mut stores, mut exchanged) = (false, false, false, false);
    let (mut addressed, mut written) = (Vec::new(), Vec::new());
    for instruction in path {
        pauses |= instruction.mnemonic() == Mnemonic::Pause;
        let exchanges = matches!(instruction.mnemonic(), Mnemonic::Xchg | Mnemonic::Cmpxchg);
        exchanged |= exchanges;
        let info = factory.info(instruction);
        for memory in info.used_memory() {
            let writes = !matches!(memory.access(), OpAccess::Read | OpAccess::CondRead);
            stores |= writes && !exchanges && memory.access() != OpAccess::NoMemAccess;
            reads |= memory.access() != OpAccess::NoMemAccess;
            addressed.extend([memory.base(), memory.index()]);
        }
        for register in info.used_registers() {
            if !matches!(register.access(), OpAccess::Read | OpAccess::CondRead) {
                written.push(register.register().full_register());
            }
        }
    }
    let moves_on = addressed
        .iter()
        .any(|register| *register != Register::None && written.contains(&register.full_register()));
    if pauses { !stores && !exchanged } else { reads && !stores && !moves_on }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(code: &[u8]) -> bool {
        spins(code, 0x1000, 0x1000)
    }

    #[test]
    fn loops_that_wait_for_a_word_are_told() {
        // glibc's pthread_spin_lock, from its pause on: pause; mov (%rdi),%eax; test %eax,%eax; jne.
        assert!(anywhere(&[0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x75, 0xf8]));
        // mov (%rdi),%eax; test %eax,%eax; jne back.
        assert!(anywhere(&[0x8b, 0x07, 0x85, 0xc0, 0x75, 0xfa]));
        // mov $1,%eax; xchg %eax,(%rdi); test %eax,%eax; jne back.
        assert!(anywhere(&[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5]));
    }

    #[test]
    fn an_attempt_to_take_a_lock_is_not_waiting_for_it() {
        // lock decl (%rdi); jne slow; ret; slow: pause; cmpl $0,(%rdi); jg again; jmp slow.
        let code =
            [0xf0, 0xff, 0x0f, 0x75, 0x01, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf3, 0xeb, 0xf7];
        for (at, expected) in [(0, false), (3, false), (6, true), (8, true), (11, true), (13, true)]
        {
            assert_eq!(spins(&code, 0x1000, 0x1000 + at), expected, "{at}");
        }
    }

    #[test]
    fn loops_that_work_are_none() {
        // mov (%rdi),%eax; add $4,%rdi; test %eax,%eax; jne back: a search.
        assert!(!anywhere(&[0x8b, 0x07, 0x48, 0x83, 0xc7, 4, 0x85, 0xc0, 0x75, 0xf6]));
        // incl (%rdi); dec %ecx; jne back: it writes.
        assert!(!anywhere(&[0xff, 0x07, 0xff, 0xc9, 0x75, 0xfa]));
        // lock incl (%rdi); dec %ecx; jne back: it counts in a shared counter.
        assert!(!anywhere(&[0xf0, 0xff, 0x07, 0xff, 0xc9, 0x75, 0xf9]));
        // dec %ecx; jne back: it reads nothing.
        assert!(!anywhere(&[0xff, 0xc9, 0x75, 0xfc]));
        // nop; ret.
        assert!(!anywhere(&[0x90, 0xc3]));
    }
}
