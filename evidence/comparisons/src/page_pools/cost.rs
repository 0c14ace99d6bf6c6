//! What allocating and releasing a page costs, without initializing it.

use std::ptr::NonNull;

use crate::rounds::timed;

use crate::page_pools::subjects::Pages;

/// The pages that a thread has at a time before it releases them.
pub(crate) const DEPTHS: [usize; 3] = [1, 8, 64];

/// Returns the nanoseconds for an allocation and a release together, while so many threads do it.
pub(crate) fn pair(pages: &impl Pages, threads: u64, depth: usize, operations: u64) -> f64 {
    let batches = operations / depth as u64;
    timed(threads, batches * depth as u64, &|_| {
        let mut held = [NonNull::dangling(); DEPTHS[DEPTHS.len() - 1]];
        for _ in 0..batches {
            for page in &mut held[..depth] {
                *page = pages.take();
            }
            for page in &held[..depth] {
                // SAFETY: it was taken above.
                unsafe { pages.give(*page) };
            }
        }
    })
}
