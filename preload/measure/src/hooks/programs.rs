//! The functions by which a process executes another program. The recorder may not come along: then it
//! leaves a note here ([`executed`](crate::executed)).
//!
//! `execl` and its kin take their arguments one by one, which cannot be passed on from here.

use core::ffi::{CStr, c_char, c_int, c_void};

use kilocore_preload_common::{errno, real_functions};

use crate::executed::{note, note_searched};

type Words = *const *const c_char;

/// Leaves a note if a program that is going to be executed needs one.
///
/// # Safety
/// `program` is null or a string.
unsafe fn look(program: *const c_char, process: u32, note: fn(&CStr, u32)) {
    if !program.is_null() {
        // SAFETY: by the caller's promise.
        let program = unsafe { CStr::from_ptr(program) };
        errno::preserved(|| note(program, process));
    }
}

fn own_process() -> u32 {
    // SAFETY: the function has no arguments. A child that shares its parent's memory has its own number.
    unsafe { libc::getpid() as u32 }
}

macro_rules! export {
    ($($name:literal, $function:ident($($arg:ident: $type:ty),*) => $real:ident, $note:ident;)*) => {$(
        real_functions! {
            /// The function of the C library that the exported one displaces.
            fn $real(program: *const c_char, $($arg: $type),*) -> libc::c_int;
        }

        /// Executes a program.
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(program: *const c_char, $($arg: $type),*) -> c_int {
            // SAFETY: the program is a string, and the caller's arguments are passed on unchanged.
            unsafe {
                look(program, own_process(), $note);
                $real(program, $($arg),*)
            }
        }
    )*};
}

export! {
    "execve", displaced_execve(words: Words, environment: Words) => execve, note;
    "execv", displaced_execv(words: Words) => execv, note;
    "execvp", displaced_execvp(words: Words) => execvp, note_searched;
    "execvpe", displaced_execvpe(words: Words, environment: Words) => execvpe, note_searched;
}

macro_rules! export_spawn {
    ($($name:literal, $function:ident => $real:ident, $note:ident;)*) => {$(
        real_functions! {
            /// The function of the C library that the exported one displaces.
            fn $real(
                process: *mut libc::pid_t,
                program: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                words: Words,
                environment: Words,
            ) -> libc::c_int;
        }

        /// Starts a process that executes a program.
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(
            process: *mut libc::pid_t,
            program: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            words: Words,
            environment: Words,
        ) -> c_int {
            let mut own = 0;
            let to = if process.is_null() { &raw mut own } else { process };
            // SAFETY: the caller's arguments are passed on. Where the caller does not want the number of
            // the process, it goes to a variable of this function.
            let failed = unsafe { $real(to, program, actions, attributes, words, environment) };
            if failed == 0 {
                // SAFETY: the function has written the number there. The program is a string.
                unsafe { look(program, *to as u32, $note) };
            }
            failed
        }
    )*};
}

export_spawn! {
    "posix_spawn", displaced_posix_spawn => posix_spawn, note;
    "posix_spawnp", displaced_posix_spawnp => posix_spawnp, note_searched;
}
