//! The paths that were recorded, by name, and those of files.

use std::fs::File;
use std::io::Read;

use kilocore_kernel_path::Path;
use kilocore_machine::names::find;

use crate::kernel::run::KernelError;

/// More than any file has that can be read: a step has at most some 20 bytes.
const MOST_BYTES: u64 = 1 << 28;

/// A path that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltinPath {
    /// Its name on the command line.
    pub name: &'static str,
    text: &'static str,
}

impl BuiltinPath {
    /// All of them. `linux/paths/record` recorded them.
    pub const ALL: [Self; 2] = [
        Self { name: "fork", text: include_str!("../../paths/fork.path") },
        Self { name: "exec", text: include_str!("../../paths/exec.path") },
    ];
}

/// Returns the path of a name, or that of a file. What has a slash or a dot in it is a file.
///
/// # Errors
/// [`KernelError`] if there is none of the name, or the file is none.
pub fn find_path(name: &str) -> Result<Path, KernelError> {
    if name.contains(['/', '.']) {
        let mut text = String::new();
        File::open(name)
            .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
            .map_err(|error| KernelError::File { file: name.to_owned(), error })?;
        return Path::read(&text)
            .map_err(|error| KernelError::Path { file: name.to_owned(), error });
    }
    let builtin = find("path", name, BuiltinPath::ALL.iter().map(|path| (path.name, *path)))?;
    Path::read(builtin.text).map_err(|error| KernelError::Path { file: name.to_owned(), error })
}
