//! The thread that takes a lock more often than all others together, found in one word.
//!
//! The majority vote of Boyer and Moore: the word names a candidate and its lead. An acquisition
//! by the candidate adds to the lead; one by another takes from it, and takes the candidate's
//! place when there is no lead left. Whoever has the majority of the votes ends as the candidate,
//! and at least as many of the votes as the lead were the candidate's.

/// Bits of the lead; the candidate's number is above them.
const LEAD_BITS: u32 = 40;
/// The largest lead; it grows no further.
pub const MOST: u64 = (1 << LEAD_BITS) - 1;

/// The word after a vote for the thread numbered `thread`, which is below 2^24.
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

/// The candidate's number and its lead.
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
