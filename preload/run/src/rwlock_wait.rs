//! How threads wait for a read-write lock where its own algorithm does not.

use crate::deadline::{self, Deadline};
use crate::impatience::Impatience;
use crate::{cores, slot};

/// The number of tries of a thread with a deadline before it first sleeps. They take some tens of
/// microseconds.
const TRIES: u32 = 200;
/// The first sleep between two tries and the longest, in nanoseconds.
const SHORTEST_SLEEP: u64 = 5_000;
const LONGEST_SLEEP: u64 = 100_000;

/// Tries again and again until `attempt` succeeds. Returns `None` if the deadline has passed
/// before.
///
/// A thread that may give up cannot wait in a lock's own line, since it could not leave the line
/// again.
#[cold]
pub(crate) fn until<R>(deadline: Deadline, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
    let mut tries = if cores::are_many() { TRIES } else { 0 };
    let mut sleep = SHORTEST_SLEEP;
    loop {
        if let Some(result) = attempt() {
            return Some(result);
        }
        let remaining = deadline.remaining();
        if remaining == 0 {
            return None;
        }
        if tries > 0 {
            tries -= 1;
            slot::impatience().pause(4);
        } else {
            deadline::sleep(sleep.min(remaining));
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }
}

/// Waits while `condition` holds. Nobody tells the thread when that ends.
#[cold]
pub(crate) fn wait_while(mut condition: impl FnMut() -> bool) {
    let mut impatience = Impatience::new();
    while condition() {
        impatience.wait(1);
    }
}
