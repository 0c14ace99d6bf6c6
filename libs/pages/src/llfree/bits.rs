//! Taking free frames of one word: the step in which a frame gets its owner.

use kilocore_platform::{Atomic, Ordering, Platform};

/// The frames of a word.
pub(super) const WORD_BITS: u32 = u64::BITS;

/// Returns a word with so many low bits set, at most 64.
pub(super) fn low_bits(count: u32) -> u64 {
    if count >= WORD_BITS { u64::MAX } else { (1 << count) - 1 }
}

/// Returns the lowest clear bits of a word, at most `most` of them.
fn lowest_clear(word: u64, most: u32) -> u64 {
    let mut rest = !word;
    if rest.count_ones() <= most {
        return rest;
    }
    for _ in 0..most {
        rest &= rest - 1;
    }
    !word ^ rest
}

/// Returns the lowest run of `length` clear bits at a multiple of `length`, a power of two below 64.
fn aligned_run(word: u64, length: u32) -> Option<u64> {
    let run = low_bits(length);
    (0..WORD_BITS).step_by(length as usize).map(|at| run << at).find(|run| word & run == 0)
}

/// Sets those clear bits of a word that `choose` names after looking at the word. Returns them: their
/// frames are the caller's. Returns 0 if `choose` names none.
fn set<P: Platform>(word: &P::U64, choose: impl Fn(u64) -> u64) -> u64 {
    // Relaxed: a stale word fails the comparison below, which returns the fresh one.
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        let wanted = choose(seen);
        debug_assert!(seen & wanted == 0, "only clear bits are taken");
        if wanted == 0 {
            return 0;
        }
        // Acquire: pairs with the release of who cleared the bits, in `LlFree::clear`. Setting bits
        // is part of the release sequence of the bits that stay clear.
        let exchanged =
            word.compare_exchange_weak(seen, seen | wanted, Ordering::Acquire, Ordering::Relaxed);
        match exchanged {
            Ok(_) => return wanted,
            Err(now) => seen = now,
        }
    }
}

/// Takes up to `most` frames of a word.
pub(super) fn take_lowest<P: Platform>(word: &P::U64, most: u32) -> u64 {
    set::<P>(word, |seen| lowest_clear(seen, most))
}

/// Takes an aligned run of `length` frames of a word. `length` is a power of two, at most 64.
pub(super) fn take_run<P: Platform>(word: &P::U64, length: u32) -> u64 {
    set::<P>(word, |seen| {
        if length == WORD_BITS {
            return if seen == 0 { u64::MAX } else { 0 };
        }
        aligned_run(seen, length).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_clear_bits_are_found() {
        assert_eq!(lowest_clear(0b0110, 2), 0b1001);
        assert_eq!(lowest_clear(0b0110, 3), 0b1_1001);
        assert_eq!(lowest_clear(u64::MAX, 3), 0);
        assert_eq!(lowest_clear(0, 64), u64::MAX);
        assert_eq!(lowest_clear(!(1 << 63), 64), 1 << 63);
    }

    #[test]
    fn a_run_is_aligned() {
        assert_eq!(aligned_run(0b0001, 2), Some(0b1100));
        assert_eq!(aligned_run(0b0110, 2), Some(0b11_0000));
        assert_eq!(aligned_run(u64::MAX, 1), None);
        assert_eq!(aligned_run(1, 32), Some(0xFFFF_FFFF << 32));
    }
}
