//! Whether the program was compiled with ThreadSanitizer.
//!
//! Its runtime learns from the program's calls of locks which accesses of memory are ordered. If a
//! library replaces the locks, or uses memory of its own under them, the runtime warns of races that
//! there are not. So our libraries leave such a program alone, whoever has started it.

/// Returns whether the process contains the runtime of ThreadSanitizer.
#[must_use]
pub fn is_thread_sanitized() -> bool {
    !address_of_runtime().is_null()
}

/// Returns the address of a function of the runtime, or null. The symbol is weak: it needs not be
/// defined. The dynamic linker resolves it before any code of this library runs.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn address_of_runtime() -> *const u8 {
    core::arch::naked_asm!(
        ".weak __tsan_init",
        "mov rax, qword ptr [rip + __tsan_init@GOTPCREL]",
        "ret",
    )
}

/// Returns the address of a function of the runtime, or null.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "C" fn address_of_runtime() -> *const u8 {
    core::arch::naked_asm!(
        ".weak __tsan_init",
        "adrp x0, :got:__tsan_init",
        "ldr x0, [x0, :got_lo12:__tsan_init]",
        "ret",
    )
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn address_of_runtime() -> *const u8 {
    core::ptr::null()
}
