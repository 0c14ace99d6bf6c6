//! What is mapped where, by `/proc/PID/maps`:
//!
//! ```text
//! 7f2d1c0a6000-7f2d1c0a8000 rw-s 00002000 08:01 131   /dev/shm/locks
//! 55d0c8a1f000-55d0c8a40000 rw-p 00000000 00:00 0     [heap]
//! ```

use std::fs;
use std::io;

/// What the kernel puts behind the path of a file that was removed, or that another was put in place of.
pub const GONE: &str = " (deleted)";

/// A stretch of a process's address space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The first address of the stretch.
    pub start: u64,
    /// The address behind its last one; more than `start`.
    pub end: u64,
    /// Whether it can be executed.
    pub executable: bool,
    /// Whether what is written there is seen by others that map the file.
    pub shared: bool,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The numbers of the file's device: major, then minor.
    pub device: (u64, u64),
    /// The number of the file on its device; 0 without a file.
    pub inode: u64,
    /// The file, or a word in brackets, or nothing.
    pub path: String,
}

impl Mapping {
    /// Returns the path, if it is that of a file. If the file [is gone](Self::is_gone), it was there once.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        let path = self.path.strip_suffix(GONE).unwrap_or(&self.path);
        path.starts_with('/').then_some(path)
    }

    /// Whether the file has no name any more, so that another file may be at its path; or ends in these
    /// words.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.path.ends_with(GONE)
    }
}

/// Returns the mappings of a process, sorted by address.
///
/// # Errors
/// The system's, if there is no such process or it may not be looked at.
pub fn of(pid: u32) -> io::Result<Vec<Mapping>> {
    read(&format!("/proc/{pid}/maps"))
}

/// Returns the mappings of the calling process.
///
/// # Errors
/// The system's: `/proc` may not be there.
pub fn own() -> io::Result<Vec<Mapping>> {
    read("/proc/self/maps")
}

fn read(path: &str) -> io::Result<Vec<Mapping>> {
    Ok(parse(&String::from_utf8_lossy(&fs::read(path)?)))
}

/// Reads the text of such a file. Lines that are no mappings are left out.
#[must_use]
pub fn parse(text: &str) -> Vec<Mapping> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Mapping> {
    let hex = |word: &str| u64::from_str_radix(word, 16).ok();
    let mut words = text.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?.as_bytes();
    let offset = hex(words.next()?)?;
    let (major, minor) = words.next()?.split_once(':')?;
    let device = (hex(major)?, hex(minor)?);
    let inode = words.next()?.parse().ok()?;
    let path = words.next().unwrap_or("").trim_start().to_owned();
    let (start, end) = (hex(start)?, hex(end)?);
    let right = |index: usize, right| rights.get(index) == Some(&right);
    let (executable, shared) = (right(2, b'x'), right(3, b's'));
    (start < end).then_some(Mapping { start, end, executable, shared, offset, device, inode, path })
}

/// Returns the mapping that an address lies in, of mappings that are sorted by address.
#[must_use]
pub fn at(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    let after = mappings.partition_point(|mapping| mapping.start <= address);
    mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read_with_their_paths() {
        let text = "\
1000-3000 rw-s 00002000 08:01 131   /dev/shm/a lock (deleted)
5000-6000 r-xp 00000000 00:00 0
";
        let mappings = parse(text);
        let shared = at(&mappings, 0x2fff).unwrap();
        assert_eq!((shared.offset, shared.inode, shared.shared), (0x2000, 131, true));
        assert_eq!(shared.file(), Some("/dev/shm/a lock"));
        assert_eq!((shared.is_gone(), shared.device), (true, (8, 1)));
        assert!(at(&mappings, 0x3000).is_none() && at(&mappings, 0).is_none());
        let other = at(&mappings, 0x5000).unwrap();
        assert!(other.executable && !other.is_gone());
        assert_eq!(of(std::process::id()).unwrap().is_empty(), own().unwrap().is_empty());
        assert!(!own().unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[0-9a-f rwxps:/\\n-]{0,200}") {
            let _ = parse(&text);
        }
    }
}
