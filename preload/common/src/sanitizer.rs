//! Whether the program was compiled with a sanitizer, and contains its runtime.

/// Returns whether the process contains the runtime of ThreadSanitizer.
///
/// It learns from the program's calls of locks which accesses of memory are ordered. If a library
/// replaces the locks, or uses memory of its own under them, the runtime warns of races that there
/// are not. So our libraries leave such a program alone, whoever has started it.
#[must_use]
pub fn is_thread_sanitized() -> bool {
    !thread_sanitizer().is_null()
}

/// Returns whether the process contains the runtime of any sanitizer that puts functions of its own
/// in front of the C library's. Many of these must not be called before the runtime has begun, and
/// while it begins, it allocates memory and looks functions up.
#[must_use]
pub(crate) fn is_sanitized() -> bool {
    is_thread_sanitized() || !address_sanitizer().is_null() || !memory_sanitizer().is_null()
}

/// Declares functions that return the address of a symbol, or null if nothing in the process defines
/// it. The symbol is weak, so it need not be defined. The dynamic linker resolves it before any code
/// of this library runs.
macro_rules! weak {
    ($($function:ident = $symbol:literal;)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            extern "C" fn $function() -> *const u8 {
                core::arch::naked_asm!(
                    concat!(".weak ", $symbol),
                    concat!("mov rax, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                    "ret",
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            extern "C" fn $function() -> *const u8 {
                core::arch::naked_asm!(
                    concat!(".weak ", $symbol),
                    concat!("adrp x0, :got:", $symbol),
                    concat!("ldr x0, [x0, :got_lo12:", $symbol, "]"),
                    "ret",
                )
            }

            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            fn $function() -> *const u8 {
                core::ptr::null()
            }
        )*
    };
}

weak! {
    thread_sanitizer = "__tsan_init";
    address_sanitizer = "__asan_init";
    memory_sanitizer = "__msan_init";
}
