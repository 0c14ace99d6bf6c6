//! Acquiring the lock of a core without an atomic read-modify-write, by a restartable sequence of Linux.
//!
//! # The idea
//! Whatever runs on one core runs there in turn. So a thread that knows that it is not interrupted between
//! a look at a word and a store to it has exchanged the word, as far as the core's other threads are
//! concerned. Linux tells it (`rseq`): the thread registers a piece of code, and if it is preempted,
//! migrated, or gets a signal in there, it continues at another place. glibc registers each of its threads
//! and says where the thread's *area* is, which the kernel and the thread share.
//!
//! A lock has a *home*, a core. Threads acquire it in one of two ways:
//!
//! * **At home**, in a section that may be restarted: if the thread runs on the home, and if the word is
//!   [`FREE`], then it stores [`HELD`]. That last store is plain, and completes the section.
//! * **From afar**: the thread exchanges `FREE` for a number that only it uses. Then it asks the kernel to
//!   restart whatever section runs on the home (`membarrier`), and looks again. If its number is still
//!   there, then it holds the lock.
//!
//! Whoever holds the lock stores `FREE` with release ordering, wherever it runs by then.
//!
//! # Why at most one thread holds the lock
//! *Two at home.* Both run their sections on the same core. If one looked at the word after the other's
//! look and before the other's store, then the other one was preempted in between, and restarts.
//!
//! *One at home, one from afar.* The exchange is a locked instruction, so it has one place in the order of
//! all stores to the word. A section that looks at the word after that finds it held. So only a section
//! that had looked before can store `HELD` over the number. When the kernel returns from `membarrier`, each
//! such section either was restarted or has completed. If it completed, then its store may have been in the
//! core's store buffer during the exchange. The interrupt on the home drains that buffer. If the home runs
//! another process by then, the switch has drained it, and has restarted the section besides. So the
//! second look of the thread from afar sees that store, or what came after it, and the thread has failed.
//! If it sees its own number, then nobody has stored to the word since the exchange, and nobody will: no
//! section is left that saw `FREE`, and exchanges find that the word is not.
//!
//! *Two from afar.* Exchanges exclude each other, but a section may store over the number of the first one,
//! complete, and release the lock, and then the second one may exchange. Both look at the word then. They
//! would both take it for theirs if they used the same number. So the number is the thread's own
//! (`gettid`). A signal handler of the same thread uses it, too, but the handler has released what it
//! acquired before the thread looks again.
//!
//! *What the last holder did is visible*: to the exchange since it acquires, and to a section since on x86
//! every load acquires and every store releases.
//!
//! `libs/platform/tests/core_lock/model.rs` goes through all executions of a model of this, with store
//! buffers.
//!
//! # If something fails
//! A thread that the kernel does not know (its `cpu_id` is negative) is never at home, and acquires from
//! afar. So does a thread that was migrated after it picked a lock, or that is interrupted again and again.
//! If `membarrier` fails after it has worked once, as with a system call filter that was installed since,
//! then the thread from afar exchanges its number for `FREE` again, and has failed. That is right whatever
//! sections do meanwhile: the exchange succeeds only if nobody has stored over the number.
//!
//! The child of a `fork` inherits both registrations. The child of a `vfork` has its parent's memory, and
//! so its parent's `cpu_id`, but the kernel does not restart it. It must not acquire such a lock. (It may
//! do nothing but `execve` and `_exit` anyway.) The same goes for threads that were made without the C
//! library and share another thread's control block.

use core::arch::asm;
use core::sync::atomic::{AtomicIsize, AtomicU32, Ordering};

use crate::CpuId;

const FREE: u32 = 0;
/// Somebody has acquired the lock at home.
const HELD: u32 = 1;
/// Set in the number of whoever acquires from afar, so that it is neither `FREE` nor `HELD`.
const AFAR: u32 = 1 << 31;

/// How often an attempt at home is restarted before it becomes one from afar.
const RESTARTS: u32 = 3;

/// Where the areas are, from the threads' control blocks. 0 is not an offset that an area can have, and
/// says that nobody has found out yet.
static AREA: AtomicIsize = AtomicIsize::new(0);

/// Commands of `membarrier`, as in `linux/membarrier.h`.
const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7;
const REGISTER_PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 8;
/// A flag: restart the sections of one core.
const ONE_CPU: libc::c_int = 1;

/// What came of an attempt at home.
enum Attempt {
    Acquired,
    /// Somebody has the lock.
    Held,
    /// The thread was interrupted, or is not at home.
    Interrupted,
}

/// Returns whether the kernel and the C library offer what is needed here. Registers the process for it.
///
/// It is a rare call. With several threads, the kernel takes some milliseconds for the registration.
pub(super) fn available() -> bool {
    let Some(area) = area() else { return false };
    // SAFETY: there is an area there, as the library says.
    let registered = unsafe { cpu_id(area) } >= 0;
    let barrier = || {
        membarrier(REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, CpuId(0))
            && membarrier(PRIVATE_EXPEDITED_RSEQ, ONE_CPU, CpuId(0))
    };
    let available = registered && barrier();
    if available {
        // Relaxed: the same each time, and whoever uses a lock was handed it by who asked here.
        AREA.store(area, Ordering::Relaxed);
    }
    available
}

/// Returns the address of a variable of the C library, or null if that has none of this name.
///
/// The dynamic linker has stored the address when it loaded this code. To ask the linker now (`dlsym`) would
/// take its lock, which another thread may hold that waits for this one: in the constructor of a library.
macro_rules! address_of {
    ($name:literal) => {{
        let address: *const core::ffi::c_void;
        // SAFETY: it reads a word that never changes once this code runs. As the symbol is weak, the word is
        // there, and zero, where nobody has a variable of that name.
        unsafe {
            asm!(
                concat!(".weak ", $name),
                concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, preserves_flags, pure, readonly),
            );
        }
        address
    }};
}

/// Returns where the C library has put each thread's area, if it has registered them.
fn area() -> Option<isize> {
    let (offset, size) = (address_of!("__rseq_offset"), address_of!("__rseq_size"));
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: glibc declares them as `const ptrdiff_t` and `const unsigned int`. They never change once
    // the program runs.
    let (offset, size) = unsafe { (offset.cast::<isize>().read(), size.cast::<u32>().read()) };
    (size > 0 && offset != 0).then_some(offset)
}

/// Returns the core of the calling thread, if [`available`] has found that the kernel says so in the area.
#[inline(always)]
pub(super) fn cpu() -> Option<CpuId> {
    let area = AREA.load(Ordering::Relaxed); // Relaxed: it is the same forever.
    if area == 0 {
        return None;
    }
    // SAFETY: there is an area there, since the thread has a control block, as all of the C library's have.
    let id = unsafe { cpu_id(area) };
    u32::try_from(id).ok().map(CpuId)
}

/// Returns the core of the calling thread, or a negative number if the kernel does not know its area.
///
/// # Safety
/// There is an area at the offset.
#[inline(always)]
unsafe fn cpu_id(area: isize) -> i32 {
    let id: i32;
    // SAFETY: `fs` points to the control block, and the caller says where the area is. The kernel writes
    // it only while the thread does not run, so to the thread each load is as good as atomic.
    unsafe {
        asm!("mov {id:e}, fs:[{area} + 4]", area = in(reg) area, id = lateout(reg) id,
             options(nostack, preserves_flags, readonly));
    }
    id
}

/// Acquires a lock whose home is `home`, if nobody has it. It is cheap at home.
///
/// # Safety
/// [`available`] has returned true, and the word is always used as that of a lock with this home.
#[inline(always)]
pub(super) unsafe fn acquire_at_home(word: &AtomicU32, home: CpuId) -> bool {
    // SAFETY: the caller's promise.
    match unsafe { attempt(word, home) } {
        Attempt::Acquired => true,
        Attempt::Held => false,
        // SAFETY: the caller's promise.
        Attempt::Interrupted => unsafe { acquire_after_interruption(word, home) },
    }
}

/// Tries again, and at last as from afar.
#[cold]
#[inline(never)]
unsafe fn acquire_after_interruption(word: &AtomicU32, home: CpuId) -> bool {
    for _ in 0..RESTARTS {
        // SAFETY: the caller's promise.
        match unsafe { attempt(word, home) } {
            Attempt::Acquired => return true,
            Attempt::Held => return false,
            Attempt::Interrupted => {}
        }
    }
    // SAFETY: the caller's promise.
    unsafe { acquire_from_afar(word, home) }
}

/// The section. What the kernel has to know of it is in a section of its own of the program: version and
/// flags, the first instruction, the length, and where to go on after an interruption. That place follows
/// the four bytes by which the kernel knows that the program means it, and glibc has told it these.
///
/// # Safety
/// As for [`acquire_at_home`].
#[inline(always)]
unsafe fn attempt(word: &AtomicU32, home: CpuId) -> Attempt {
    let area = AREA.load(Ordering::Relaxed); // Relaxed: it was stored before there was a lock.
    // SAFETY: the caller has asked `available`, so the area is there, and 8 bytes into it the kernel looks
    // for the address of the description. Between the labels 2 and 3 nothing is changed but flags, before
    // the one store to a live word. So it can be left off anywhere, with the registers as they are. The
    // description lives as long as this code. The area does not refer to it any more afterwards, so the
    // code may be unloaded then; after an interruption the kernel has seen to that. No register but
    // the clobbered one changes.
    unsafe {
        asm!(
            ".pushsection __rseq_cs, \"aw?\", @progbits",
            ".balign 32",
            "7:",
            ".long 0, 0",
            ".quad 2f, 3f - 2f, 4f",
            ".popsection",
            "lea {scratch}, [rip + 7b]",
            "mov qword ptr fs:[{area} + 8], {scratch}",
            "2:",
            "cmp dword ptr fs:[{area} + 4], {home:e}",
            "jne 5f",
            "cmp dword ptr [{word}], {free}",
            "jne 6f",
            "mov dword ptr [{word}], {held}",
            "3:",
            "mov qword ptr fs:[{area} + 8], 0",
            ".pushsection .text.unlikely, \"ax?\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "4:",
            "jmp {interrupted}",
            "5:",
            "mov qword ptr fs:[{area} + 8], 0",
            "jmp {interrupted}",
            "6:",
            "mov qword ptr fs:[{area} + 8], 0",
            "jmp {occupied}",
            ".popsection",
            scratch = out(reg) _,
            area = in(reg) area,
            home = in(reg) home.0,
            word = in(reg) word.as_ptr(),
            free = const FREE,
            held = const HELD,
            interrupted = label { return Attempt::Interrupted },
            occupied = label { return Attempt::Held },
            options(nostack),
        );
    }
    Attempt::Acquired
}

/// Acquires a lock whose home is `home`, if nobody has it, from wherever the thread runs. This takes a
/// system call and interrupts the home.
///
/// # Safety
/// As for [`acquire_at_home`].
#[cold]
pub(super) unsafe fn acquire_from_afar(word: &AtomicU32, home: CpuId) -> bool {
    // Relaxed: who fails does nothing. This look saves a thread that is bound to fail the system call.
    if word.load(Ordering::Relaxed) != FREE {
        return false;
    }
    let Some(own) = own_number() else { return false };
    // Acquire: pairs with the last holder's release.
    if word.compare_exchange(FREE, own, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return false;
    }
    if !membarrier(PRIVATE_EXPEDITED_RSEQ, ONE_CPU, home) {
        // Relaxed: nothing was done under the lock.
        let _ = word.compare_exchange(own, FREE, Ordering::Relaxed, Ordering::Relaxed);
        return false;
    }
    // Relaxed: the kernel's barriers order it after the stores of all sections. What comes after it cannot
    // be done before the system call.
    word.load(Ordering::Relaxed) == own
}

/// Returns a number that no other thread of this process uses in an exchange, unless a filter of system
/// calls forbids to ask.
fn own_number() -> Option<u32> {
    // SAFETY: it only asks for a number.
    let thread = quietly(|| unsafe { libc::syscall(libc::SYS_gettid) });
    u32::try_from(thread).ok().map(|thread| AFAR | thread)
}

/// Calls `membarrier`, and returns whether the call has succeeded.
fn membarrier(command: libc::c_int, flags: libc::c_int, cpu: CpuId) -> bool {
    // SAFETY: the call orders memory and changes none.
    quietly(|| unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu.0) }) == 0
}

/// Makes a system call that leaves `errno` as it was, since the caller may be a signal handler.
fn quietly(call: impl FnOnce() -> libc::c_long) -> libc::c_long {
    // SAFETY: errno of the calling thread, which is always there.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    let result = call();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The linker that makes a program may resolve a weak symbol to nothing, and nobody would notice but that
    /// locks are slow.
    #[test]
    fn variables_of_the_c_library_are_found_as_the_dynamic_linker_finds_them() {
        let asked = |name: &core::ffi::CStr| {
            // SAFETY: the name is a string.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.cast_const()
        };
        assert_eq!(address_of!("__rseq_offset"), asked(c"__rseq_offset"));
        assert_eq!(address_of!("__rseq_size"), asked(c"__rseq_size"));
        assert!(address_of!("__kilocore_has_no_such_variable").is_null());
    }
}
