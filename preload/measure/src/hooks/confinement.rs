//! The functions `prctl`, `syscall` and `chroot`, by which processes confine themselves.

use core::ffi::{c_char, c_int, c_long, c_ulong};

use kilocore_preload_common::{real_function, real_functions};

use crate::confinement::{self, Loss};

/// Returns what a process cannot use any more under seccomp.
fn loss_by(strict: bool) -> Loss {
    if strict { Loss::All } else { Loss::Calls }
}

real_functions! {
    /// Changes how the kernel treats the process, which may confine it.
    fn prctl(
        option: c_int,
        second: c_ulong,
        third: c_ulong,
        fourth: c_ulong,
        fifth: c_ulong,
    ) -> libc::c_int;
    /// Changes the root directory.
    fn chroot(path: *const c_char) -> libc::c_int;
}

/// Controls the process. The C function has as many arguments as `option` needs. They are in the
/// same registers as the five arguments here.
///
/// # Safety
/// The contract is that of the Linux function.
#[unsafe(export_name = "prctl")]
unsafe extern "C-unwind" fn displaced_prctl(
    option: c_int,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
    fifth: c_ulong,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged.
    let call = || unsafe { prctl(option, second, third, fourth, fifth) };
    match option {
        libc::PR_SET_SECCOMP => {
            let strict = second == c_ulong::from(libc::SECCOMP_MODE_STRICT);
            confinement::enter(loss_by(strict), call, |result| *result == 0)
        }
        libc::PR_SET_TSC if second == libc::PR_TSC_SIGSEGV as c_ulong => {
            confinement::enter(Loss::Clock, call, |result| *result == 0)
        }
        libc::PR_SET_TSC => {
            let result = call();
            if result == 0 {
                confinement::has_clock_again();
            }
            result
        }
        _ => call(),
    }
}

/// Changes the root directory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(export_name = "chroot")]
unsafe extern "C-unwind" fn displaced_chroot(path: *const c_char) -> c_int {
    confinement::prepare(confinement::ROOM_BELOW_ROOT);
    // SAFETY: this passes on the caller's argument unchanged.
    unsafe { chroot(path) }
}

type Syscall =
    unsafe extern "C-unwind" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// Makes a system call by its number. The C function has as many arguments as the call needs. They
/// are in the same places as the six arguments here.
///
/// # Safety
/// The contract is that of the Linux function.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    let address = real_function!(c"syscall").address();
    if address.is_null() {
        // SAFETY: this is the address of the calling thread's errno.
        unsafe { *libc::__errno_location() = libc::ENOSYS };
        return -1;
    }
    // SAFETY: this is the C library's function of that name, which takes its arguments in this way.
    let real = unsafe { core::mem::transmute::<*mut _, Syscall>(address) };
    // SAFETY: this passes on the caller's arguments unchanged.
    let call = || unsafe { real(number, first, second, third, fourth, fifth, sixth) };
    let strict = match number {
        libc::SYS_seccomp => first == c_long::from(libc::SECCOMP_SET_MODE_STRICT),
        libc::SYS_prctl if first == c_long::from(libc::PR_SET_SECCOMP) => {
            second == c_long::from(libc::SECCOMP_MODE_STRICT)
        }
        _ => return call(),
    };
    confinement::enter(loss_by(strict), call, |result| *result == 0)
}
