//! `kilocore list locks`.

use std::process::ExitCode;

use clap::Args;
use kilocore_locks::LockInfo;
use kilocore_sim::Sim;
use serde::Serialize;

use crate::lock_name::{ListedLock, listed_named};
use kilocore_command_line::Failure;
use kilocore_command_line::output;
use kilocore_command_line::{mutexes, rw_locks};
use kilocore_show::terminal::words_table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show this one in full
    #[arg(value_name = "NAME", value_parser = listed_named)]
    name: Option<ListedLock>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct LockEntry {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    best_at: &'static str,
    worst_at: &'static str,
    aliases: &'static [&'static str],
}

impl From<&LockInfo> for LockEntry {
    fn from(lock: &LockInfo) -> Self {
        let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = *lock;
        Self { name, title, source, best_at, worst_at, aliases }
    }
}

pub(crate) fn locks(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match arguments.name {
        Some(name) if arguments.json => {
            let kind = match name {
                ListedLock::Mutex(_) => "locks",
                ListedLock::ReadWrite(_) => "read_write_locks",
            };
            output::json(&serde_json::json!({ kind: [LockEntry::from(name.info())] }))?;
        }
        Some(name) => output::print(&lock_in_full(name)),
        None if arguments.json => {
            let mutexes: Vec<LockEntry> = mutexes().map(LockEntry::from).collect();
            let rw_locks: Vec<LockEntry> = rw_locks().map(LockEntry::from).collect();
            output::json(&serde_json::json!({ "locks": mutexes, "read_write_locks": rw_locks }))?;
        }
        None => {
            output::print(&locks_table(mutexes()));
            output::print("\nread-write locks\n");
            output::print(&locks_table(rw_locks()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Locks by name, with what each is best and worst at.
fn locks_table<'a>(locks: impl Iterator<Item = &'a LockInfo>) -> String {
    let row = |lock: &LockInfo| {
        [lock.name, lock.title, lock.best_at, lock.worst_at].map(ToOwned::to_owned)
    };
    let rows: Vec<[String; 4]> = locks.map(row).collect();
    words_table(["name", "what it is", "best at", "worst at"], &rows, output::width())
}

fn lock_in_full(lock: ListedLock) -> String {
    let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = lock.info();
    let mut text = format!(
        "{name}: {title}\n  source       {source}\n  best at      {best_at}\n  worst at     {worst_at}\n"
    );
    if !aliases.is_empty() {
        text.push_str(&format!("  known as     {}\n", aliases.join(", ")));
    }
    let module = name.replace('-', "_");
    match lock {
        ListedLock::Mutex(_) => {
            text.push_str(&format!("  try it       kilocore run --lock {name} -- COMMAND\n"));
            text.push_str(&format!(
                "  build it in  kilocore_locks::sync::{module}::Mutex, or kc_{module}\n"
            ));
        }
        ListedLock::ReadWrite(lock) => {
            if lock.is_for_programs::<Sim>() {
                text.push_str(&format!("  try it       kilocore run --rwlock {name} -- COMMAND\n"));
            }
            text.push_str(&format!(
                "  build it in  kilocore_locks::sync::{module}::RwLock, or kc_{module}\n"
            ));
        }
    }
    text
}
