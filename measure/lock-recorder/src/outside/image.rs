//! What a process executes, and whether the recorder is in it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kilocore_lock_profile::WhyUnrecorded;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, elf};

use kilocore_proc_files::{self as process, FileId};

/// What a look at a process image shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The recorder is loaded.
    Loaded,
    /// The recorder cannot be loaded.
    Without(WhyUnrecorded),
    /// The recorder is not loaded, or not yet.
    Open,
    /// The process is gone, or has not executed anything yet.
    Nothing,
}

/// What tells whether a process image is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    /// The path of the library.
    pub(crate) library: String,
    /// What the environment says where to record to: `NAME=value`.
    pub(crate) asks: String,
    /// What this process executes. A child of it executes the same until it executes a program.
    pub(crate) own: Option<FileId>,
    /// The root of this process's file system.
    pub(crate) root: Option<FileId>,
}

/// The auxiliary vector's entry for programs that run with other rights than their starter's.
const AT_SECURE: u64 = libc::AT_SECURE;

impl Recorder {
    /// Looks at what a process executes now, which is `file`. `again` says that it executed the
    /// same at an earlier look. At a first look nothing is said of the environment, because a
    /// program may be about to change it and to execute the next.
    ///
    /// If the recorder is loaded, `/proc/PID/maps` has a line with its path:
    ///
    /// ```text
    /// 7f1c8a200000-7f1c8a21b000 r-xp 00003000 08:01 131 /usr/lib/kilocore/libkilocore_measure.so
    /// ```
    pub(crate) fn examine(&self, pid: u32, file: &io::Result<FileId>, again: bool) -> Verdict {
        match file {
            Ok(file) if Some(*file) == self.own => return Verdict::Nothing,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Verdict::Without(WhyUnrecorded::OtherRights);
            }
            Err(_) => return Verdict::Nothing,
        }
        let Ok(maps) = std::fs::read(format!("/proc/{pid}/maps")) else { return Verdict::Nothing };
        if contains(&maps, self.library.as_bytes()) {
            return Verdict::Loaded;
        }
        if let Some(why) = cannot_preload(Path::new(&format!("/proc/{pid}/exe"))) {
            return Verdict::Without(why);
        }
        if is_secure(pid) {
            return Verdict::Without(WhyUnrecorded::OtherRights);
        }
        if self.sees_other_root(pid) {
            return Verdict::Without(WhyUnrecorded::OtherRoot);
        }
        if again && self.is_asked(pid) == Some(false) {
            return Verdict::Without(WhyUnrecorded::NotAsked);
        }
        Verdict::Open
    }

    /// Whether a process's files are not those that this process sees.
    pub(crate) fn sees_other_root(&self, pid: u32) -> bool {
        let theirs = FileId::of(&format!("/proc/{pid}/root/"));
        self.root.is_some_and(|ours| theirs.is_ok_and(|theirs| theirs != ours))
    }

    /// Whether the environment of a process asks for this recording. Returns `None` if that may not
    /// be read, or if the process has no environment yet.
    ///
    /// `/proc/PID/environ` has an entry after the other, each with a zero byte behind it:
    /// `HOME=/root\0KILOCORE_MEASURE_DIR=/tmp/recording\0`.
    pub(crate) fn is_asked(&self, pid: u32) -> Option<bool> {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        if environment.is_empty() && !process::has_environment(pid) {
            return None;
        }
        Some(environment.split(|byte| *byte == 0).any(|entry| entry == self.asks.as_bytes()))
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// Whether a process runs with other rights than its starter's. The auxiliary vector in
/// `/proc/PID/auxv` is pairs of machine words: the kind of an entry, and its value.
fn is_secure(pid: u32) -> bool {
    let mut room = [0; 1024];
    let Ok(vector) = kilocore_proc_files::read(&format!("/proc/{pid}/auxv"), &mut room) else {
        return false;
    };
    let (words, _) = vector.as_chunks::<8>();
    words
        .chunks_exact(2)
        .any(|entry| u64::from_ne_bytes(entry[0]) == AT_SECURE && u64::from_ne_bytes(entry[1]) != 0)
}

/// Returns why nothing can be preloaded into the program in a file, or `None` if nothing is known
/// to prevent it.
pub(crate) fn cannot_preload(file: &Path) -> Option<WhyUnrecorded> {
    /// The headers of a program lie at its beginning.
    const BEGINNING: usize = 1 << 14;
    let mut room = vec![0; BEGINNING];
    let bytes = kilocore_proc_files::read(file.to_str()?, &mut room).ok()?;
    if !bytes.starts_with(&elf::ELFMAG) {
        return None;
    }
    let own_class =
        if cfg!(target_pointer_width = "64") { elf::ELFCLASS64 } else { elf::ELFCLASS32 };
    if elf::FileClass(*bytes.get(4)?) != own_class {
        return Some(WhyUnrecorded::OtherArchitecture);
    }
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    if own_machine().is_some_and(|own| own != header.e_machine(endian)) {
        return Some(WhyUnrecorded::OtherArchitecture);
    }
    let segments = header.program_headers(endian, bytes).ok()?;
    let interpreted = segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    (!interpreted).then_some(WhyUnrecorded::Static)
}

/// The same for a program that has ended. `file` is the file that was to be executed.
pub(crate) fn could_not_preload(file: &Path) -> Option<WhyUnrecorded> {
    const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
    let changes_user = std::fs::metadata(file).is_ok_and(|metadata| {
        // SAFETY: take no argument.
        let own = unsafe { (libc::geteuid(), libc::getegid()) };
        metadata.mode() & SET_ID != 0 && own != (metadata.uid(), metadata.gid())
    });
    cannot_preload(file).or(changes_user.then_some(WhyUnrecorded::OtherRights))
}

/// The machine of this process's own program.
fn own_machine() -> Option<elf::Machine> {
    let mut room = [0; 64];
    let bytes = kilocore_proc_files::read("/proc/self/exe", &mut room).ok()?;
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    Some(header.e_machine(header.endian().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a program of this kind, with these changes to its bytes.
    fn program(change: impl FnOnce(&mut Vec<u8>)) -> Option<WhyUnrecorded> {
        let mut bytes = std::fs::read("/bin/sh").expect("there is a shell");
        change(&mut bytes);
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(file.path(), bytes).expect("there is room");
        cannot_preload(file.path())
    }

    #[test]
    fn programs_are_told_by_their_headers() {
        assert_eq!(program(|_| ()), None);
        assert_eq!(program(|bytes| bytes[4] = 1), Some(WhyUnrecorded::OtherArchitecture));
        assert_eq!(program(|bytes| bytes[18] ^= 0x7f), Some(WhyUnrecorded::OtherArchitecture));
        let without_interpreter = |bytes: &mut Vec<u8>| {
            let first = u64::from_ne_bytes(bytes[32..40].try_into().unwrap()) as usize;
            let count = u16::from_ne_bytes(bytes[56..58].try_into().unwrap()) as usize;
            for header in (0..count).map(|index| first + 56 * index) {
                if bytes[header..header + 4] == 3u32.to_ne_bytes() {
                    bytes[header..header + 4].copy_from_slice(&0u32.to_ne_bytes());
                }
            }
        };
        assert_eq!(program(without_interpreter), Some(WhyUnrecorded::Static));
        assert_eq!(program(|bytes| bytes.truncate(30)), None, "cut short, nobody knows");
        assert_eq!(program(|bytes| *bytes = b"#!/bin/sh\n".to_vec()), None);
    }

    #[test]
    fn a_process_that_has_executed_nothing_yet_is_none() {
        let own = std::process::id();
        let file = FileId::of("/proc/self/exe");
        let mut recorder = Recorder {
            library: "/no/such/library.so".into(),
            asks: "KILOCORE_MEASURE_DIR=/nowhere".into(),
            own: file.as_ref().ok().copied(),
            root: FileId::of("/").ok(),
        };
        assert_eq!(recorder.examine(own, &file, true), Verdict::Nothing);
        recorder.own = None;
        assert_eq!(
            recorder.examine(own, &file, false),
            Verdict::Open,
            "it may have begun just now"
        );
        assert_eq!(recorder.examine(own, &file, true), Verdict::Without(WhyUnrecorded::NotAsked));
        recorder.root = FileId::of("/proc").ok();
        assert_eq!(recorder.examine(own, &file, true), Verdict::Without(WhyUnrecorded::OtherRoot));
        recorder.library = "libc.so".into();
        assert_eq!(recorder.examine(own, &file, true), Verdict::Loaded);
    }
}
