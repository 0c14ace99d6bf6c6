//! What a thread is doing at this moment.

use std::borrow::Cow;
use std::path::Path;

use syscalls::Sysno;

use crate::process;
use crate::read;

/// What a look at a thread shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadState {
    /// It runs, or is ready to run.
    Running,
    /// It sleeps in a system call of this name. The name is empty if it could not be read.
    Asleep(Cow<'static, str>),
    /// It sleeps in a futex.
    Futex(Cow<'static, str>, Word),
    /// The thread has ended, or was never there.
    Gone,
}

/// The word of memory that a futex sleeps on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The word at an address.
    At(u64),
    /// The word with a thread's id, which becomes 0 when the thread ends. `pthread_join` waits for
    /// that.
    Thread,
    /// One of several words, or an unknown one.
    Unknown,
}

/// The bits of a futex's operation that say what it does, without the flags.
const OPERATION: u64 = 0x7f;

/// The flag of futexes that only one process uses.
const PRIVATE: u64 = 0x80;

/// Looks at a thread of a process, by `/proc/PID/task/TID/syscall`. The file holds the number of
/// the system call, its six arguments, the stack pointer and the program counter; or the word
/// `running`; or -1 for a thread that is blocked outside a system call:
///
/// ```text
/// 202 0x7f2d1c0a6b10 0x80 0x2 0x0 0x0 0x0 0x7ffd5a1c 0x7f2d1bf8
/// running
/// -1 0x7ffd5a1c 0x7f2d1bf8
/// ```
pub fn look(pid: u32, thread: u32) -> ThreadState {
    let mut text = [0; 256];
    match read(&format!("/proc/{pid}/task/{thread}/syscall"), &mut text) {
        Ok(text) => parse(pid, &String::from_utf8_lossy(text)),
        Err(_) => without_call(process::status(thread).map(|status| status.state)),
    }
}

/// What is known of a thread whose system call may not be read.
fn without_call(state: Option<u8>) -> ThreadState {
    match state {
        None | Some(b'Z' | b'X') => ThreadState::Gone,
        Some(b'R') => ThreadState::Running,
        Some(_) => ThreadState::Asleep("".into()),
    }
}

/// A system call in which a thread sleeps, as the processor's registers describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The number of the system call, which differs between architectures.
    pub number: u64,
    /// The arguments of the system call, in their order.
    pub arguments: [u64; 6],
    /// The stack pointer of user space.
    pub stack: u64,
    /// The address in user space at which the thread will go on.
    pub address: u64,
}

impl Call {
    /// The call's name, if it is known.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        Sysno::new(usize::try_from(self.number).ok()?).map(|call| call.name())
    }
}

/// What is known of the system call of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallState {
    /// It runs, or is ready to run.
    Running,
    /// It sleeps in a system call.
    Call(Call),
    /// It sleeps, in no system call or in one that may not be read.
    Asleep,
    /// The thread has ended, or was never there.
    Gone,
}

/// Returns in which system call a thread of a process sleeps, if it does.
#[must_use]
pub fn syscall_state(pid: u32, thread: u32) -> SyscallState {
    let mut text = [0; 256];
    match read(&format!("/proc/{pid}/task/{thread}/syscall"), &mut text) {
        Ok(text) => parse_call(&String::from_utf8_lossy(text)),
        Err(_) => match without_call(process::status(thread).map(|status| status.state)) {
            ThreadState::Gone => SyscallState::Gone,
            ThreadState::Running => SyscallState::Running,
            _ => SyscallState::Asleep,
        },
    }
}

fn parse_call(text: &str) -> SyscallState {
    let mut words = text.split_ascii_whitespace();
    let number = match words.next() {
        Some("running") => return SyscallState::Running,
        Some(number) => number,
        None => return SyscallState::Gone,
    };
    let Ok(number) = number.parse() else { return SyscallState::Asleep };
    let mut values = [0; 8];
    for value in &mut values {
        let word = words.next().unwrap_or_default().trim_start_matches("0x");
        let Ok(read) = u64::from_str_radix(word, 16) else { return SyscallState::Asleep };
        *value = read;
    }
    let [a, b, c, d, e, f, stack, address] = values;
    SyscallState::Call(Call { number, arguments: [a, b, c, d, e, f], stack, address })
}

fn parse(pid: u32, text: &str) -> ThreadState {
    let mut words = text.split_ascii_whitespace();
    let number = match words.next() {
        Some("running") => return ThreadState::Running,
        Some(number) => number,
        // A thread that has just ended reads as nothing.
        None => return ThreadState::Gone,
    };
    let Ok(number) = number.parse::<i64>() else { return ThreadState::Asleep("".into()) };
    if number < 0 {
        return ThreadState::Asleep("-".into());
    }
    let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let mut argument = || words.next().and_then(hex);
    let name: Cow<'static, str> = match Sysno::new(number as usize) {
        Some(call) => call.name().into(),
        None => format!("call {number}").into(),
    };
    match &*name {
        "futex" => {
            let word = match (argument(), argument(), argument()) {
                (Some(at), Some(operation), Some(value)) => futex_word(pid, at, operation, value),
                _ => Word::Unknown,
            };
            ThreadState::Futex(name, word)
        }
        "futex_wait" => ThreadState::Futex(name, argument().map_or(Word::Unknown, Word::At)),
        "futex_waitv" => ThreadState::Futex(name, Word::Unknown),
        _ => ThreadState::Asleep(name),
    }
}

/// Returns the word at the address `at`, on which a futex of the process `pid` sleeps. If the futex
/// expects `value` there, the id of a thread of that process, and is not private to the process, it
/// is a `pthread_join`: the kernel wakes that one.
#[must_use]
pub fn futex_word(pid: u32, at: u64, operation: u64, value: u64) -> Word {
    const WAIT: u64 = libc::FUTEX_WAIT as u64;
    const WAIT_BITSET: u64 = libc::FUTEX_WAIT_BITSET as u64;
    let waits = matches!(operation & OPERATION, WAIT | WAIT_BITSET);
    // Values of locks are small, and there are processes whose ids are as small.
    let names_a_thread = || Path::new(&format!("/proc/{pid}/task/{value}")).exists();
    if waits && operation & PRIVATE == 0 && names_a_thread() {
        return Word::Thread;
    }
    Word::At(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_with_its_word() {
        let futex = libc::SYS_futex;
        let own = std::process::id();
        let line = format!("{futex} 0x7f12 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7fca\n");
        assert_eq!(parse(own, &line), ThreadState::Futex("futex".into(), Word::At(0x7f12)));
        let shared = format!("{futex} 0x7f12 0x0 0x2 0x0 0x0 0x0 0x7ffc 0x7fca\n");
        assert_eq!(parse(own, &shared), ThreadState::Futex("futex".into(), Word::At(0x7f12)));
        let join = format!("{futex} 0x7f12 0x109 {own:#x} 0x0 0x0 0xffffffff 0x7ffc 0x7fca\n");
        assert_eq!(parse(own, &join), ThreadState::Futex("futex".into(), Word::Thread));
        let sleep = format!("{} 0x0 0x0 0x7f 0x0 0x0 0x0 0x1 0x2\n", libc::SYS_clock_nanosleep);
        assert_eq!(parse(own, &sleep), ThreadState::Asleep("clock_nanosleep".into()));
    }

    #[test]
    fn a_call_is_read_with_its_arguments_and_place() {
        let line = "202 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc 0x7fca\n";
        let SyscallState::Call(call) = parse_call(line) else { panic!("it is one") };
        assert_eq!((call.number, call.arguments), (202, [1, 2, 3, 4, 5, 6]));
        assert_eq!((call.stack, call.address), (0x7ffc, 0x7fca));
        assert_eq!(parse_call("-1 0x7ffc 0x7fca\n"), SyscallState::Asleep);
        assert_eq!(parse_call("running\n"), SyscallState::Running);
        assert_eq!(parse_call(""), SyscallState::Gone);
    }

    #[test]
    fn what_is_no_call_is_told_apart() {
        let own = std::process::id();
        assert_eq!(parse(own, "running\n"), ThreadState::Running);
        assert_eq!(parse(own, "-1 0x7ffc 0x7fca\n"), ThreadState::Asleep("-".into()));
        assert_eq!(parse(own, "99999 0x0\n"), ThreadState::Asleep("call 99999".into()));
        assert_eq!(parse(own, ""), ThreadState::Gone);
        assert_eq!(without_call(Some(b'S')), ThreadState::Asleep("".into()));
        assert_eq!(without_call(Some(b'R')), ThreadState::Running);
        assert_eq!(without_call(None), ThreadState::Gone);
    }

    #[test]
    fn this_thread_runs() {
        // SAFETY: takes no argument.
        let thread = unsafe { libc::gettid() } as u32;
        // It reads about itself, in a call that does not sleep: named or running.
        let seen = look(std::process::id(), thread);
        assert!(!matches!(seen, ThreadState::Gone | ThreadState::Futex(..)), "{seen:?}");
    }
}
