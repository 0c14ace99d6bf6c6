//! Putting back what was done by cgroups: all threads go home, and our cgroups go away.
//!
//! The threads of a cgroup are listed until it is empty twice: one that is created meanwhile is born where
//! its creator is. One that is dying is listed no more before the kernel lets the cgroup go, so that a
//! busy cgroup is tried again for a while.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use kilocore_sched_policy::CpuSet;

use crate::group;
use crate::hierarchy::Version;
use crate::host::Host;
use crate::ledger::Ledger;
use crate::named::Named;
use crate::ours;
use crate::outcome::Outcome;

/// How long a thread may take to be moved or to die. A host may take the cores away for seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// No program creates threads faster than they are moved for good.
const PASSES: u32 = 1000;

/// How long to wait before it is tried again.
const AGAIN: Duration = Duration::from_millis(1);

/// Puts back what a ledger says of cgroups.
pub(crate) fn come_home(ledger: &Ledger, host: &mut dyn Host) -> Outcome {
    let forgets = group::forgets_masks(host);
    let mut outcome = Outcome::default();
    for (path, version) in &ledger.groups {
        if !ours::is_group(path, *version, ledger.daemon.id, host) {
            outcome.left.push(ours::left_alone(path));
            continue;
        }
        let mut moved = BTreeSet::new();
        let emptied = empty(ledger, *version, path, host, &mut moved, forgets);
        outcome.threads += moved.len() as u64;
        if let Err(why) = emptied.and_then(|()| remove(path, host)) {
            outcome.left.push(format!("{}: {why}", path.display()));
        }
    }
    if forgets {
        set_again(ledger, host);
    }
    // Those below come after those above.
    for path in ledger.enabled.iter().rev() {
        if !ours::is_cgroup(path, None, host) {
            outcome.left.push(ours::left_alone(path));
            continue;
        }
        match group::take_controller(host, path) {
            Ok(()) => {}
            // It is gone, or somebody has come to use it.
            Err(error) if is_gone(&error) || error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => {
                outcome.left.push(format!("{}: cpuset stays enabled: {error}", path.display()));
            }
        }
    }
    outcome
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::ENOTDIR))
}

/// Moves all threads of a cgroup to the one above.
fn empty(
    ledger: &Ledger,
    version: Version,
    path: &Path,
    host: &mut dyn Host,
    moved: &mut BTreeSet<u32>,
    forgets: bool,
) -> Result<(), String> {
    let home = path.parent().unwrap_or(path);
    let cores = group::cores(host, version, path, path).unwrap_or_default();
    let began = Instant::now();
    let (mut quiet, mut passes) = (0, 0);
    while quiet < 2 {
        let threads = match group::threads(host, version, path) {
            Ok(threads) => threads,
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        quiet = if threads.is_empty() { quiet + 1 } else { 0 };
        let mut refused = None;
        let mut advanced = threads.is_empty();
        for &tid in &threads {
            let allowed = if forgets { allowance(ledger, host, tid, &cores) } else { None };
            // To the kernel, 0 is who writes, and not the thread that has no number here.
            let result = if tid == 0 {
                Err(io::Error::from_raw_os_error(libc::EPERM))
            } else {
                group::take_in(host, version, home, tid)
            };
            match result {
                Ok(()) => {
                    // One that dies may be listed again.
                    advanced |= moved.insert(tid);
                    if let Some(allowed) = allowed {
                        let _ = host.set_affinity(tid, &allowed);
                    }
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => refused = Some((tid, error)),
            }
        }
        passes += u32::from(advanced);
        if advanced && passes < PASSES {
            continue;
        }
        if let Some((tid, error)) = refused {
            return Err(format!("thread {tid} cannot be moved out: {error}"));
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{} threads do not leave it", threads.len()));
        }
        std::thread::sleep(AGAIN);
    }
    Ok(())
}

/// Who was killed between moving a thread home and setting its mask again has left it with its home's cores.
fn set_again(ledger: &Ledger, host: &mut dyn Host) {
    let homes = ledger.groups.iter().filter_map(|(path, version)| {
        let home = path.parent()?;
        group::cores(host, *version, home, home)
    });
    let homes: Vec<CpuSet> = homes.collect();
    for (of, masks) in &ledger.orders {
        let is_it = host.thread_stat(of.id, of.id).is_some_and(|stat| stat.started == of.started);
        if is_it && host.affinity(of.id).is_ok_and(|now| homes.contains(&now)) {
            let _ = host.set_affinity(of.id, &masks.allowed);
        }
    }
}

/// The mask that a thread of a cgroup with these cores has asked for, as far as the journal says.
fn allowance(ledger: &Ledger, host: &mut dyn Host, tid: u32, cores: &CpuSet) -> Option<CpuSet> {
    let now = host.affinity(tid).ok()?;
    let started = host.thread_stat(tid, tid)?.started;
    if now != *cores {
        return Some(now);
    }
    let order = ledger.orders.get(&Named { id: tid, started });
    // One that was created in the cgroup has the allowance of its program.
    let masks = order.or_else(|| ledger.programs.values().flatten().find(|masks| masks.set == now));
    Some(masks.map_or(now, |masks| masks.allowed.clone()))
}

fn remove(path: &Path, host: &mut dyn Host) -> Result<(), String> {
    if let Some(inside) = host.folders(path).first() {
        return Err(format!("it cannot be removed, as it contains {}", inside.display()));
    }
    let began = Instant::now();
    loop {
        match host.remove_folder(path) {
            Ok(()) => return Ok(()),
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error)
                if error.raw_os_error() == Some(libc::EBUSY) && began.elapsed() < PATIENCE =>
            {
                std::thread::sleep(AGAIN);
            }
            Err(error) => return Err(format!("it cannot be removed: {error}")),
        }
    }
}
