//! Executing a program as the kernel does.
//!
//! The C library gives a file that the kernel does not know to a shell, as if all such files were scripts.
//! Of a program for another machine, the shell then says that its first line has a syntax error. So the
//! kernel is asked first. Only text goes on to the shell.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{env, iter, ptr};

use crate::executable::Beginning;
use crate::find_program;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// What `execve` takes.
struct Image {
    program: CString,
    arguments: Strings,
    /// That of this process, unless the command changes it.
    environment: Option<Strings>,
    /// Whether a shell may read it.
    is_text: bool,
}

/// Strings, and the array of pointers to them that ends with a null pointer.
struct Strings {
    pointers: Vec<*const c_char>,
    _owned: Vec<CString>,
}

// SAFETY: the pointers are to strings on the heap that it owns, and that nobody changes.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    fn new(strings: impl Iterator<Item = OsString>) -> Option<Self> {
        let owned: Option<Vec<CString>> =
            strings.map(|string| CString::new(string.into_vec()).ok()).collect();
        let owned = owned?;
        let pointers = owned.iter().map(|string| string.as_ptr()).chain(iter::once(ptr::null()));
        Some(Self { pointers: pointers.collect(), _owned: owned })
    }
}

impl Image {
    /// What a command executes; `None` if that is for the C library to say.
    fn of(command: &Command) -> Option<Self> {
        let path = find_program(command.get_program()).ok()?;
        let is_text = Beginning::of(&path).is_ok_and(|beginning| beginning.is_text());
        let words = iter::once(command.get_program()).chain(command.get_args());
        let changes: Vec<_> = command.get_envs().collect();
        let environment = match changes.is_empty() {
            true => None,
            false => {
                let mut variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
                for (name, value) in changes {
                    match value {
                        Some(value) => drop(variables.insert(name.to_owned(), value.to_owned())),
                        None => drop(variables.remove(name)),
                    }
                }
                let assigned = variables.into_iter().map(|(mut name, value)| {
                    name.push("=");
                    name.push(value);
                    name
                });
                Some(Strings::new(assigned)?)
            }
        };
        Some(Self {
            program: CString::new(path.into_os_string().into_vec()).ok()?,
            arguments: Strings::new(words.map(ToOwned::to_owned))?,
            environment,
            is_text,
        })
    }

    /// Executes it. Returns only if that failed: with an error if it is nothing for a shell either, and
    /// else such that whoever called this executes it in its own way.
    fn execute(&self) -> io::Result<()> {
        let arguments = self.arguments.pointers.as_ptr();
        // SAFETY: nobody changes the environment between fork and exec.
        let own = || unsafe { environ };
        let environment = self.environment.as_ref().map_or_else(own, |set| set.pointers.as_ptr());
        // SAFETY: a string and two arrays of strings that end with null.
        unsafe { libc::execve(self.program.as_ptr(), arguments, environment) };
        let error = io::Error::last_os_error();
        let for_a_shell = self.is_text || error.raw_os_error() != Some(libc::ENOEXEC);
        if for_a_shell { Ok(()) } else { Err(error) }
    }
}

/// Makes a command ask the kernel to execute its program, after everything else that it does before that.
pub(crate) fn ask_the_kernel_first(command: &mut Command) {
    let Some(image) = Image::of(command) else { return };
    // SAFETY: between fork and exec, this allocates and frees nothing.
    unsafe { command.pre_exec(move || image.execute()) };
}

/// Lets a program take this process's place. Returns only if that failed.
#[must_use]
pub fn execute(command: &mut Command) -> io::Error {
    ask_the_kernel_first(command);
    command.exec()
}
