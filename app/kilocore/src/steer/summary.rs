//! What a daemon has done: for people on standard error, and as JSON.

use std::path::PathBuf;

use kilocore_command_line::{Failure, output, say};
use kilocore_sched_daemon::{CacheUse, KernelLock, Summary};
use kilocore_sched_policy::{GroupState, GroupStatus, Progress, Share};
use serde_json::{Value, json};

/// So many of the kernel's locks are named on standard error at most.
const NAMED: usize = 3;

/// Says on standard error what was done; writes it into these files, and prints it as JSON if that is asked.
pub(super) fn write(
    done: &Summary,
    dry_run: bool,
    json: bool,
    files: &[PathBuf],
) -> Result<(), Failure> {
    print(done, dry_run);
    let document = document(done, dry_run);
    for file in files {
        output::write(file, &kilocore_show::in_json(&document)?)?;
    }
    if json { output::json(&document) } else { Ok(()) }
}

fn print(done: &Summary, dry_run: bool) {
    let given = if dry_run { "would have been given (dry run)" } else { "given" };
    say(&format!(
        "steer: {} windows, at most {} threads; {} orders {given}, {} threads restored at \
         the end",
        done.windows, done.most_threads, done.orders, done.restored
    ));
    for group in &done.groups {
        let found = group.found.map_or("not found yet".to_owned(), |windows| {
            format!("{}, found after {windows} windows", group.best)
        });
        let over = if group.state == GroupState::Free { " and free again since" } else { "" };
        say(&format!(
            "steer: {} tasks confined to cores {} for {} windows{over}; best number of cores: \
             {found}{}; moved {} times",
            group.tasks.len(),
            group.cpus,
            group.windows,
            group.judged.map_or(String::new(), judged),
            group.changes
        ));
    }
    // Less is no cause of anything.
    let notable = |lock: &&KernelLock| lock.share >= Share::percent(1);
    let kernels = done.kernel_locks.iter().flatten().filter(notable).take(NAMED);
    let kernels: Vec<String> = kernels.map(kernel_lock).collect();
    if !kernels.is_empty() {
        say(&format!(
            "steer: of the time that threads ran or waited for locks, they waited for locks of the kernel: {}",
            kernels.join("; ")
        ));
    }
    if let Some(caches) = done.caches {
        say(&format!("steer: {}", words(caches)));
    }
    let cgroups = done.cgroups.as_deref().map(|cgroups| format!(" ({cgroups})"));
    let would = if dry_run { "would have been" } else { "were" };
    say(&format!(
        "steer: orders {would} carried out by {}{}",
        done.control,
        cgroups.unwrap_or_default()
    ));
    if done.refused > 0 {
        say(&format!("steer: {} threads left alone, as the system refused", done.refused));
    }
    for what in &done.limits {
        say(&format!("steer: {what}"));
    }
    for what in &done.unknown {
        say(&format!("steer: not known: {what}"));
    }
    for what in &done.left {
        say(&format!(
            "steer: could not be put back: {what}; `kilocore steer --restore` tries again"
        ));
    }
    if done.stretched > 0 {
        say(&format!(
            "steer: {} windows stretched, as listing the threads took longer than a tenth",
            done.stretched
        ));
    }
    say(&format!("steer: watched: {}", done.sources.join("; ")));
    if !done.unseen.is_empty() {
        say(&format!("steer: not seen: {}", done.unseen.join("; ")));
    }
}

/// A lock of the kernel in words, with the share of its waits.
fn kernel_lock(lock: &KernelLock) -> String {
    format!("{} % for {}", lock.share.as_millionths() / 10_000, lock.lock)
}

/// By what it is known how much is done, as the end of a sentence.
pub(super) fn judged(by: Progress) -> String {
    format!(", judged by {}", word(by))
}

fn word(by: Progress) -> &'static str {
    match by {
        Progress::Acquisitions => "acquisitions",
        Progress::UsefulCores => "time without waiting",
    }
}

/// What programs have of caches, in words.
pub(super) fn words(caches: CacheUse) -> String {
    format!(
        "{} KiB in last-level caches; {} MiB transferred from and to memory",
        caches.occupied >> 10,
        caches.transferred >> 20
    )
}

fn document(done: &Summary, dry_run: bool) -> Value {
    json!({
        "dry_run": dry_run,
        "control": done.control.to_string(),
        "cgroups": done.cgroups,
        "windows": done.windows,
        "stretched": done.stretched,
        "most_threads": done.most_threads,
        "orders": done.orders,
        "gone": done.gone,
        "refused": done.refused,
        "restored": done.restored,
        "acquired": done.acquired,
        "kernel_locks": done.kernel_locks.as_ref().map(|locks| {
            let told = |lock: &KernelLock| {
                json!({
                    "lock": lock.lock,
                    "waited_ns": lock.waited.0,
                    "share": f64::from(lock.share.as_millionths()) / 1e6,
                })
            };
            locks.iter().map(told).collect::<Vec<_>>()
        }),
        "caches": done.caches.map(|caches| {
            json!({ "occupied_bytes": caches.occupied, "transferred_bytes": caches.transferred })
        }),
        "limits": done.limits,
        "left": done.left,
        "unknown": done.unknown,
        "groups": done.groups.iter().map(group).collect::<Vec<_>>(),
        "watched": done.sources,
        "not_seen": done.unseen,
    })
}

fn group(group: &GroupStatus) -> Value {
    json!({
        "tasks": group.tasks.len(),
        "cores": group.cpus.to_string(),
        "best": group.best,
        "judged_by": group.judged.map(word),
        "waiting": f64::from(group.waiting.as_millionths()) / 1e6,
        "state": format!("{:?}", group.state).to_lowercase(),
        "windows": group.windows,
        "found": group.found,
        "changes": group.changes,
    })
}
