//! Counting, by one thread alone or by several at once.
//!
//! # Plain or atomic
//! Only the holder writes the shard of an exclusive hold, so plain loads and stores suffice. It
//! does not matter for correctness which core's shard the holder uses, so the core may be out of
//! date. A shard of shared holds belongs to one thread, except for the shard that all threads
//! without a slot share.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_lock_recording::{Histogram, SparseHistogram, bucket_of, sparse};

/// Adds to a counter. `atomic` says whether other threads may write the counter at the same time.
#[inline(always)]
pub(crate) fn add(counter: &AtomicU64, amount: u64, atomic: bool) {
    if atomic {
        counter.fetch_add(amount, Ordering::Relaxed);
    } else {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }
}

/// Counts durations in a histogram.
pub(crate) trait Count {
    /// Counts a duration in cycles `weight` times. `atomic` is as for [`add`].
    fn count(&self, cycles: u64, weight: u32, atomic: bool);
}

impl Count for Histogram {
    #[inline(always)]
    fn count(&self, cycles: u64, weight: u32, atomic: bool) {
        add(&self.sum, cycles.wrapping_mul(u64::from(weight)), atomic);
        add(&self.buckets[bucket_of(cycles)], u64::from(weight), atomic);
    }
}

/// Counts a duration in cycles `weight` times if there is room, and returns whether there was.
/// `atomic` is as for [`add`].
#[inline(always)]
pub(crate) fn count_few(few: &SparseHistogram, cycles: u64, weight: u32, atomic: bool) -> bool {
    let bucket = bucket_of(cycles);
    let room = few.entries.iter().any(|entry| {
        let before = entry.load(Ordering::Relaxed);
        if before == 0 {
            let first = sparse::entry(bucket, weight);
            if !atomic {
                entry.store(first, Ordering::Relaxed);
                return true;
            }
            match entry.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => true,
                Err(theirs) => {
                    sparse::is_of(theirs, bucket) && count_more(entry, theirs, weight, true)
                }
            }
        } else {
            sparse::is_of(before, bucket) && count_more(entry, before, weight, atomic)
        }
    });
    if room {
        add(&few.sum, cycles.wrapping_mul(u64::from(weight)), atomic);
    }
    room
}

/// Adds to an entry whose value was `before`, and returns true. Returns false if its count would
/// become too large.
#[inline(always)]
fn count_more(entry: &AtomicU32, before: u32, weight: u32, atomic: bool) -> bool {
    if sparse::count(before) + weight >= sparse::LIMIT {
        return false;
    }
    if atomic {
        entry.fetch_add(weight, Ordering::Relaxed);
    } else {
        entry.store(before + weight, Ordering::Relaxed);
    }
    true
}
