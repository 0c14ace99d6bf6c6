//! What several points have in common.

use std::fmt::Debug;
use std::io::{self, Read};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::Key;

/// What computes points: a program, down to its compiler.
///
/// The compiler lays out the stacks on which some locks have their nodes, so it is part of what a simulation
/// depends on. The version of a program is therefore a digest of its file. Another build has other points, and no
/// answer can be stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub(crate) Key);

impl Version {
    /// That of a program whose file cannot be read. Nothing is kept of it.
    pub(crate) const UNKNOWN: Self = Self(Key::from_bytes([0; Key::BYTES]));

    /// That of the program that runs. `None` if its file cannot be read.
    #[must_use]
    pub fn of_this_program() -> Option<Self> {
        static VERSION: OnceLock<Option<Version>> = OnceLock::new();
        *VERSION.get_or_init(|| of_running_program().ok())
    }
}

fn of_running_program() -> io::Result<Version> {
    // The file that was started, also if another one is in its place by now.
    let mut file = std::fs::File::open("/proc/self/exe")?;
    let mut digest = Sha256::new();
    let mut room = vec![0; 1 << 16];
    loop {
        match file.read(&mut room)? {
            0 => return Ok(Version(Key::from_bytes(digest.finalize().into()))),
            length => digest.update(&room[..length]),
        }
    }
}

/// What several points have in common: which computation they are of, what computes it, and the inputs that are the
/// same for all of them. The points of a subject are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject(Key);

/// Letters of a subject's name in those of its files. Of so many, no two subjects have the same by chance.
const NAME_LETTERS: usize = 24;

impl Subject {
    /// The subject of points of `computation` whose common inputs are `shared`.
    #[must_use]
    pub fn new(computation: &str, version: Version, shared: &(impl Debug + ?Sized)) -> Self {
        Self(Key::of_all(&[Key::of_bytes(computation.as_bytes()), version.0, Key::of(shared)]))
    }

    /// The key of the point whose own inputs have the key `own`. No two subjects have a key in common.
    #[must_use]
    pub fn key(&self, own: Key) -> Key {
        Key::of_all(&[self.0, own])
    }

    /// What the names of its files begin with.
    pub(crate) fn name(&self) -> String {
        let mut name = self.0.to_string();
        name.truncate(NAME_LETTERS);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Subject, Version};
    use crate::Key;

    #[test]
    fn subjects_differ_by_computation_version_and_inputs() {
        let version = |number: u32| Version(Key::of(&number));
        let all = [
            Subject::new("a", version(1), "shared"),
            Subject::new("b", version(1), "shared"),
            Subject::new("a", version(2), "shared"),
            Subject::new("a", version(1), "other"),
        ];
        for (index, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(index));
            assert_eq!(all.iter().position(|other| other.name() == one.name()), Some(index));
        }
        let own = Key::of(&1);
        assert_ne!(all[0].key(own), all[1].key(own));
        assert_eq!(all[0].key(own), Subject::new("a", version(1), "shared").key(own));
    }

    #[test]
    fn this_program_has_a_version() {
        assert!(Version::of_this_program().is_some());
        assert_eq!(Version::of_this_program(), Version::of_this_program());
    }
}
