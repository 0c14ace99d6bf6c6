//! How much of something each thread gets.

use core::ops::Range;

/// The share of one of `threads` threads in `0..all`. Shares differ by one at most and are in order.
#[inline]
pub(crate) fn share(all: usize, thread: usize, threads: usize) -> Range<usize> {
    all * thread / threads..all * (thread + 1) / threads
}
