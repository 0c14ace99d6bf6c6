//! What makes sure that everything is put back: a journal of whom this process steers and of what it orders, and
//! a guardian that reads it if this process dies.

use std::process::Command;

use crate::births::Recorded;
use crate::error::DaemonError;
use crate::guardian::Guardian;
use crate::host::Host;
use crate::journal::Journal;
use crate::ledger::Fact;
use crate::orphans::{living, steerer};
use crate::outcome::Outcome;
use crate::restore::restore;
use crate::tree::Tree;

/// The journal of what is ordered, and its guardian.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) journal: Journal,
    guardian: Guardian,
}

impl Hold {
    /// Begins a journal and starts its guardian. If orders are to be given, the processes of the tree are claimed:
    /// nobody else may steer one of them meanwhile.
    ///
    /// # Errors
    /// If somebody steers one of them already, or there is no way to put things back.
    pub(crate) fn begin(
        tree: &mut Tree,
        claims: bool,
        host: &mut dyn Host,
        guardian: Command,
    ) -> Result<Self, DaemonError> {
        let mut journal = Journal::create(host).map_err(DaemonError::Journal)?;
        if claims && let Err(why) = claim(tree, &mut journal, host) {
            journal.remove();
            return Err(why);
        }
        let guardian = Guardian::start(guardian, &mut journal, host);
        let guardian = guardian.inspect_err(|_| journal.remove());
        let guardian = guardian.map_err(DaemonError::Guardian)?;
        tree.leave_out([guardian.pid()]);
        Ok(Self { journal, guardian })
    }

    /// Puts everything back, by the tree first if affinities were ordered, which knows who has created whom.
    pub(crate) fn put_back(
        mut self,
        tree: &mut Tree,
        is_ordered: bool,
        host: &mut dyn Host,
    ) -> Outcome {
        let mut released = 0;
        if is_ordered {
            // Without a journal to write to, the rest is done all the same.
            released = tree.release(host, &mut self.journal).unwrap_or(0);
        }
        let mut outcome = restore(self.journal.ledger(), host);
        outcome.threads += released;
        if tree.follows_all() {
            outcome.strangers.clear();
        }
        if outcome.left.is_empty() {
            self.journal.remove();
        }
        self.guardian.dismiss();
        outcome
    }
}

/// Follows who creates whom, or says why that cannot be.
pub(crate) fn follow(tree: &mut Tree, host: &mut dyn Host) -> Result<Option<String>, DaemonError> {
    let mut failed = Ok(());
    let begun = Recorded::begin(&mut || {
        failed = tree.scan_processes(host, None);
        tree.processes().flat_map(|process| host.threads(process.id)).collect()
    });
    failed.map_err(DaemonError::Journal)?;
    Ok(match begun {
        Ok(recorded) => {
            tree.follow(Box::new(recorded));
            None
        }
        Err(error) => Some(format!(
            "who creates whom (perf events: {error}), so that a process that loses its parent before it is listed may stay \
             confined"
        )),
    })
}

/// Writes down whom this daemon steers, unless somebody else steers one of them, or what has started them.
fn claim(tree: &mut Tree, journal: &mut Journal, host: &mut dyn Host) -> Result<(), DaemonError> {
    tree.scan_processes(host, None).map_err(DaemonError::Journal)?;
    // Of two that begin at a time, one is the first.
    let _alone = journal.folder().alone().map_err(DaemonError::Journal)?;
    let others = living(Some(journal.name()), host);
    for process in tree.processes() {
        if let Some(by) = steerer(process, &others, host) {
            return Err(DaemonError::Steered { pid: process.id, by });
        }
    }
    let facts = tree.processes().map(Fact::Steered).collect();
    journal.write(facts).map_err(DaemonError::Journal)
}

/// Whether this process may say where the threads of a process run.
pub(crate) fn may_steer(pid: u32) -> bool {
    const CAP_SYS_NICE: u32 = 23;
    let status =
        |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let capabilities = field(&status("self"), "CapEff:");
    let bits = capabilities.first().and_then(|bits| u64::from_str_radix(bits, 16).ok());
    if bits.is_some_and(|bits| bits & (1 << CAP_SYS_NICE) != 0) {
        return true;
    }
    // SAFETY: takes no argument.
    let own = unsafe { libc::geteuid() }.to_string();
    let users = field(&status(&pid.to_string()), "Uid:");
    users.iter().take(2).any(|user| *user == own)
}
