//! What a process executes, and whether the recorder is in it.

use std::io;
use std::path::Path;

use kilocore_lock_profile::WhyUnrecorded;
use kilocore_process::{Obstacle, obstacle_of_image};

use kilocore_linux::{self as process, FileId};

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
        // The recorder may be in a program that it leaves alone.
        let obstacle = obstacle_of_image(Path::new(&format!("/proc/{pid}/exe")));
        let left_alone = obstacle == Some(Obstacle::ThreadSanitizer);
        if contains(&maps, self.library.as_bytes()) && !left_alone {
            return Verdict::Loaded;
        }
        if let Some(obstacle) = obstacle {
            return Verdict::Without(why(obstacle));
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
    let Ok(vector) = kilocore_linux::read(&format!("/proc/{pid}/auxv"), &mut room) else {
        return false;
    };
    let (words, _) = vector.as_chunks::<8>();
    words
        .chunks_exact(2)
        .any(|entry| u64::from_ne_bytes(entry[0]) == AT_SECURE && u64::from_ne_bytes(entry[1]) != 0)
}

/// The name of an obstacle in a profile.
pub(crate) fn why(obstacle: Obstacle) -> WhyUnrecorded {
    match obstacle {
        Obstacle::Static => WhyUnrecorded::Static,
        Obstacle::OtherRights => WhyUnrecorded::OtherRights,
        Obstacle::OtherArchitecture => WhyUnrecorded::OtherArchitecture,
        Obstacle::OtherLibrary => WhyUnrecorded::OtherLibrary,
        Obstacle::ThreadSanitizer => WhyUnrecorded::ThreadSanitizer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
