//! Which system call a thread sleeps in, from its registers alone.
//!
//! The kernel does not sample a call's number: the register that it came in already holds the
//! result. Most code loads a constant right before it calls, and that can be read. Code that calls
//! whatever it is told to, as glibc's `syscall` does, is asked about while a thread sleeps there:
//! the kernel's files name the call then.

use std::collections::BTreeMap;

use iced_x86::Register;
use kilocore_linux::{self as proc_files, SyscallState, futex_word, syscall_state};
use syscalls::Sysno;

use crate::constants::constant_in;
use crate::ids::{Pid, Tid, Word};
use crate::memory::Code;
use crate::registers::{Registers, SYSCALL};

/// Why a thread left its core by its own will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It waits for a word of memory to change.
    Futex(Word),
    /// It waits for a thread to end.
    Join,
    /// It sleeps in another system call.
    Call(Sysno),
    /// It is in no system call: it waits for a page.
    NoCall,
    /// It is in a system call that is not known.
    Unknown,
}

/// What is known of system calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// By place, if the code there makes always the same.
    constant: BTreeMap<(Pid, u64), CallSite>,
    /// By thread and frame, elsewhere.
    learned: BTreeMap<(Pid, u64, u64), Sysno>,
}

/// What is known of a place in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallSite {
    NoCall,
    Always(Sysno),
    Varies,
}

impl Calls {
    /// Why a thread with these registers left its core.
    pub(crate) fn reason(
        &mut self,
        code: &mut Code,
        pid: Pid,
        tid: Tid,
        registers: &Registers,
        stack: &[u8],
    ) -> Reason {
        let place = *self
            .constant
            .entry((pid, registers.ip()))
            .or_insert_with(|| place(code.before(pid, registers.ip()), registers.ip()));
        let number = match place {
            CallSite::NoCall => return Reason::NoCall,
            CallSite::Always(number) => Some(number),
            CallSite::Varies => self.told(code, (pid, tid), registers, stack),
        };
        number.map_or(Reason::Unknown, |number| named(pid, number, registers))
    }

    /// What the caller asked for, as its code tells; or what the kernel says of a thread that may
    /// still sleep there; or what one of them said of the same frame before.
    fn told(
        &mut self,
        code: &mut Code,
        (pid, tid): (Pid, Tid),
        registers: &Registers,
        stack: &[u8],
    ) -> Option<Sysno> {
        let key = (pid, registers.ip(), registers.sp());
        if let Some(known) = self.learned.get(&key) {
            return Some(*known);
        }
        if let Some(number) = by_caller(code, pid, stack) {
            self.learned.insert(key, number);
            return Some(number);
        }
        let SyscallState::Call(call) = syscall_state(pid.0, tid.0) else { return None };
        let same = call.address == registers.ip() && call.stack == registers.sp();
        let number = same.then(|| Sysno::new(call.number as usize)).flatten()?;
        self.learned.insert(key, number);
        Some(number)
    }

    /// Forgets a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.constant.retain(|(of, _), _| *of != pid);
        self.learned.retain(|(of, ..), _| *of != pid);
    }
}

/// What the caller of glibc's `syscall` asked for. The address at which the caller goes on is on
/// top of the stack, and the number of the call was the first argument.
fn by_caller(code: &mut Code, pid: Pid, stack: &[u8]) -> Option<Sysno> {
    let back = u64::from_ne_bytes(*stack.first_chunk()?);
    let before = code.before(pid, back);
    // The call itself: to an address relative to this one, or through a pointer.
    let length = match before {
        [.., 0xe8, _, _, _, _] => 5,
        [.., 0xff, 0x15, _, _, _, _] => 6,
        [.., 0xff, 0xd0..=0xd7] => 2,
        _ => return None,
    };
    let rest = &before[..before.len() - length];
    let number = constant_in(Register::RDI, rest, back.wrapping_sub(length as u64))?;
    Sysno::new(number as usize)
}

/// What the code before an address says.
fn place(before: &[u8], address: u64) -> CallSite {
    let Some(rest) = before.strip_suffix(&SYSCALL) else { return CallSite::NoCall };
    let from = address.wrapping_sub(SYSCALL.len() as u64);
    let number = constant_in(Register::RAX, rest, from).and_then(|n| Sysno::new(n as usize));
    number.map_or(CallSite::Varies, CallSite::Always)
}

/// The reason that a call is.
pub(crate) fn named(pid: Pid, number: Sysno, registers: &Registers) -> Reason {
    let [word, operation, value] = registers.arguments();
    match number {
        Sysno::futex if waits(operation) => match futex_word(pid.0, word, operation, value) {
            proc_files::Word::Thread => Reason::Join,
            _ => Reason::Futex(Word { pid, address: word }),
        },
        other => Reason::Call(other),
    }
}

/// Whether a thread that sleeps in a futex says that it is its process's own.
pub(crate) fn is_private(registers: &Registers) -> bool {
    registers.arguments()[1] & libc::FUTEX_PRIVATE_FLAG as u64 != 0
}

/// Whether a futex operation is a wait on its first word.
fn waits(operation: u64) -> bool {
    const COMMAND: u64 = 0x7f;
    const WAITS: [i32; 5] = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_LOCK_PI2,
        libc::FUTEX_WAIT_REQUEUE_PI,
    ];
    WAITS.iter().any(|wait| operation & COMMAND == *wait as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_the_constant_before_it() {
        // mov $0xca,%eax; syscall
        assert_eq!(
            place(&[0xb8, 0xca, 0, 0, 0, 0x0f, 0x05], 0x1007),
            CallSite::Always(Sysno::futex)
        );
        // mov %rdi,%rax; syscall
        assert_eq!(place(&[0x48, 0x89, 0xf8, 0x0f, 0x05], 0x1005), CallSite::Varies);
        assert_eq!(place(&[0x90, 0x90], 0x1002), CallSite::NoCall);
    }

    #[test]
    fn only_waits_name_a_word() {
        let private = 128;
        assert!(waits(libc::FUTEX_WAIT as u64 | private));
        assert!(waits(libc::FUTEX_WAIT_BITSET as u64 | libc::FUTEX_CLOCK_REALTIME as u64));
        assert!(!waits(libc::FUTEX_WAKE as u64 | private));
    }
}
