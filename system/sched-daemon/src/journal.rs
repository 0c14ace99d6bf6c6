//! The journal: a small file that says what to put back.
//!
//! A fact is written before the order that it is about. It need not reach the disk, since affinities end
//! with the system, too. If the file has grown long, it is written anew beside itself and renamed, so that
//! at every instant there is a whole one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use kilocore_process::boot_id;

use crate::host::Host;
use crate::ledger::{Fact, Ledger, Named};
use crate::outcome::Outcome;
use crate::places;
use crate::restore::restore;

/// The ending of journals' names.
const ENDING: &str = "journal";

/// How long a journal grows before it is written anew, in bytes beyond twice what it needs.
const LONG: u64 = 1 << 20;

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    header: String,
    ledger: Ledger,
    bytes: u64,
    needed: u64,
}

/// What was put back of an orphaned journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The process whose journal it was.
    pub daemon: u32,
    /// What became of it.
    pub outcome: Outcome,
}

impl Journal {
    /// Begins the journal of this process.
    ///
    /// # Errors
    /// If no folder for it can be written to.
    pub fn create(host: &mut dyn Host) -> io::Result<Self> {
        let pid = std::process::id();
        let started = host.stat(pid).map_or(0, |stat| stat.started);
        Self::create_in(&places::folder()?, Named { id: pid, started })
    }

    pub(crate) fn create_in(folder: &Path, daemon: Named) -> io::Result<Self> {
        let path = folder.join(format!("{}-{}.{ENDING}", daemon.id, daemon.started));
        let boot = boot_id().unwrap_or_else(|| "unknown".to_owned());
        let header = format!("kilocore-sched-1 {} {} {boot}\n", daemon.id, daemon.started);
        let mut file = open(&path)?;
        file.write_all(header.as_bytes())?;
        let bytes = header.len() as u64;
        Ok(Self { path, file, header, ledger: Ledger::default(), bytes, needed: bytes })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn write(&mut self, facts: Vec<Fact>) -> io::Result<()> {
        let text: String = facts.iter().map(Fact::line).collect();
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        for fact in facts {
            self.ledger.apply(fact);
        }
        if self.bytes > 2 * self.needed + LONG { self.anew() } else { Ok(()) }
    }

    fn anew(&mut self) -> io::Result<()> {
        let facts: String = self.ledger.facts().iter().map(Fact::line).collect();
        let text = format!("{}{facts}", self.header);
        let beside = self.path.with_extension("new");
        let mut file = open(&beside)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&beside, &self.path)?;
        self.file = file;
        self.bytes = text.len() as u64;
        self.needed = self.bytes;
        Ok(())
    }

    /// Ends it: nothing is left to be put back.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let _ = fs::remove_file(path);
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// What a journal says: whose it is, of which boot, and the facts. A line that was cut off by the
/// daemon's end says nothing: its order was not given.
pub(crate) fn read(path: &Path) -> Option<(Named, String, Ledger)> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let header: Vec<&str> = lines.next()?.split(' ').collect();
    let ["kilocore-sched-1", id, started, boot] = header[..] else { return None };
    let daemon = Named { id: id.parse().ok()?, started: started.parse().ok()? };
    let mut ledger = Ledger::default();
    for fact in lines.filter_map(Fact::parse) {
        ledger.apply(fact);
    }
    Some((daemon, boot.to_owned(), ledger))
}

/// Puts back what daemons have left that were killed together with their guardians, and removes their
/// journals, unless something could not be put back.
pub fn restore_orphans(host: &mut dyn Host) -> Vec<Restored> {
    let folders = places::folders().into_iter().filter(|folder| places::is_ours(folder));
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut journals: Vec<PathBuf> = files.map(|file| file.path()).collect();
    journals.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    journals.sort();
    journals.dedup();
    journals.iter().filter_map(|path| restore_orphan(path, host)).collect()
}

fn restore_orphan(path: &Path, host: &mut dyn Host) -> Option<Restored> {
    let (daemon, boot, ledger) = read(path)?;
    let mut alive = |of: Named| {
        host.stat(of.id).is_some_and(|stat| stat.started == of.started && !stat.has_ended())
    };
    let here = boot_id().is_none_or(|id| id == boot || boot == "unknown");
    if here && (alive(daemon) || ledger.guardian.is_some_and(&mut alive)) {
        return None;
    }
    let outcome = if here { restore(&ledger, host) } else { Outcome::default() };
    if outcome.left.is_empty() {
        fs::remove_file(path).ok()?;
    }
    Some(Restored { daemon: daemon.id, outcome })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Masks;
    use kilocore_sched_policy::CpuSet;

    #[test]
    fn a_journal_is_read_as_it_was_written_and_also_cut_off_or_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Named { id: 1, started: 2 };
        let mut journal = Journal::create_in(folder.path(), daemon).expect("a file");
        let masks = |cores| Masks { allowed: CpuSet::first(8), set: CpuSet::first(cores) };
        for cores in 1..5 {
            let of = Named { id: cores % 3, started: 4 };
            let facts = vec![Fact::Program(of, masks(cores)), Fact::Order(of, masks(cores))];
            journal.write(facts).expect("room");
        }
        let written =
            (daemon, boot_id().unwrap_or_else(|| "unknown".into()), journal.ledger.clone());
        assert_eq!(read(journal.path()), Some(written.clone()));
        journal.anew().expect("room");
        assert_eq!(read(journal.path()), Some(written.clone()));
        journal.file.write_all(b"order 9 9 0-7 0").expect("room");
        assert_eq!(read(journal.path()), Some(written), "its line does not end");
    }
}
