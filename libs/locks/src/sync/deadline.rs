//! Waiting for a lock until a deadline, by looking again and again.

use std::thread;
use std::time::{Duration, Instant};

use kilocore_platform::Native;

use crate::patience::Patience;

/// For how many turns a thread looks before it sleeps between two looks.
const TURNS_BEFORE_SLEEPING: u32 = 1_024;
/// The first sleep. Each is twice as long as the one before.
const FIRST_SLEEP: Duration = Duration::from_micros(2);
/// The longest sleep, and so the longest time for which a free lock may go unnoticed.
const LONGEST_SLEEP: Duration = Duration::from_micros(100);

/// Calls `take` until it returns something or `deadline` has passed, at least once. Without a deadline
/// it goes on for ever.
pub(super) fn take_until<T>(deadline: Option<Instant>, take: impl Fn() -> Option<T>) -> Option<T> {
    let mut patience = Patience::new::<Native>(TURNS_BEFORE_SLEEPING);
    let mut sleep = FIRST_SLEEP;
    loop {
        let taken = take();
        if taken.is_some() {
            return taken;
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return None;
        }
        if !patience.pause::<Native>() {
            thread::sleep(left.map_or(sleep, |left| sleep.min(left)));
            sleep = LONGEST_SLEEP.min(sleep * 2);
        }
    }
}

/// Returns the time after `timeout`, or `None` if it is beyond what the clock can tell.
pub(super) fn after(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}
