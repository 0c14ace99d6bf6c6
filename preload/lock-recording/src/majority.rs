//! Finds the thread that takes a lock more often than all other threads together, with one word of
//! memory.
//!
//! This is the majority vote of Boyer and Moore. The word contains the number of a candidate and
//! its lead. Each acquisition is a vote. An acquisition by the candidate increases the lead. An
//! acquisition by another thread decreases the lead or, if the lead is zero, makes that thread the
//! candidate. If a thread has the majority of the votes, it is the candidate in the end. The
//! candidate has at least as many votes as its lead.

/// The number of bits of the lead. The candidate's number is in the bits above.
const LEAD_BITS: u32 = 40;
/// The largest lead. At this value, further votes do not increase it.
pub const MOST: u64 = (1 << LEAD_BITS) - 1;

/// Returns the word after a vote for the thread with number `thread`, which is below 2^24.
#[inline(always)]
#[must_use]
pub const fn vote(word: u64, thread: u32) -> u64 {
    let lead = word & MOST;
    let thread = thread as u64;
    if lead == 0 {
        thread << LEAD_BITS | 1
    } else if word >> LEAD_BITS != thread {
        word - 1
    } else if lead < MOST {
        word + 1
    } else {
        word
    }
}

/// Returns the candidate's number and its lead.
#[must_use]
pub const fn candidate(word: u64) -> (u32, u64) {
    ((word >> LEAD_BITS) as u32, word & MOST)
}

#[cfg(test)]
mod tests {
    use super::{MOST, candidate, vote};

    fn after(votes: impl IntoIterator<Item = u32>) -> (u32, u64) {
        candidate(votes.into_iter().fold(0, vote))
    }

    #[test]
    fn who_has_the_majority_ends_in_the_lead() {
        assert_eq!(after([7; 9]), (7, 9));
        assert_eq!(after([1, 2, 3, 3, 3]).0, 3);
        assert_eq!(after([4095, 4095, 0]), (4095, 1));
        let one_in_ten = (0..1_000).map(|vote| u32::from(vote % 10 == 0));
        assert_eq!(after(one_in_ten), (0, 800));
    }

    #[test]
    fn taking_turns_gives_no_lead() {
        let (_, lead) = after((0..1_000).map(|vote| vote % 2));
        assert_eq!(lead, 0);
    }

    #[test]
    fn a_lead_stays_in_its_bits() {
        let full = 5 << 40 | MOST;
        assert_eq!(candidate(vote(full, 5)), (5, MOST));
        assert_eq!(candidate(vote(full, 6)), (5, MOST - 1));
    }
}
