//! A process that outlives the daemon and puts everything back.
//!
//! It has a session of its own and ignores what asks processes to end. It waits for the end of a pipe,
//! which the daemon's end closes, however that comes. If the word before the end is `done`, nothing is
//! left to do.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::host::Host;
use crate::journal::{Journal, read};
use crate::journal_name::Namespace;
use crate::ledger::Fact;
use crate::named::Named;
use crate::outcome::Outcome;
use crate::places::{Folder, wait_for_lock};
use crate::restore::restore;

const DONE: &[u8] = b"done";

/// Signals that somebody may send to all processes that belong together.
const IGNORED: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The daemon's side of the process that puts everything back if the daemon dies.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: Option<io::PipeWriter>,
}

impl Guardian {
    /// Starts the guardian of a journal: `command` is a process that calls [`guard`] with the journal's
    /// path, which is appended to its arguments.
    ///
    /// # Errors
    /// If it cannot be started, or the journal cannot be written.
    pub fn start(
        mut command: Command,
        journal: &mut Journal,
        host: &mut dyn Host,
    ) -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        command.arg(journal.path()).stdin(reader).stdout(Stdio::null());
        // SAFETY: between fork and exec, makes system calls only, which are async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                for signal in IGNORED {
                    libc::signal(signal, libc::SIG_IGN);
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        let started = host.stat(child.id()).map_or(0, |stat| stat.started);
        journal.write(vec![Fact::Guardian(Named { id: child.id(), started })])?;
        Ok(Self { child, pipe: Some(pipe) })
    }

    /// The number of the guardian's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything has been put back.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(DONE);
        }
        let _ = self.child.wait();
    }
}

/// Waits for the daemon's end, and puts back what its journal says, if it has not done so itself. Returns
/// what became of that.
///
/// # Errors
/// Those of standard input, which is the pipe from the daemon; and if the path is that of no journal of this
/// user's.
pub fn guard(journal: &Path, host: &mut dyn Host) -> io::Result<Option<Outcome>> {
    let pipe: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let mut word = Vec::new();
    File::from(pipe).read_to_end(&mut word)?;
    if word == DONE {
        return Ok(None);
    }
    let (folder, name) = Folder::of(journal)?;
    let Ok(file) = folder.open_journal(name) else { return Ok(None) };
    // The daemon's lock has ended with it. If somebody else puts things back already, nothing is left after that.
    wait_for_lock(&file)?;
    if !folder.still_has(name, &file) {
        return Ok(None);
    }
    let read = read(name, &file).filter(|(header, _)| header.namespace == Namespace::own());
    let Some((_, ledger)) = read else { return Ok(None) };
    let outcome = restore(&ledger, host);
    if outcome.left.is_empty() {
        folder.remove(name);
    }
    Ok(Some(outcome))
}
