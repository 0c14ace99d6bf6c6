//! Which file systems say when something changes, and which of the kernel's files can be read again instead.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::fs::{CWD, FsWord, Mode, OFlags, fstatfs, openat};

use crate::Unstamped;

/// The most that a file of the kernel's may say, in bytes.
pub(crate) const MOST_SAID: usize = 16 << 10;

/// Files of the kernel's that say something about the system or its user, the same until somebody changes it. To read
/// them changes nothing.
const TELLING: [&str; 9] = [
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/proc/filesystems",
    "/proc/mounts",
    "/proc/version",
    "/proc/sys/",
    "/sys/devices/system/",
    "/sys/fs/cgroup/",
    "/sys/kernel/mm/",
];

/// File systems of this host that note each change: ext, XFS, Btrfs, bcachefs, ZFS, F2FS, in memory, in layers, and some
/// that cannot be written.
const LOCAL: [u64; 12] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xca45_1a4e,
    0x2fc1_2fc1,
    0xf2f5_2010,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
    0x7371_7368,
    0xe0f5_e1e2,
    0x9660,
];
/// Those of the kernel: proc, sys, and the two of control groups.
const KERNEL: [u64; 4] = [0x9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270];

/// What kind of file system something is on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Local,
    Kernel,
    Other,
}

impl FileSystem {
    pub(crate) fn of(kind: FsWord) -> Self {
        let kind = kind as u64;
        match kind {
            _ if LOCAL.contains(&kind) => Self::Local,
            _ if KERNEL.contains(&kind) => Self::Kernel,
            _ => Self::Other,
        }
    }
}

/// Whether a path is that of a file of the kernel's that may be read again.
pub(crate) fn is_telling(path: &str) -> bool {
    let is_below = |of: &&str| match of.ends_with('/') {
        true => path.starts_with(*of),
        false => path == *of,
    };
    TELLING.iter().any(is_below) && !path.split('/').any(|part| part == "..")
}

/// What a file of the kernel's says. The path may be a stranger's, so that another file may be there.
pub(crate) fn said(path: &str) -> Result<String, Unstamped> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from)?);
    let system = fstatfs(file.as_fd()).map_err(io::Error::from)?;
    if !file.metadata()?.is_file() || FileSystem::of(system.f_type) != FileSystem::Kernel {
        return Err(Unstamped::NoFile);
    }
    let mut text = String::new();
    file.take(MOST_SAID as u64 + 1).read_to_string(&mut text)?;
    if text.len() <= MOST_SAID { Ok(text) } else { Err(Unstamped::OfKernel) }
}
