//! Finding the program that a word of a command line names.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the file that `execvp` would execute.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) if there is no such file, and
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) if there is one that cannot be executed.
pub fn find_program(program: &OsStr) -> io::Result<PathBuf> {
    let path = Path::new(program);
    if is_path(program) {
        return executable(path.to_path_buf());
    }
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    if path.as_os_str().is_empty() {
        return Err(refused);
    }
    for folder in folders() {
        match executable(folder.join(path)) {
            Ok(found) => return Ok(found),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused = error,
            Err(_) => {}
        }
    }
    Err(refused)
}

/// Whether a word names a file by its path, and no program by its name.
pub(crate) fn is_path(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

/// The folders in which programs are looked for by their names.
pub(crate) fn folders() -> impl Iterator<Item = PathBuf> {
    let search = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    env::split_paths(&search).collect::<Vec<_>>().into_iter()
}

fn executable(path: PathBuf) -> io::Result<PathBuf> {
    let metadata = path.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(path)
    } else {
        Err(io::Error::from(io::ErrorKind::PermissionDenied))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_executed() {
        let kind = |program: &str| find_program(OsStr::new(program)).map_err(|error| error.kind());
        assert!(kind("sh").is_ok_and(|path| path.is_absolute()));
        assert!(kind("/bin/sh").is_ok());
        assert_eq!(kind("no-such-program-anywhere"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind(""), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("/etc/passwd"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(kind("/etc"), Err(io::ErrorKind::PermissionDenied));
    }
}
