//! Putting every affinity back.
//!
//! Only masks that still are what was ordered are touched. Threads are listed until two passes in a row
//! find nothing to put back: a thread that is created meanwhile inherits its creator's mask, and the last
//! of them is created by one that is free already.

use std::collections::BTreeMap;
use std::path::Path;

use crate::homecoming::come_home;
use crate::host::Host;
use crate::ledger::{Ledger, Masks, Named};
use crate::monitored_group;
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
        Outcome { threads: masks(ledger, host), left: Vec::new() }
    } else {
        come_home(ledger, host)
    };
    outcome.left.extend(left);
    outcome
}

fn masks(ledger: &Ledger, host: &mut dyn Host) -> u64 {
    let mut restored = 0;
    let mut quiet = 0;
    for _ in 0..PASSES {
        let now = pass(ledger, host);
        restored += now;
        quiet = if now == 0 { quiet + 1 } else { 0 };
        if quiet == 2 {
            break;
        }
    }
    restored
}

fn pass(ledger: &Ledger, host: &mut dyn Host) -> u64 {
    let mut restored = 0;
    for (pid, masks) in programs(ledger, host) {
        for tid in host.threads(pid) {
            restored += u64::from(thread(ledger, host, masks, (pid, tid)).unwrap_or(false));
        }
    }
    restored
}

/// The programs of the ledger that still run, and what they have started since, with the masks that
/// their threads may have inherited.
fn programs<'a>(ledger: &'a Ledger, host: &mut dyn Host) -> BTreeMap<u32, &'a [Masks]> {
    let mut found: BTreeMap<u32, &[Masks]> = BTreeMap::new();
    let mut others = Vec::new();
    for pid in host.processes() {
        let Some(stat) = host.stat(pid) else { continue };
        match ledger.programs.get(&Named { id: pid, started: stat.started }) {
            Some(masks) => drop(found.insert(pid, masks)),
            None => others.push((pid, stat.parent)),
        }
    }
    loop {
        let before = others.len();
        others.retain(|&(pid, parent)| match found.get(&parent).copied() {
            Some(masks) => {
                found.insert(pid, masks);
                false
            }
            None => true,
        });
        if others.len() == before {
            return found;
        }
    }
}

/// Puts one thread's mask back; whether that was needed. `None` if it is gone or somebody else's.
fn thread(
    ledger: &Ledger,
    host: &mut dyn Host,
    masks: &[Masks],
    (pid, tid): (u32, u32),
) -> Option<bool> {
    let now = host.affinity(tid).ok()?;
    let started = host.thread_stat(pid, tid)?.started;
    let of = Named { id: tid, started };
    let allowed = match ledger.orders.get(&of) {
        Some(order) if order.set == now || ledger.earlier.get(&of) == Some(&now) => &order.allowed,
        Some(_) => return Some(false),
        None if ledger.keeps.contains(&of) => return Some(false),
        None => &masks.iter().find(|masks| masks.set == now)?.allowed,
    };
    if *allowed == now {
        return Some(false);
    }
    host.set_affinity(tid, allowed).ok()?;
    Some(true)
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
