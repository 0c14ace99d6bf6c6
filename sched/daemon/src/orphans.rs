//! Journals whose daemons are gone, and whose are not.
//!
//! A daemon lives if its journal is locked, wherever its number is one, or if it or its guardian is there under
//! its number. In another namespace, numbers are those of others, so that what such a journal says cannot be
//! done here.

use std::path::PathBuf;

use crate::host::Host;
use crate::journal::{self, Header};
use crate::journal_name::{JournalName, Namespace};
use crate::ledger::Ledger;
use crate::named::Named;
use crate::outcome::Outcome;
use crate::places::{self, Folder};
use crate::restore::restore;

/// What became of a journal whose daemon and guardian are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Orphan {
    /// What it says was put back.
    Restored {
        /// The process whose journal it was.
        daemon: u32,
        /// What became of it.
        outcome: Outcome,
    },
    /// It speaks of processes that have other numbers here.
    Elsewhere {
        /// The process whose journal it is, by its number there.
        daemon: u32,
        /// The file of the journal.
        path: PathBuf,
    },
}

/// Puts back what daemons have left that were killed together with their guardians, and removes their
/// journals, unless something could not be put back.
pub fn restore_orphans(host: &mut dyn Host) -> Vec<Orphan> {
    let mut orphans = Vec::new();
    for folder in places::folders().iter().filter_map(|folder| Folder::open(folder).ok()) {
        for name in folder.journals().unwrap_or_default() {
            orphans.extend(restore_orphan(&folder, name, Namespace::own(), host));
        }
    }
    orphans
}

fn restore_orphan(
    folder: &Folder,
    name: JournalName,
    here: Namespace,
    host: &mut dyn Host,
) -> Option<Orphan> {
    let file = folder.open_journal(name).ok()?;
    // What was opened may have been written anew before it was locked.
    if !places::lock(&file) || !folder.still_has(name, &file) {
        return None;
    }
    let (header, ledger) = journal::read(name, &file)?;
    let daemon = header.daemon.id;
    if header.is_of_another_boot() {
        folder.remove(name);
        return Some(Orphan::Restored { daemon, outcome: Outcome::default() });
    }
    if header.namespace != here {
        return Some(Orphan::Elsewhere { daemon, path: folder.path().join(name.file()) });
    }
    if lives(&header, &ledger, host) {
        return None;
    }
    let outcome = restore(&ledger, host);
    if outcome.left.is_empty() {
        folder.remove(name);
    }
    Some(Orphan::Restored { daemon, outcome })
}

/// The daemon that steers a process, or what has started it, if one does. Its journal has to be one that this
/// process may read.
pub fn steered_by(pid: u32, host: &mut dyn Host) -> Option<u32> {
    let started = host.stat(pid)?.started;
    let others = living(None, host);
    steerer(Named { id: pid, started }, &others, host)
}

/// Which of these daemons steers a process, or what has started it.
pub(crate) fn steerer(process: Named, of: &[Ledger], host: &mut dyn Host) -> Option<u32> {
    let mut known = vec![process];
    let mut above = host.stat(process.id).map(|stat| stat.parent);
    while let Some(id) = above.filter(|id| *id != 0) {
        let Some(stat) = host.stat(id) else { break };
        known.push(Named { id, started: stat.started });
        above = Some(stat.parent);
    }
    let steers = |ledger: &&Ledger| known.iter().any(|of| ledger.steered.contains(of));
    of.iter().find(steers).map(|ledger| ledger.daemon.id)
}

/// What daemons that live say of themselves, but for the one whose journal this is.
pub(crate) fn living(own: Option<JournalName>, host: &mut dyn Host) -> Vec<Ledger> {
    let here = Namespace::own();
    let mut found = Vec::new();
    for folder in places::folders().iter().filter_map(|folder| Folder::open(folder).ok()) {
        let names = folder.journals().unwrap_or_default();
        for name in names.into_iter().filter(|name| Some(*name) != own) {
            let Ok(file) = folder.open_journal(name) else { continue };
            let is_locked = !places::lock(&file);
            let Some((header, ledger)) = journal::read(name, &file) else { continue };
            if header.namespace == here && (is_locked || lives(&header, &ledger, host)) {
                found.push(ledger);
            }
        }
    }
    found
}

/// Whether the daemon or its guardian is there, in this namespace.
fn lives(header: &Header, ledger: &Ledger, host: &mut dyn Host) -> bool {
    let mut is_there = |of: Named| {
        host.stat(of.id).is_some_and(|stat| stat.started == of.started && !stat.has_ended())
    };
    is_there(header.daemon) || ledger.guardian.is_some_and(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Linux;
    use crate::journal::Journal;

    /// No process has this number.
    const GONE: Named = Named { id: 4_194_304, started: 9 };

    fn begin() -> (tempfile::TempDir, Folder, Journal) {
        let place = tempfile::tempdir().expect("a folder");
        let folder = || Folder::open(place.path()).expect("it is ours");
        let journal = Journal::begin(folder(), GONE).expect("room");
        let folder = folder();
        (place, folder, journal)
    }

    #[test]
    fn a_journal_that_is_locked_is_nobodys_to_take() {
        let (_place, folder, journal) = begin();
        let name = journal.name();
        let other = Namespace { device: 0, inode: 0 };
        for here in [Namespace::own(), other] {
            assert_eq!(restore_orphan(&folder, name, here, &mut Linux), None);
        }
        drop(journal);
        let path = folder.path().join(name.file());
        let elsewhere = Orphan::Elsewhere { daemon: GONE.id, path: path.clone() };
        assert_eq!(restore_orphan(&folder, name, other, &mut Linux), Some(elsewhere));
        assert!(path.exists(), "its numbers are those of others here");
        let restored = Orphan::Restored { daemon: GONE.id, outcome: Outcome::default() };
        assert_eq!(restore_orphan(&folder, name, Namespace::own(), &mut Linux), Some(restored));
        assert!(!path.exists());
    }

    #[test]
    fn who_steers_a_process_is_known_of_its_descendants_too() {
        let pid = std::process::id();
        let own = Named { id: pid, started: Linux.stat(pid).expect("this process").started };
        let mut ledger = Ledger::of(GONE);
        assert_eq!(steerer(own, &[ledger.clone()], &mut Linux), None);
        let parent = Linux.stat(pid).expect("this process").parent;
        let started = Linux.stat(parent).expect("its parent").started;
        for steered in [own, Named { id: parent, started }] {
            ledger.steered = [steered].into();
            assert_eq!(steerer(own, &[ledger.clone()], &mut Linux), Some(GONE.id));
        }
    }

    #[test]
    fn who_lives_under_its_number_is_not_gone() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = || Folder::open(place.path()).expect("it is ours");
        let pid = std::process::id();
        let started = Linux.stat(pid).expect("this process").started;
        let journal = Journal::begin(folder(), Named { id: pid, started }).expect("room");
        let name = journal.name();
        drop(journal);
        assert_eq!(restore_orphan(&folder(), name, Namespace::own(), &mut Linux), None);
    }
}
