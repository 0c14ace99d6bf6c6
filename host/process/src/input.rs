//! Where a program's standard input comes from.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

/// Where the program's standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// From where this process's own comes.
    #[default]
    Inherited,
    /// From nowhere: it is empty.
    Empty,
    /// From the file that this process's own comes from, beginning anew; it is empty if that is no
    /// regular file. So several runs read the same.
    Repeated,
}

/// Whether this process's standard input is a pipe or a socket, of which [`Input::Repeated`] gives a program
/// nothing.
#[must_use]
pub fn input_is_a_stream() -> bool {
    own().is_ok_and(|own| own.file_type().is_fifo() || own.file_type().is_socket())
}

/// Whether this process's standard input is a regular file, which [`Input::Repeated`] gives a program from its beginning.
#[must_use]
pub fn input_is_a_file() -> bool {
    // To open a pipe could wait for who writes to it.
    own().is_ok_and(|own| own.is_file())
}

/// This process's standard input from its beginning, if it is a file.
pub(crate) fn repeated() -> Stdio {
    // What is opened under this name has a position of its own.
    let file = input_is_a_file().then(|| File::open("/proc/self/fd/0"));
    file.and_then(Result::ok).map_or_else(Stdio::null, Stdio::from)
}

/// What this process's standard input is.
fn own() -> io::Result<Metadata> {
    File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()
}
