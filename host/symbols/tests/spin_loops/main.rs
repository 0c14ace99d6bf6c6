//! Loops as compilers make them of C, optimized and not. A program is stopped at every instruction of one
//! of its loops, and the answer there has to be the same wherever that is.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::{io, mem::MaybeUninit};

use iced_x86::Register;
use kilocore_symbols::spin_loops::{SpinLoop, spin_loop};

/// The functions of the program that wait.
const WAIT: &[&str] = &[
    "global",
    "pointer",
    "barrier",
    "bit",
    "two_values",
    "counted",
    "counted_short",
    "limited",
    "called",
    "called_twice",
    "yields",
    "tries",
    "pauses",
];

/// The functions of the test program whose loops work, and do not wait.
const WORK: &[&str] = &[
    "copy",
    "copy_bytes",
    "sum",
    "walk",
    "walk_by_calls",
    "length",
    "find",
    "library",
    "compare",
    "probe",
    "search",
    "bounded",
    "bounded_only",
    "random_until_told",
    "float_until_told",
    "shift_until_told",
    "sum_of_polls",
    "matches",
    "squares_until_told",
    "calls_until_told",
    "primes_until_told",
    "collatz",
    "countdown",
    "adds",
    "adds_until_told",
    "on_its_stack",
    "indexed_until_told",
];

/// Instructions until a loop is surely reached.
const APPROACH: usize = 300;
/// Instructions that are looked at.
const LOOKED_AT: usize = 200;
/// Those of functions that work.
const WORKED: usize = 3_000;

/// When the functions of libraries are looked up: at once, or in a long search when each is first called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loader {
    AtOnce,
    AtFirstCall,
}

/// A program that is stopped at each of its instructions.
struct Stepped(Child);

impl Stepped {
    /// Starts it, until it stops before one of its functions.
    fn begin(program: &Path, function: &str, loader: Loader) -> Self {
        let mut command = Command::new(program);
        command.arg(function).env_remove("LD_BIND_NOW");
        if loader == Loader::AtOnce {
            command.env("LD_BIND_NOW", "1");
        }
        // SAFETY: the one call between fork and exec is a system call that takes no pointer.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            })
        };
        let stepped = Self(command.spawn().expect("it was just built, and may be traced"));
        // It stops when the program is there, and at its breakpoint.
        assert!(stepped.stops());
        assert!(stepped.goes_on(libc::PTRACE_CONT), "{function} is not in the program");
        stepped
    }

    fn pid(&self) -> libc::pid_t {
        self.0.id() as libc::pid_t
    }

    /// Waits until it stops. It may have ended instead.
    fn stops(&self) -> bool {
        let mut status = 0;
        // SAFETY: the child is this test's, and the pointer is to a variable of this function.
        let waited = unsafe { libc::waitpid(self.pid(), &raw mut status, 0) };
        waited == self.pid() && libc::WIFSTOPPED(status)
    }

    fn goes_on(&self, how: libc::c_uint) -> bool {
        // SAFETY: the child is stopped, and the request takes no pointer.
        assert_eq!(unsafe { libc::ptrace(how, self.pid(), 0, 0) }, 0);
        self.stops()
    }

    fn registers(&self) -> libc::user_regs_struct {
        let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
        let to = registers.as_mut_ptr();
        // SAFETY: the child is stopped, and the kernel writes one such structure.
        let told = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.pid(), 0, to) };
        assert_eq!(told, 0);
        // SAFETY: all bytes are zero or the kernel's, and the structure is made of numbers.
        unsafe { registers.assume_init() }
    }
}

impl Drop for Stepped {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn reader(memory: &File) -> impl Fn(u64, usize) -> Vec<u8> {
    move |address, length| {
        let mut bytes = vec![0; length];
        let read = memory.read_at(&mut bytes, address).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }
}

/// What a thread with these registers spins for.
fn found(registers: &libc::user_regs_struct, memory: &File) -> Option<SpinLoop> {
    spin_loop(registers.rip, |register| value(registers, register), reader(memory)).found
}

/// The address that a loop reads.
fn word(found: &SpinLoop, registers: &libc::user_regs_struct, memory: &File) -> Option<u64> {
    let word = |at| reader(memory)(at, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    found.reads?.resolve(|register| value(registers, register), word)
}

fn value(registers: &libc::user_regs_struct, register: Register) -> Option<u64> {
    Some(match register {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        _ => return None,
    })
}

/// The program, by each compiler that is here, optimized more and less.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spin_loops/loops.c");
    let mut programs = Vec::new();
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O1", "-O2"] {
            let program = folder.join(format!("{compiler}{level}"));
            let mut command = Command::new(compiler);
            command.args([level, "-w", "-o"]).args([&program, &source]);
            match command.status() {
                Ok(built) => assert!(built.success(), "{compiler} {level}"),
                Err(_) => continue,
            }
            programs.push(program);
        }
    }
    assert!(!programs.is_empty(), "there is a compiler");
    programs
}

#[test]
fn a_thread_that_waits_is_seen_wherever_it_is_and_however_it_was_compiled() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut wrong = Vec::new();
    for program in programs(folder.path()) {
        for function in WAIT {
            let stepped = Stepped::begin(&program, function, Loader::AtOnce);
            let memory = File::open(format!("/proc/{}/mem", stepped.pid())).expect("it is traced");
            let waited_for = stepped.registers().rax;
            for _ in 0..APPROACH {
                assert!(stepped.goes_on(libc::PTRACE_SINGLESTEP));
            }
            let (mut missed, mut named) = (BTreeSet::new(), 0);
            for _ in 0..LOOKED_AT {
                assert!(stepped.goes_on(libc::PTRACE_SINGLESTEP));
                let registers = stepped.registers();
                match found(&registers, &memory) {
                    None => drop(missed.insert(registers.rip)),
                    Some(found) => {
                        let word = word(&found, &registers, &memory);
                        assert!(word.is_none_or(|word| word == waited_for), "{function}");
                        named += usize::from(word.is_some());
                    }
                }
            }
            if !missed.is_empty() || named == 0 {
                wrong.push(format!("{} {function}: {missed:x?}, {named}", program.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_thread_that_works_is_never_taken_for_one_that_waits() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut wrong = BTreeSet::new();
    for program in programs(folder.path()) {
        for function in WORK {
            let stepped = Stepped::begin(&program, function, Loader::AtFirstCall);
            let memory = File::open(format!("/proc/{}/mem", stepped.pid())).expect("it is traced");
            for _ in 0..WORKED {
                if !stepped.goes_on(libc::PTRACE_SINGLESTEP) {
                    break;
                }
                let registers = stepped.registers();
                if found(&registers, &memory).is_some() {
                    wrong.insert(format!("{} {function}: {:x}", program.display(), registers.rip));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
