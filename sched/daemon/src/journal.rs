//! The journal: a small file that says what to put back.
//!
//! A fact is written before the order that it is about. It need not reach the disk, since affinities end
//! with the system, too. If the file has grown long, it is written anew beside itself and renamed, so that
//! at every instant there is a whole one; those that have ended are then forgotten. Its daemon holds a lock on it, which ends with the daemon, however
//! that ends, and which who sees the file sees, too: also where the daemon has no number.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use kilocore_process::boot_id;

use crate::host::Host;
use crate::journal_name::{JournalName, Namespace};
use crate::ledger::{Fact, Ledger};
use crate::named::Named;
use crate::places::Folder;

/// How long a journal grows before it is written anew, in bytes beyond twice what it needs.
const LONG: u64 = 1 << 20;

/// No journal is longer: a hundred bytes for each of as many threads as Linux has numbers for.
const MOST: u64 = 1 << 29;

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    folder: Folder,
    name: JournalName,
    path: PathBuf,
    file: File,
    header: String,
    ledger: Ledger,
    bytes: u64,
    needed: u64,
}

/// Whose a journal is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) daemon: Named,
    /// The boot of the system; `unknown` if that does not tell.
    pub(crate) boot: String,
    /// Where the numbers in it are those of processes.
    pub(crate) namespace: Namespace,
}

impl Header {
    fn line(&self) -> String {
        let Self { daemon, boot, namespace } = self;
        let Namespace { device, inode } = namespace;
        format!("kilocore-sched-2 {} {} {boot} {device} {inode}\n", daemon.id, daemon.started)
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["kilocore-sched-2", id, started, boot, device, inode] = words[..] else { return None };
        Some(Self {
            daemon: Named { id: id.parse().ok()?, started: started.parse().ok()? },
            boot: boot.to_owned(),
            namespace: Namespace { device: device.parse().ok()?, inode: inode.parse().ok()? },
        })
    }

    /// Whether the system has been started anew since.
    pub(crate) fn is_of_another_boot(&self) -> bool {
        self.boot != "unknown" && boot_id().is_some_and(|now| now != self.boot)
    }
}

impl Journal {
    /// Begins the journal of this process.
    ///
    /// # Errors
    /// If no folder for it can be written to.
    pub fn create(host: &mut dyn Host) -> io::Result<Self> {
        let pid = std::process::id();
        let started = host.stat(pid).map_or(0, |stat| stat.started);
        Self::begin(Folder::make()?, Named { id: pid, started })
    }

    pub(crate) fn begin(folder: Folder, daemon: Named) -> io::Result<Self> {
        let namespace = Namespace::own();
        let boot = boot_id().unwrap_or_else(|| "unknown".to_owned());
        let header = Header { daemon, boot, namespace }.line();
        let name = JournalName { daemon, namespace: namespace.inode };
        let file = put(&folder, name, &header)?;
        let path = folder.path().join(name.file());
        let ledger = Ledger::of(daemon);
        let bytes = header.len() as u64;
        Ok(Self { folder, name, path, file, header, ledger, bytes, needed: bytes })
    }

    /// The path of the journal's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state that its lines add up to.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn name(&self) -> JournalName {
        self.name
    }

    pub(crate) fn write(&mut self, facts: Vec<Fact>) -> io::Result<()> {
        let text: String = facts.iter().map(Fact::line).collect();
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        for fact in facts {
            self.ledger.apply(fact);
        }
        Ok(())
    }

    /// If it has grown long, writes it anew, without what is about threads and processes that have ended.
    ///
    /// # Errors
    /// If it cannot be written; it is then as it was.
    pub(crate) fn shorten(&mut self, host: &mut dyn Host) -> io::Result<()> {
        if self.bytes <= 2 * self.needed + LONG {
            return Ok(());
        }
        self.ledger.forget(|of| host.has_ended(of));
        self.anew()
    }

    fn anew(&mut self) -> io::Result<()> {
        let facts: String = self.ledger.facts().iter().map(Fact::line).collect();
        let text = format!("{}{facts}", self.header);
        // The new file is locked before it is in its place, and the old one until then.
        self.file = put(&self.folder, self.name, &text)?;
        self.bytes = text.len() as u64;
        self.needed = self.bytes;
        Ok(())
    }

    /// Ends it: nothing is left to be put back.
    pub(crate) fn remove(&self) {
        self.folder.remove(self.name);
    }
}

fn put(folder: &Folder, name: JournalName, text: &str) -> io::Result<File> {
    let mut file = folder.begin(name)?;
    file.write_all(text.as_bytes())?;
    folder.put_in_place(name)?;
    Ok(file)
}

/// What a journal says: whose it is, and the facts. `None` if it is none, or another's than its name says.
pub(crate) fn read(name: JournalName, file: &File) -> Option<(Header, Ledger)> {
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    let (header, ledger) = parse(std::str::from_utf8(&bytes).ok()?)?;
    let is_it = header.daemon == name.daemon && header.namespace.inode == name.namespace;
    is_it.then_some((header, ledger))
}

/// A line that was cut off by the daemon's end says nothing: its order was not given.
pub(crate) fn parse(text: &str) -> Option<(Header, Ledger)> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let header = Header::parse(lines.next()?)?;
    let mut ledger = Ledger::of(header.daemon);
    for fact in lines.filter_map(Fact::parse) {
        ledger.apply(fact);
    }
    Some((header, ledger))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Masks;
    use kilocore_sched_policy::CpuSet;

    fn written(journal: &Journal) -> Ledger {
        let file = journal.folder.open_journal(journal.name).expect("it is there");
        read(journal.name, &file).expect("it is one").1
    }

    #[test]
    fn a_journal_is_read_as_it_was_written_and_also_cut_off_or_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Named { id: 1, started: 2 };
        let folder = Folder::open(folder.path()).expect("it is ours");
        let mut journal = Journal::begin(folder, daemon).expect("a file");
        let masks = |cores| Masks { allowed: CpuSet::first(8), set: CpuSet::first(cores) };
        for cores in 1..5 {
            let of = Named { id: cores % 3, started: 4 };
            let facts = vec![Fact::Program(of, masks(cores)), Fact::Order(of, masks(cores))];
            journal.write(facts).expect("room");
        }
        let ledger = journal.ledger.clone();
        assert_eq!(written(&journal), ledger);
        journal.anew().expect("room");
        assert_eq!(written(&journal), ledger);
        journal.file.write_all(b"order 9 9 0-7 0").expect("room");
        assert_eq!(written(&journal), ledger, "its line does not end");
    }

    #[test]
    fn a_journal_that_says_it_is_anothers_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(folder.path()).expect("it is ours");
        let journal = Journal::begin(folder, Named { id: 1, started: 2 }).expect("a file");
        let file = journal.folder.open_journal(journal.name).expect("it is there");
        let other = JournalName { daemon: Named { id: 2, started: 2 }, ..journal.name };
        assert_eq!(read(other, &file), None);
    }

    #[test]
    fn only_another_boot_is_one() {
        let of = |boot: &str| {
            let daemon = Named { id: 1, started: 2 };
            let header = Header { daemon, boot: boot.to_owned(), namespace: Namespace::own() };
            assert_eq!(Header::parse(header.line().trim_end()), Some(header.clone()));
            header.is_of_another_boot()
        };
        assert!(!of("unknown"));
        assert_eq!(of("another"), boot_id().is_some());
        assert!(!of(&boot_id().unwrap_or("unknown".to_owned())));
    }
}
