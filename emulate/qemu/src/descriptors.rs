//! What the program was started with, among its descriptors: what it reads there comes from outside, and so does what
//! it learns of it.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::os::fd::RawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::OnceLock;

use kilocore_emulation_orders::is_null_device;

use crate::depends;

/// The device and the number of a file.
type Identity = (u64, u64);

#[derive(Debug, Default)]
struct Inherited {
    all: HashSet<Identity>,
    /// Those for its output.
    output: HashSet<Identity>,
    /// Whether one of these is a pipe.
    is_output_a_pipe: bool,
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

fn metadata(descriptor: RawFd) -> Option<Metadata> {
    depends::with_file(descriptor, File::metadata)?.ok()
}

/// Remembers what is open now, before the program begins.
pub(crate) fn remember() {
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<RawFd>().ok();
    let all = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let all: Vec<RawFd> = all.filter_map(number).collect();
    if all.is_empty() {
        depends::also("what it was started with is not known");
    }
    let of = |numbers: &[RawFd]| {
        let files = numbers.iter().filter_map(|&number| metadata(number));
        files.map(|file| identity(&file)).collect()
    };
    let is_pipe = |number| metadata(number).is_some_and(|file| file.file_type().is_fifo());
    INHERITED.get_or_init(|| Inherited {
        all: of(&all),
        output: of(&[1, 2]),
        is_output_a_pipe: is_pipe(1) || is_pipe(2),
    });
}

/// Whether some of the program's output goes into a pipe.
pub(crate) fn is_output_a_pipe() -> bool {
    INHERITED.get().is_some_and(|inherited| inherited.is_output_a_pipe)
}

/// What a descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Of no file, so that the call fails.
    Nothing,
    /// Of `/dev/null` and the like.
    Null,
    /// Of what the program has opened or made: a file that is known, or a pipe of its own.
    Own,
    /// Of a terminal or another device that it has opened.
    Device,
    /// Of its output, as it was started with.
    Output,
    /// Of something else that it was started with.
    Inherited,
}

impl Of {
    /// What this one is of.
    pub(crate) fn the(descriptor: RawFd) -> Self {
        let Some(file) = metadata(descriptor) else { return Self::Nothing };
        let inherited = INHERITED.get();
        let is_in = |of: fn(&Inherited) -> &HashSet<Identity>| {
            inherited.is_none_or(|inherited| of(inherited).contains(&identity(&file)))
        };
        if is_null_device(&file) {
            Self::Null
        } else if is_in(|inherited| &inherited.output) {
            Self::Output
        } else if is_in(|inherited| &inherited.all) {
            Self::Inherited
        } else if file.file_type().is_char_device() || file.file_type().is_block_device() {
            Self::Device
        } else {
            Self::Own
        }
    }
}
