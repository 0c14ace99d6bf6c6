//! Words that threads on the processor wait for, and loops in which they do.
//!
//! Where a timer finds a thread in user space, its code tells whether it waits there for another one. The
//! watchpoint then tells whether others write to the word that it reads.

use std::collections::BTreeMap;

use iced_x86::Register;
use kilocore_symbols::spin_loops::{Answers, spin_loop};

use crate::ids::{Pid, Word};
use crate::memory::read;
use crate::registers::Registers;

/// How far from the stack pointer a thread's own variables lie, below it and above, in bytes.
const BELOW: u64 = 256;
const ABOVE: u64 = 1 << 16;

/// The loops at places, as far as anybody was found there.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    at: BTreeMap<(Pid, u64), Answers>,
}

/// What a thread was found spinning for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spin {
    /// The word that it reads again and again, if it is a single one and may be another thread's.
    pub(crate) word: Option<Word>,
    /// Whether it can only be waiting. A turn in which a lock is tried looks the same when it is got.
    pub(crate) waits: bool,
}

impl Loops {
    /// What a thread with these registers spins for, if it does.
    pub(crate) fn spin(&mut self, pid: Pid, registers: &Registers) -> Option<Spin> {
        let place = registers.ip();
        let code = |address, length| read(pid, address, length);
        let register = |register: Register| registers.get(register);
        let stack = |at| word(&code, registers.sp().wrapping_add_signed(at));
        let ask = || spin_loop(place, register, code);
        let answer = self.at.entry((pid, place)).or_default().now(stack, ask);
        let found = answer.found.as_ref()?;
        let address = found.reads.and_then(|reads| reads.resolve(register, |at| word(&code, at)));
        // A loop over a variable of its own is work, such as counting.
        let (sp, word) = (registers.sp(), address.map(|address| Word { pid, address }));
        let own = sp.saturating_sub(BELOW)..sp.saturating_add(ABOVE);
        let word = word.filter(|word| !own.contains(&word.address));
        Some(Spin { word, waits: !found.tries })
    }

    /// Forgets a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.at.retain(|(of, _), _| *of != pid);
    }
}

fn word(read: &dyn Fn(u64, usize) -> Vec<u8>, at: u64) -> Option<u64> {
    read(at, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x7000;

    /// Code that begins at an address. Nothing else is there.
    fn code(begin: u64, bytes: &[u8]) -> impl Fn(u64, usize) -> Vec<u8> {
        move |address, length| {
            let Some(from) = address.checked_sub(begin) else { return Vec::new() };
            bytes.iter().skip(from as usize).take(length).copied().collect()
        }
    }

    fn spun_on(code: &dyn Fn(u64, usize) -> Vec<u8>, registers: &Registers) -> Option<u64> {
        let register = |register| registers.get(register);
        let found = spin_loop(registers.ip(), register, code).found?;
        found.reads?.resolve(register, |at| word(code, at))
    }

    fn registers(ip: u64) -> Registers {
        let mut registers = Registers::default();
        registers.0[5] = WORD;
        registers.0[8] = ip;
        registers
    }

    #[test]
    fn a_loop_that_reads_one_word_is_a_spin() {
        // pause; cmpl $0,(%rdi); jne back; ret
        let bytes = [0xf3, 0x90, 0x83, 0x3f, 0x00, 0x75, 0xf9, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), Some(WORD));
        // Found in its middle, with what is before its page and without.
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1002)), Some(WORD));
        let before = [vec![0x90; 256], bytes.to_vec()].concat();
        assert_eq!(spun_on(&code(0xf00, &before), &registers(0x1002)), Some(WORD));
    }

    #[test]
    fn a_loop_that_begins_with_a_try_is_a_spin() {
        // 1: lock decl (%rdi); jne 2f; xor %eax,%eax; ret; 2: pause; cmpl $0,(%rdi); jg 1b; jmp 2b
        let bytes = [
            0xf0, 0xff, 0x0f, 0x75, 0x03, 0x31, 0xc0, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf1,
            0xeb, 0xf7,
        ];
        for from in [8, 10] {
            let found = spun_on(&code(0x1000, &bytes), &registers(0x1000 + from));
            assert_eq!(found, Some(WORD), "from {from}");
        }
    }

    #[test]
    fn a_loop_that_tries_again_and_again_is_a_spin() {
        // 1: lock decl (%rdi); jns out; 2: pause; cmpl $0,(%rdi); jle 2b; jmp 1b
        let bytes = [
            0xf0, 0xff, 0x0f, 0x79, 0x0b, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7e, 0xf9, 0xeb, 0xf2, 0xc3,
            0xc3,
        ];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1005)), Some(WORD));
        // The try is on a page that cannot be read.
        assert_eq!(spun_on(&code(0x2000, &bytes[5..]), &registers(0x2000)), Some(WORD));
    }

    #[test]
    fn a_loop_that_works_is_none() {
        // mov %eax,(%rdi); add $4,%rdi; cmp %rdx,%rdi; jne back; ret
        let bytes = [0x89, 0x07, 0x48, 0x83, 0xc7, 0x04, 0x48, 0x39, 0xd7, 0x75, 0xf5, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), None);
        assert_eq!(spun_on(&code(0x1000, &[0xc3]), &registers(0x1000)), None);
        assert_eq!(spun_on(&code(0x1000, &[]), &registers(0x1000)), None);
    }

    #[test]
    fn a_loop_that_reads_the_next_word_each_time_is_none() {
        // 1: cmpb $10,(%rdi); je out; inc %rdi; jmp 1b
        let bytes = [0x80, 0x3f, 0x0a, 0x74, 0x05, 0x48, 0xff, 0xc7, 0xeb, 0xf6, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1000)), None);
        // 1: inc %rdi; cmpb $10,(%rdi); jne 1b, found behind the step.
        let bytes = [0x48, 0xff, 0xc7, 0x80, 0x3f, 0x0a, 0x75, 0xf8, 0xc3];
        assert_eq!(spun_on(&code(0x1000, &bytes), &registers(0x1003)), None);
    }
}
