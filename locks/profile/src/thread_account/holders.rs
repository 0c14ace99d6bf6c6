//! Who held a lock when, from its acquisitions and releases in a window.
//!
//! A lock that was watched for a part of the window only tells of that part. If its first event is a
//! release, its holder has had it since the window began, as far as anybody can see.

use std::collections::BTreeMap;

use crate::thread_account::kept::{ThreadIndex, Turn};

/// A stretch of time in which a lock was held, by the thread for which others wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) thread: ThreadIndex,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// The holds of one lock, in the order of time, which do not overlap, and last for a while each. `turns` are those of the lock,
/// in the order of time, in a window from `begin` to `end`.
pub(crate) fn holds(turns: &[Turn], shared: bool, begin: u64, end: u64) -> Vec<Hold> {
    let all = if shared { each(turns, begin, end) } else { one_by_one(turns, begin, end) };
    let mut holds = if shared { last_to_leave(&all) } else { all };
    holds.retain(|hold| hold.from < hold.until);
    holds
}

/// The holds of a lock that one thread holds at a time: whoever takes it shows that nobody else has
/// it any longer, and any thread may release it.
fn one_by_one(turns: &[Turn], begin: u64, end: u64) -> Vec<Hold> {
    let mut holds = Vec::new();
    let mut holder: Option<(ThreadIndex, u64)> = None;
    for (number, turn) in turns.iter().enumerate() {
        let same = holder.is_some_and(|(thread, _)| thread == turn.thread);
        if turn.acquired && same {
            continue;
        }
        // A release as the first event of all: its thread has had it from the beginning.
        let before = (number == 0 && !turn.acquired).then_some((turn.thread, begin));
        if let Some((thread, from)) = holder.take().or(before) {
            holds.push(Hold { thread, from, until: turn.at });
        }
        holder = turn.acquired.then_some((turn.thread, turn.at));
    }
    holds.extend(holder.map(|(thread, from)| Hold { thread, from, until: end }));
    holds
}

/// Each thread's own holds of a lock that several may hold.
fn each(turns: &[Turn], begin: u64, end: u64) -> Vec<Hold> {
    let mut of_thread: BTreeMap<ThreadIndex, Vec<Turn>> = BTreeMap::new();
    for turn in turns {
        of_thread.entry(turn.thread).or_default().push(*turn);
    }
    of_thread.values().flat_map(|turns| one_by_one(turns, begin, end)).collect()
}

/// Of holds that overlap, the one that ends last at each moment: who waits for all readers waits
/// until the last has gone.
fn last_to_leave(holds: &[Hold]) -> Vec<Hold> {
    let mut sorted = holds.to_vec();
    sorted.sort_by_key(|hold| (hold.from, std::cmp::Reverse(hold.until), hold.thread));
    let mut chosen: Vec<Hold> = Vec::new();
    for hold in sorted {
        match chosen.last_mut() {
            Some(last) if last.until > hold.from => {
                if hold.until > last.until {
                    last.until = hold.from;
                    chosen.push(hold);
                }
            }
            _ => chosen.push(hold),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{Hold, holds};
    use crate::thread_account::kept::{ThreadIndex, Turn, WordIndex};

    fn turn(at: u64, thread: u32, acquired: bool) -> Turn {
        Turn { word: WordIndex(0), thread: ThreadIndex(thread), at, acquired }
    }

    fn hold(thread: u32, from: u64, until: u64) -> Hold {
        Hold { thread: ThreadIndex(thread), from, until }
    }

    #[test]
    fn a_lock_has_one_holder_at_a_time() {
        // Thread 1 has it from the beginning; its release by thread 3 is nobody's hold; the release by
        // thread 2 was lost.
        let turns = [
            turn(10, 1, false),
            turn(20, 2, true),
            turn(40, 4, true),
            turn(50, 4, true),
            turn(60, 3, false),
            turn(70, 3, false),
            turn(80, 2, true),
        ];
        let expected = [hold(1, 0, 10), hold(2, 20, 40), hold(4, 40, 60), hold(2, 80, 100)];
        assert_eq!(holds(&turns, false, 0, 100), expected);
    }

    #[test]
    fn of_readers_the_last_to_leave_counts() {
        let turns = [
            turn(10, 1, true),
            turn(20, 2, true),
            turn(25, 3, true),
            turn(30, 1, false),
            turn(35, 3, false),
            turn(50, 2, false),
        ];
        assert_eq!(holds(&turns, true, 0, 100), [hold(1, 10, 20), hold(2, 20, 50)]);
    }
}
