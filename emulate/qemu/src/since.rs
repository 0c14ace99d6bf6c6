//! What was there when the part began that is asked for. Figures are about what came since.

use std::sync::{Mutex, PoisonError};

use kilocore_platform::Cycles;
use kilocore_sim::{Guests, Outcome, TaskTimes};

use crate::{blocks, counts, guest, lives, moves, stacks};

/// What had happened when the part began.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) now: Cycles,
    tasks: Vec<TaskTimes>,
    page_faults: u64,
}

static BEFORE: Mutex<Before> =
    Mutex::new(Before { now: Cycles(0), tasks: Vec::new(), page_faults: 0 });

/// The part begins now, for the thread that runs.
pub(crate) fn begin() {
    let Some(thread) = guest::this_thread() else { return };
    let (now, tasks) = guest::simulate(&thread, |guest| {
        guest.begin_chains_anew();
        (guest.now(), guest.times_of_all())
    });
    let page_faults = guest::machine().map_or(0, Guests::page_faults);
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Before { now, tasks, page_faults };
    counts::forget();
    blocks::forget();
    moves::forget();
    stacks::forget();
    lives::forget(now);
}

/// What has happened since then: an outcome that begins there, and how many pages were touched for the first time.
pub(crate) fn then(mut outcome: Outcome, page_faults: u64) -> (Cycles, Outcome, u64) {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    for (times, earlier) in outcome.tasks.iter_mut().zip(&before.tasks) {
        *times = times.since(earlier);
    }
    outcome.end = Cycles(outcome.end.0.saturating_sub(before.now.0));
    (before.now, outcome, page_faults.saturating_sub(before.page_faults))
}
