//! Whose code a function is: the program's, a library's or the kernel's.
//!
//! A user can change the program, but not `memcpy`. So each sample is also charged to the innermost
//! function of the program on its stack. This shows, for example, which function copies so much.

use kilocore_sampled_profile::{Function, Origin};
use serde::Serialize;

/// Whose code a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// The program that was recorded.
    Program,
    /// A library, or the loader.
    Library,
    /// The kernel or one of its modules.
    Kernel,
    /// Code without a name and a file.
    Unknown,
}

impl Owner {
    /// Returns whose code a function is.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        match function.origin {
            Origin::Kernel => return Self::Kernel,
            // Folded stacks do not mark the kernel, but only the kernel has functions of these
            // names.
            Origin::Unknown if is_kernel_entry(&function.name) => return Self::Kernel,
            Origin::User | Origin::Unknown => {}
        }
        let object = function.object_name();
        // What a program compiles as it runs is its own code.
        if object.starts_with("[JIT") {
            return Self::Program;
        }
        if object.starts_with('[') || is_library(object) {
            return Self::Library;
        }
        // The program's code is its own, stripped or not. Without a file, it is not known whose it
        // is.
        if is_unnamed(function) && object.is_empty() {
            return Self::Unknown;
        }
        let by_name = object.is_empty() && is_of_implementation(&function.name);
        if by_name { Self::Library } else { Self::Program }
    }
}

/// Returns whether a profile has no name for a function, or only the name of a file.
pub(crate) fn is_unnamed(function: &Function) -> bool {
    !function.is_known() || function.name.starts_with('[')
}

/// Returns whether a file is a shared library or the loader, such as `libc.so.6` or `libm-2.31.so`.
fn is_library(object: &str) -> bool {
    object.split_once(".so").is_some_and(|(name, rest)| {
        !name.is_empty() && (rest.is_empty() || rest.starts_with(['.', ' ']))
    })
}

/// Returns whether the C standard reserves a name for the implementation, or POSIX's libraries have
/// it. There is nothing else to go by if a profile names no files. The mangled names of C++ and
/// Rust are reserved as well, but may be anyone's.
fn is_of_implementation(name: &str) -> bool {
    const OWN: [&str; 9] = [
        "clone",
        "clone3",
        "start_thread",
        "syscall",
        "malloc",
        "free",
        "calloc",
        "realloc",
        "_start",
    ];
    let mangled = ["_Z", "_R"].iter().any(|start| name.starts_with(start));
    let mut letters = name.chars();
    let reserved = letters.next() == Some('_')
        && letters.next().is_some_and(|second| second == '_' || second.is_ascii_uppercase());
    (reserved && !mangled) || name.starts_with("pthread_") || OWN.contains(&name)
}

/// Returns whether a function is one by which any program enters the kernel.
fn is_kernel_entry(name: &str) -> bool {
    name.starts_with("entry_SYSCALL") || name == "do_syscall_64" || name.starts_with("asm_exc_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str, object: &str, origin: Origin) -> Owner {
        Owner::of(&Function { name: name.into(), object: object.into(), origin })
    }

    #[test]
    fn files_tell_whose_a_function_is() {
        assert_eq!(owner("copy_all", "/opt/app/server", Origin::User), Owner::Program);
        assert_eq!(owner("__my_helper", "/opt/app/server", Origin::User), Owner::Program);
        assert_eq!(owner("memmove", "/lib/x86_64/libc.so.6", Origin::User), Owner::Library);
        assert_eq!(owner("sin", "/lib/libm-2.31.so", Origin::User), Owner::Library);
        assert_eq!(owner("gone", "/lib/libx.so (deleted)", Origin::User), Owner::Library);
        assert_eq!(owner("main", "/bin/so.something", Origin::User), Owner::Program);
        assert_eq!(owner("clock_gettime", "[vdso]", Origin::User), Owner::Library);
        assert_eq!(owner("LFoo;::bar", "[JIT app cache]", Origin::User), Owner::Program);
        assert_eq!(owner("do_futex", "[kernel.kallsyms]", Origin::Kernel), Owner::Kernel);
        assert_eq!(owner("[unknown]", "/opt/app/server", Origin::User), Owner::Program);
        assert_eq!(owner("[unknown]", "", Origin::User), Owner::Unknown);
    }

    #[test]
    fn without_files_reserved_names_are_the_librarys() {
        assert_eq!(owner("copy_all", "", Origin::Unknown), Owner::Program);
        assert_eq!(owner("__memmove_avx_unaligned_erms", "", Origin::Unknown), Owner::Library);
        assert_eq!(owner("_ZN6server4copyEv", "", Origin::Unknown), Owner::Program);
        assert_eq!(owner("pthread_mutex_lock", "", Origin::Unknown), Owner::Library);
        assert_eq!(owner("do_syscall_64", "", Origin::Unknown), Owner::Kernel);
        assert_eq!(owner("[libfoo.so]", "", Origin::Unknown), Owner::Unknown);
    }
}
