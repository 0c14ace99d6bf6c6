//! The names of journals.

use std::os::unix::fs::MetadataExt;

use crate::named::Named;

/// The ending of journals' names.
pub(crate) const ENDING: &str = ".journal";

/// The name of a journal: whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JournalName {
    pub(crate) daemon: Named,
    /// The number of the namespace in which the daemon has its own number.
    pub(crate) namespace: u64,
}

/// A namespace of process numbers: a number names a process in one only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Namespace {
    /// This process's; zeros if the system does not tell.
    pub(crate) fn own() -> Self {
        let found = std::fs::metadata("/proc/self/ns/pid");
        let (device, inode) = found.map_or((0, 0), |found| (found.dev(), found.ino()));
        Self { device, inode }
    }
}

impl JournalName {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut numbers = name.strip_suffix(ENDING)?.split('-');
        let mut number = || numbers.next()?.parse().ok();
        let id = u32::try_from(number()?).ok()?;
        let (started, namespace) = (number()?, number()?);
        let parsed = Self { daemon: Named { id, started }, namespace };
        // There is one way to write it.
        (parsed.file() == name).then_some(parsed)
    }

    pub(crate) fn file(self) -> String {
        self.with(ENDING)
    }

    /// The file that takes its place once it is written.
    pub(crate) fn beside(self) -> String {
        self.with(".new")
    }

    fn with(self, ending: &str) -> String {
        format!("{}-{}-{}{ending}", self.daemon.id, self.daemon.started, self.namespace)
    }
}
