//! What another read-write lock promises, and what it does not.

use kilocore_locks::RwLockId;

use super::outlook::cores;
use crate::ForecastLock;
use crate::choice::{WORTH_TAKING, end};
use crate::second_choice::{SecondChoice, readers_pass_writers, share};
use crate::words::{counted, either, percent, rounded};

/// That nobody knows how far such gains are from measured ones. Errors of gains by other mutexes say
/// nothing of them.
pub(super) fn about_rw_gains() -> String {
    "Nobody has published programs under other read-write locks, so how far a forecast gain by one is \
     off is not known: try it."
        .to_owned()
}

/// What the best read-write lock promises, beside another mutex if there is one.
pub(super) fn praise_rw(choice: &SecondChoice<'_>, mutex: Option<&str>) -> Vec<String> {
    let best = choice.best;
    let beside = match mutex {
        Some(mutex) => format!("once its mutexes are {mutex}"),
        None => "with its mutexes as they are".to_owned(),
    };
    let mut text = vec![format!(
        "Perhaps {} for its read-write locks: {} times the throughput on {}, {beside} ({} to {} by what the \
         profile leaves open).",
        best.lock,
        rounded(choice.gain.gain),
        counted(cores(best).into(), "core"),
        rounded(choice.gain.low),
        rounded(choice.gain.high),
    )];
    if !choice.equals.is_empty() {
        let equals = either(&choice.equals);
        text.push(format!("As good, within what differs from one profile to the next: {equals}."));
    }
    if choice.writers_first {
        text.push(
            "The program asked for writers first itself (pthread_rwlockattr_setkind_np), so a lock that \
             keeps readers out while a writer waits takes nothing from it."
                .to_owned(),
        );
    } else if let Some(faster) = choice.faster {
        text.push(format!(
            "Under {} it would be {} times as much. {}",
            faster.lock,
            rounded(end(faster) / end(choice.under)),
            holds_readers_back(faster.lock),
        ));
    } else if let Some(lock) =
        [best.lock].iter().chain(&choice.equals).find(|lock| !readers_pass_writers(lock))
    {
        text.push(holds_readers_back(lock));
    }
    if let Some(known) = RwLockId::ALL.iter().find(|known| known.name() == best.lock) {
        text.push(format!("Where {known} does worst: {}.", known.info().worst_at));
    }
    text
}

/// Warns of a lock under which a writer that waits keeps readers out.
fn holds_readers_back(lock: &str) -> String {
    format!(
        "Under {lock}, a writer that waits keeps new readers out, which glibc's default does not. A \
         program whose readers wait for one another as they read hangs there (under reader-first, it \
         does not), unless it asked for writers first itself (pthread_rwlockattr_setkind_np)."
    )
}

/// Says that no read-write lock is the way on, and why.
pub(super) fn no_rw_lock_helps(choice: &SecondChoice<'_>, locks: &[ForecastLock]) -> String {
    let taken = |curve| percent(share(curve, locks));
    if choice.is_open() {
        return format!(
            "No read-write lock is recommended: {} does best there in the forecast, {} times as much as the \
             program's own, but the profile leaves {} to {} times open.",
            choice.best.lock,
            rounded(choice.gain.gain),
            rounded(choice.gain.low),
            rounded(choice.gain.high),
        );
    }
    format!(
        "None of the {} read-write locks that `kilocore run --rwlock` has does better by more than \
         {:.0} %. Waiting for the program's own, taking them and letting them go is {} of the \
         threads' time on {}, and {} under {}, which does best.",
        choice.tried,
        (WORTH_TAKING - 1.0) * 100.0,
        taken(choice.under),
        counted(cores(choice.under).into(), "core"),
        taken(choice.best),
        choice.best.lock,
    )
}
