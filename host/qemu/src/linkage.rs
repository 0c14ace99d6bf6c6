//! How a program is linked: whether a library can be preloaded under it.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// Statically, so that no library can be put under it.
    Static,
    /// By the dynamic linker of glibc.
    Glibc,
    /// By another dynamic linker, such as that of musl, which has no place for libraries that need glibc.
    Other,
}

/// The kind of a program header that names the dynamic linker.
const INTERPRETER: u32 = 3;
/// Names are not longer.
const LONGEST: u64 = 4096;
/// Programs have about a dozen headers.
const MOST_HEADERS: u16 = 256;

impl Linkage {
    /// That of an ELF file of 64 bits. What cannot be read is taken for static.
    #[must_use]
    pub fn of(program: &Path) -> Self {
        let name = File::open(program).ok().and_then(|file| interpreter(&file));
        match name.as_deref() {
            None => Self::Static,
            Some(name) if file_name(name).starts_with(b"ld-linux") => Self::Glibc,
            Some(_) => Self::Other,
        }
    }
}

/// The dynamic linker that a program names, if it is linked dynamically.
#[must_use]
pub fn loader(program: &Path) -> Option<PathBuf> {
    let name = interpreter(&File::open(program).ok()?)?;
    Some(PathBuf::from(OsString::from_vec(name)))
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// The dynamic linker that a program names.
fn interpreter(file: &File) -> Option<Vec<u8>> {
    let bytes = |at: u64, count: usize| {
        let mut bytes = vec![0; count];
        file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    };
    let long =
        |bytes: &[u8], at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let short =
        |bytes: &[u8], at: usize| bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes);
    let header = bytes(0, 64)?;
    let (table, each, count) = (long(&header, 32)?, short(&header, 54)?, short(&header, 56)?);
    for index in 0..count.min(MOST_HEADERS) {
        let at = table.checked_add(u64::from(index) * u64::from(each))?;
        let entry = bytes(at, 56)?;
        if entry[..4] == INTERPRETER.to_le_bytes() {
            let (at, length) = (long(&entry, 8)?, long(&entry, 32)?);
            let name = bytes(at, length.min(LONGEST) as usize)?;
            return Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(interpreter: Option<&str>) -> Linkage {
        let mut file = vec![0; 64];
        file[32] = 64;
        file[54] = 56;
        file[56] = 2;
        file.resize(64 + 2 * 56, 0);
        if let Some(name) = interpreter {
            file[64 + 56] = 3;
            file[64 + 56 + 8] = 176;
            file[64 + 56 + 32] = name.len() as u8 + 1;
            file.extend(name.as_bytes());
            file.push(0);
        }
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("program");
        std::fs::write(&path, file).expect("there is room");
        Linkage::of(&path)
    }

    #[test]
    fn linkers_are_told_apart() {
        assert_eq!(of(None), Linkage::Static);
        assert_eq!(of(Some("/lib64/ld-linux-x86-64.so.2")), Linkage::Glibc);
        assert_eq!(of(Some("/lib/ld-musl-x86_64.so.1")), Linkage::Other);
    }

    #[test]
    fn a_file_that_is_cut_off_is_taken_for_static() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("program");
        std::fs::write(&path, [1; 60]).expect("there is room");
        assert_eq!(Linkage::of(&path), Linkage::Static);
    }
}
