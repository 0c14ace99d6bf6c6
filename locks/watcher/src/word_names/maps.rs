//! What is mapped where, by `/proc/PID/maps`:
//!
//! ```text
//! 7f2d1c0a6000-7f2d1c0a8000 rw-s 00002000 08:01 131   /dev/shm/locks
//! 55d0c8a1f000-55d0c8a40000 rw-p 00000000 00:00 0     [heap]
//! ```

use std::fs;
use std::io;

/// What the kernel puts behind the path of a file that was removed, or that another was put in place of.
pub(crate) const GONE: &str = " (deleted)";

/// A stretch of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) executable: bool,
    pub(crate) shared: bool,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// The numbers of the file's device: major, then minor.
    pub(crate) device: (u64, u64),
    pub(crate) inode: u64,
    /// The file, or a word in brackets, or nothing.
    pub(crate) path: String,
}

impl Mapping {
    /// The path, if it is that of a file. If the file [is gone](Self::is_gone), it was there once.
    pub(crate) fn file(&self) -> Option<&str> {
        let path = self.path.strip_suffix(GONE).unwrap_or(&self.path);
        path.starts_with('/').then_some(path)
    }

    /// Whether the file has no name any more, so that another file may be at its path; or ends in these
    /// words.
    pub(crate) fn is_gone(&self) -> bool {
        self.path.ends_with(GONE)
    }
}

/// The mappings of a process, sorted by address.
pub(crate) fn of(pid: u32) -> io::Result<Vec<Mapping>> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(parse(&String::from_utf8_lossy(&text)))
}

/// Lines that are none are left out.
fn parse(text: &str) -> Vec<Mapping> {
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

/// The mapping that an address lies in.
pub(crate) fn at(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
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
        assert!(!of(std::process::id()).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[0-9a-f rwxps:/\\n-]{0,200}") {
            parse(&text);
        }
    }
}
