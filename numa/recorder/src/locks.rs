//! The locks that a program uses, from its stream.

use std::ffi::OsString;

use kilocore_references::{EventKind, TracedLock};

use crate::lock_tally::LockTally;
use crate::{Modules, Options, RecordError, Recorded, StreamError, record};

/// The locks of a program that has ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Traced {
    /// The locks, those first that were taken most often.
    pub locks: Vec<TracedLock>,
    /// How many atomic updates were of words that were not followed, as there were too many.
    pub updates_not_followed: u64,
    /// The files that the program's code came from.
    pub modules: Modules,
    /// How many processes the program forked. What they did was not traced.
    pub forks: u64,
    /// The program that was executed instead of this one, at which the trace ends: its path, or nothing if
    /// that is not known.
    pub replaced_by: Option<String>,
}

/// Runs a program and traces its locks. References to pages are not kept.
///
/// # Errors
/// If the program cannot be run under QEMU with the plugin. Nothing was made if it did not come to tell of
/// its locks, because a signal ended it, or if its stream was damaged.
pub fn trace_locks(
    command: &[OsString],
    options: &Options<'_>,
) -> Result<Recorded<Result<Option<Traced>, StreamError>>, RecordError> {
    // Longer quanta: nobody asks for the order of references.
    let options = Options { locks: true, quantum: 1 << 20, ..options.clone() };
    record(command, &options, |stream| {
        let (mut modules, mut forks) = (Modules::default(), 0);
        for event in stream.by_ref() {
            match event?.kind {
                EventKind::Mapped(mapping) => modules.add(&mapping),
                EventKind::Forked => forks += 1,
                _ => {}
            }
        }
        let replaced_by = stream.replaced_by().map(str::to_owned);
        let LockTally { by_address, updates_not_followed } =
            std::mem::take(&mut stream.traced_locks);
        Ok(updates_not_followed.map(|updates_not_followed| {
            let mut locks: Vec<TracedLock> = by_address.into_values().collect();
            locks.sort_by_key(|lock| std::cmp::Reverse(lock.acquisitions));
            Traced { locks, updates_not_followed, modules, forks, replaced_by }
        }))
    })
}
