//! Locks of which only the waits are known: nobody could count their acquisitions from outside.

use std::borrow::Cow;

use kilocore_lock_profile::{Lock, Profile, Run};

/// Whether only the waits of a lock are known.
pub(crate) fn is_uncounted(lock: &Lock) -> bool {
    lock.precision.as_ref().is_some_and(|precision| precision.acquisitions.is_none())
}

/// The profile without such locks.
pub(crate) fn without_uncounted(profile: &Profile) -> Cow<'_, Profile> {
    let any =
        |run: &Run| run.processes.iter().any(|process| process.locks.iter().any(is_uncounted));
    if !profile.runs.iter().any(any) {
        return Cow::Borrowed(profile);
    }
    let mut lit = profile.clone();
    for process in lit.runs.iter_mut().flat_map(|run| &mut run.processes) {
        process.locks.retain(|lock| !is_uncounted(lock));
    }
    Cow::Owned(lit)
}
