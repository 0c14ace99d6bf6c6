//! The longest chain of lines of a hold that can only be fetched one after the other.
//!
//! A processor fetches lines at the same time if it knows their addresses, so a handover takes as long as
//! the longest chain of lines, and not as long as all of them. A line waits for another one in three
//! cases: its address came from there; it is used so many instructions later that the processor does not
//! look so far ahead; or an update in one step, or a system call, lies between the two.
//!
//! A line that is only written keeps nobody waiting but what needs its data, because a store waits aside.
//! When the lock is given back it must have arrived.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::hold::{Lines, MOST_LINES};

/// How far a processor looks ahead, in instructions.
static WINDOW: AtomicU64 = AtomicU64::new(256);

pub(crate) fn set_window(instructions: u64) {
    WINDOW.store(instructions, Ordering::Relaxed);
}

/// What a line did in a hold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moved {
    /// It moved: its data did, or others lost it.
    pub(crate) moved: bool,
    /// The line's data moved to the holder.
    pub(crate) fetched: bool,
}

/// How many moves have to follow one another. `moved` says of each line whether it did.
pub(crate) fn longest(lines: &Lines, moved: &[Moved]) -> u64 {
    let moves = moved.iter().filter(|line| line.moved).count();
    if moves < 2 {
        return moves as u64;
    }
    let window = WINDOW.load(Ordering::Relaxed);
    let used = lines.used();
    // After how many moves a line's data is there, and after how many it is the holder's alone.
    let (mut there, mut done) = ([0; MOST_LINES], [0; MOST_LINES]);
    for (index, line) in used.iter().enumerate() {
        let from = lines.index_of(line.from).filter(|from| *from < index);
        let mut start = from.map_or(0, |from| there[from]);
        for (earlier, other) in used[..index].iter().enumerate() {
            if other.fence < line.fence {
                start = start.max(done[earlier]);
            } else if other.loaded.saturating_add(window) <= line.since {
                start = start.max(there[earlier]);
            }
        }
        there[index] = start + u64::from(moved[index].fetched);
        done[index] = start + u64::from(moved[index].moved);
    }
    done.into_iter().max().unwrap_or(0)
}
