//! Putting every affinity back.
//!
//! Only masks that still are what was ordered are touched. Threads are listed until two passes in a row
//! find nothing to put back: a thread that is created meanwhile inherits its creator's mask, and the last
//! of them is created by one that is free already.

use std::collections::BTreeMap;
use std::path::Path;

use crate::homecoming::come_home;
use crate::host::Host;
use crate::ledger::{Ledger, Masks};
use crate::monitored_group;
use crate::named::Named;
use crate::ours;
use crate::outcome::Outcome;
use crate::recording_folder;

/// No program creates threads faster than this for good.
const PASSES: u32 = 1000;

/// Puts back what a ledger says.
pub fn restore(ledger: &Ledger, host: &mut dyn Host) -> Outcome {
    restore_on(Path::new(monitored_group::MOUNTED), ledger, host)
}

/// The same where resctrl is mounted there.
fn restore_on(resctrl: &Path, ledger: &Ledger, host: &mut dyn Host) -> Outcome {
    let daemon = ledger.daemon.id;
    let mut left = Vec::new();
    for group in &ledger.monitors {
        if ours::is_monitor(group, resctrl, daemon) {
            left.extend(monitored_group::remove(group).err());
        } else {
            left.push(ours::left_alone(group));
        }
    }
    for folder in &ledger.recordings {
        if ours::is_recordings(folder, daemon) {
            recording_folder::remove(folder);
        } else {
            left.push(ours::left_alone(folder));
        }
    }
    // Where orders were carried out by cgroups, masks are what threads have asked for themselves.
    let mut outcome = if ledger.groups.is_empty() && ledger.enabled.is_empty() {
        masks(ledger, host)
    } else {
        come_home(ledger, host)
    };
    outcome.left.extend(left);
    outcome
}

fn masks(ledger: &Ledger, host: &mut dyn Host) -> Outcome {
    let mut restored = 0;
    let mut quiet = 0;
    let mut unknown = BTreeMap::new();
    for _ in 0..PASSES {
        unknown.clear();
        let now = pass(ledger, host, &mut unknown);
        restored += now;
        quiet = if now == 0 { quiet + 1 } else { 0 };
        if quiet == 2 {
            break;
        }
    }
    let in_words = |(pid, threads): (u32, u64)| {
        format!(
            "{threads} threads of process {pid}, which chooses cores for threads itself, have a mask that was ordered for \
             others of it: whether they were born with it is not known, so they keep it"
        )
    };
    let unknown = unknown.into_iter().map(in_words).collect();
    Outcome { threads: restored, left: Vec::new(), unknown, strangers: strangers(ledger, host) }
}

fn pass(ledger: &Ledger, host: &mut dyn Host, unknown: &mut BTreeMap<u32, u64>) -> u64 {
    let mut restored = 0;
    for (pid, program) in programs(ledger, host) {
        for tid in host.threads(pid) {
            match thread(ledger, host, program, (pid, tid)) {
                Some(Is::Restored) => restored += 1,
                Some(Is::Unknown) => *unknown.entry(pid).or_default() += 1,
                Some(Is::Its) | None => {}
            }
        }
    }
    restored
}

/// Processes that began meanwhile and have a mask that was ordered, which they have of nobody that is known.
fn strangers(ledger: &Ledger, host: &mut dyn Host) -> Vec<String> {
    let known = programs(ledger, host);
    let all: Vec<&Masks> = ledger.programs.values().flatten().collect();
    let mut found: BTreeMap<u32, &Masks> = BTreeMap::new();
    for pid in host.processes() {
        let Some(stat) = host.stat(pid) else { continue };
        let is_late = stat.started >= ledger.daemon.started && !stat.has_ended();
        if !is_late || stat.is_kernels || known.contains_key(&pid) {
            continue;
        }
        let Ok(now) = host.affinity(pid) else { continue };
        let ordered = all.iter().find(|masks| masks.set == now && masks.allowed != now);
        let parents = host.affinity(stat.parent).is_ok_and(|mask| mask == now);
        if let Some(masks) = ordered
            && (!parents || found.contains_key(&stat.parent))
        {
            found.insert(pid, masks);
        }
    }
    let in_words = |(pid, Masks { allowed, set }): (u32, &Masks)| {
        format!(
            "process {pid} has begun meanwhile and may run on cores {set} only, as was ordered for others: who has \
             started it is not known; if the program has, `taskset -a -c -p {allowed} {pid}` frees it"
        )
    };
    found.into_iter().map(in_words).collect()
}

/// What may be guessed of the threads of a program.
#[derive(Debug, Clone, Copy)]
struct Guess<'a> {
    /// Masks that they may have inherited.
    masks: &'a [Masks],
    /// Whether they may as well have chosen them.
    chooses: bool,
}

/// What became of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    /// It has its own mask again.
    Restored,
    /// It has its own mask.
    Its,
    /// It may or may not.
    Unknown,
}

/// The programs of the ledger that still run, and what they have started since.
fn programs<'a>(ledger: &'a Ledger, host: &mut dyn Host) -> BTreeMap<u32, Guess<'a>> {
    let mut found: BTreeMap<u32, Guess<'a>> = BTreeMap::new();
    let mut others = Vec::new();
    for pid in host.processes() {
        let Some(stat) = host.stat(pid) else { continue };
        let of = Named { id: pid, started: stat.started };
        match ledger.programs.get(&of) {
            Some(masks) => {
                found.insert(pid, Guess { masks, chooses: ledger.chooses.contains(&of) });
            }
            None => others.push((pid, stat.parent)),
        }
    }
    loop {
        let before = others.len();
        others.retain(|&(pid, parent)| match found.get(&parent).copied() {
            Some(guess) => {
                found.insert(pid, guess);
                false
            }
            None => true,
        });
        if others.len() == before {
            return found;
        }
    }
}

/// Puts one thread's mask back, if it is not its own. `None` if it is gone or somebody else's.
fn thread(
    ledger: &Ledger,
    host: &mut dyn Host,
    guess: Guess<'_>,
    (pid, tid): (u32, u32),
) -> Option<Is> {
    let now = host.affinity(tid).ok()?;
    let started = host.thread_stat(pid, tid)?.started;
    let of = Named { id: tid, started };
    let allowed = match ledger.orders.get(&of) {
        Some(order) if order.set == now || ledger.earlier.get(&of) == Some(&now) => &order.allowed,
        Some(_) => return Some(Is::Its),
        None if ledger.keeps.contains(&of) => return Some(Is::Its),
        None => &guess.masks.iter().find(|masks| masks.set == now)?.allowed,
    };
    if *allowed == now {
        return Some(Is::Its);
    }
    if guess.chooses && !ledger.orders.contains_key(&of) {
        return Some(Is::Unknown);
    }
    host.set_affinity(tid, allowed).ok()?;
    Some(Is::Restored)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_group_that_stays_is_told_and_one_that_is_gone_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = folder.path().join("mon_groups/kilocore-sched-9");
        // To the kernel, what is in a group is no obstacle; here, it plays one.
        fs::create_dir_all(group.join("mon_data")).expect("room");
        let daemon = Named { id: 9, started: 9 };
        let ledger = Ledger { daemon, monitors: [group.clone()].into(), ..Ledger::default() };
        let put_back = || restore_on(folder.path(), &ledger, &mut crate::Linux);
        let outcome = put_back();
        assert_eq!(outcome.left.len(), 1, "{outcome:?}");
        assert!(outcome.left[0].contains("kilocore-sched-9: it cannot be removed"), "{outcome:?}");
        fs::remove_dir(group.join("mon_data")).expect("it is ours");
        for _ in 0..2 {
            assert_eq!(put_back().left, Vec::<String>::new());
            assert!(!group.exists());
        }
    }
}
