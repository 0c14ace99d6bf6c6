//! The processor's counter of cycles, which programs read by `rdtsc` and `rdtscp`.
//!
//! QEMU executes such an instruction by reading the host's counter, and its interface for plugins offers no way to
//! change the result. But Linux can forbid a thread to read the counter: then the processor traps, and whoever handles
//! that signal can say what the instruction has read. So the counter is forbidden right before each such instruction of
//! the program, and allowed again by the handler. QEMU reads it for nothing else in between.

use std::ffi::{c_int, c_uint, c_void};
use std::mem;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::seen::{self, Clock};
use crate::{depends, guest, machine};

/// `rdtsc` and `rdtscp`.
const READS: [&[u8]; 2] = [&[0x0f, 0x31], &[0x0f, 0x01, 0xf9]];

// As in Linux's `prctl.h`.
const PR_SET_TSC: c_int = 26;
const PR_TSC_ENABLE: c_int = 1;
const PR_TSC_SIGSEGV: c_int = 2;

/// What the next instruction that traps reads. Only the thread that runs is ever forbidden to read the counter.
static SHOWN: AtomicU64 = AtomicU64::new(0);
/// What QEMU does at signals of this kind. It is known before the handler of this file may be called.
static OF_QEMU: OnceLock<libc::sigaction> = OnceLock::new();
/// Whether that handler is in the place of QEMU's, once somebody has tried to put it there.
static IS_HANDLED: OnceLock<bool> = OnceLock::new();
/// The reason of a signal that an instruction raised which may not be executed (`SI_KERNEL`).
const TRAP: c_int = 0x80;

/// Bytes that may stand before an instruction and change nothing here, and the same of 64 bits.
const PREFIXES: [u8; 3] = [0x66, 0xf2, 0xf3];
const WIDE: RangeInclusive<u8> = 0x40..=0x4f;

/// Whether an instruction reads the counter.
pub(crate) fn is_read_by(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| PREFIXES.contains(byte) || WIDE.contains(byte);
    let before = bytes.iter().take_while(is_prefix).count();
    READS.contains(&&bytes[before..])
}

/// An instruction that reads the counter is about to be executed. Where the counter cannot be forbidden, it is the
/// host's that is read.
pub(crate) extern "C" fn before_read(vcpu: c_uint, _: *mut c_void) {
    if !guest::runs(vcpu) {
        return;
    }
    SHOWN.store(machine::cycles(seen::now_ns(Clock::Monotonic)).0, Ordering::Relaxed);
    if !*IS_HANDLED.get_or_init(install) || !set_counter(PR_TSC_SIGSEGV) {
        depends::also("it reads the processor's counter of cycles, which is this host's");
    }
}

/// Allows or forbids the calling thread to read the counter. Whether that is done.
fn set_counter(to: c_int) -> bool {
    // SAFETY: it concerns what the calling thread may execute, and no memory.
    unsafe { libc::prctl(PR_SET_TSC, to) == 0 }
}

/// Puts the handler in the place of QEMU's, which stays there otherwise: what the program itself does at this signal,
/// QEMU's handler decides. Whether that is possible.
fn install() -> bool {
    // SAFETY: actions that live meanwhile; all zeroes are one.
    let of_qemu = unsafe {
        let mut of_qemu: libc::sigaction = mem::zeroed();
        let known = libc::sigaction(libc::SIGSEGV, ptr::null(), &raw mut of_qemu) == 0;
        known.then_some(of_qemu)
    };
    let Some(of_qemu) = of_qemu.filter(|action| action.sa_flags & libc::SA_SIGINFO != 0) else {
        return false;
    };
    let of_qemu = OF_QEMU.get_or_init(|| of_qemu);
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    let own = libc::sigaction { sa_sigaction: handler as usize, ..*of_qemu };
    // SAFETY: an action that lives meanwhile, whose handler has the type that its flags say.
    unsafe { libc::sigaction(libc::SIGSEGV, &raw const own, ptr::null_mut()) == 0 }
}

/// Whether this instruction is at an address of this process.
fn is_at(address: u64, instruction: &[u8]) -> bool {
    let mut bytes = [0; 3];
    let bytes = &mut bytes[..instruction.len()];
    kilocore_qemu_plugin::read(address, bytes).is_some() && bytes == instruction
}

/// An instruction has trapped: it reads the counter, or it is QEMU's business.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: Linux gives a handler of this kind the registers of the thread, which are its own to change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize] as u64;
    // SAFETY: it describes this signal, and lives meanwhile.
    let is_trap = unsafe { (*info).si_code } == TRAP;
    if let Some(read) = READS.iter().find(|read| is_trap && is_at(at, read)) {
        set_counter(PR_TSC_ENABLE);
        let shown = SHOWN.load(Ordering::Relaxed);
        registers[libc::REG_RAX as usize] = (shown & 0xffff_ffff) as i64;
        registers[libc::REG_RDX as usize] = (shown >> 32) as i64;
        registers[libc::REG_RIP as usize] += read.len() as i64;
        return;
    }
    if let Some(of_qemu) = OF_QEMU.get() {
        // SAFETY: it had been installed with `SA_SIGINFO`, so that it has this type.
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
            unsafe { mem::transmute(of_qemu.sa_sigaction) };
        handler(signal, info, context);
    }
}
