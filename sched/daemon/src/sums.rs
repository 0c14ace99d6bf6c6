//! What was recorded in a window, by the entries that locks have there, and how it is divided among threads.
//!
//! A process may have thousands of locks. Those that are waited for longest have entries of their own, and
//! the others one together.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_lock_profile::Family;

use crate::recordings::Recent;

/// The address that stands for all recorded locks that have no entry of their own.
pub(crate) const OTHERS: u64 = 1;

/// So many locks of a process have entries of their own: those that are waited for longest.
pub(crate) const NAMED: usize = 8;

/// Locks by their addresses, with their sizes in bytes.
pub(crate) struct Places(BTreeMap<u64, u64>);

impl Places {
    pub(crate) fn of(locks: &[Recent]) -> Self {
        let size = |family| match family {
            Family::Mutex => size_of::<libc::pthread_mutex_t>(),
            Family::ReadWrite => size_of::<libc::pthread_rwlock_t>(),
            Family::Spin => 0,
        };
        let place = |lock: &Recent| Some((lock.address?, size(lock.family) as u64));
        Self(locks.iter().filter_map(place).collect())
    }

    /// The lock in which a word lies.
    pub(crate) fn lock_at(&self, word: u64) -> Option<u64> {
        let (lock, size) = self.0.range(..=word).next_back()?;
        (word - lock < *size).then_some(*lock)
    }
}

/// What was recorded of the locks behind an entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) slept: u64,
    pub(crate) spun: u64,
    pub(crate) acquired: u64,
}

/// What was recorded, by entry.
pub(crate) struct Sums {
    pub(crate) of: BTreeMap<u64, Sum>,
    named: BTreeSet<u64>,
}

impl Sums {
    pub(crate) fn of(locks: &[Recent], at_locks: &[BTreeMap<u64, u64>]) -> Self {
        let mut longest: BTreeMap<u64, u64> = BTreeMap::new();
        for (lock, slept) in at_locks.iter().flatten() {
            *longest.entry(*lock).or_default() += slept;
        }
        for lock in locks.iter().filter(|lock| lock.waited.0 > 0 || lock.waiters > 0) {
            let Some(address) = lock.address else { continue };
            let waited = longest.entry(address).or_default();
            *waited = (*waited).max(lock.waited.0);
        }
        let mut order: Vec<(u64, u64)> =
            longest.into_iter().map(|(lock, waited)| (waited, lock)).collect();
        order.sort_unstable_by_key(|(waited, lock)| (std::cmp::Reverse(*waited), *lock));
        let named = order.into_iter().take(NAMED).map(|(_, lock)| lock).collect();
        let mut sums = Self { of: BTreeMap::new(), named };
        for lock in locks.iter().filter(|lock| lock.acquired > 0 || lock.waited.0 > 0) {
            let key = lock.address.map_or(OTHERS, |address| sums.key(address));
            let sum = sums.of.entry(key).or_default();
            sum.acquired = sum.acquired.saturating_add(lock.acquired);
            let waited = match lock.family {
                Family::Spin => &mut sum.spun,
                Family::Mutex | Family::ReadWrite => &mut sum.slept,
            };
            *waited = waited.saturating_add(lock.waited.0);
        }
        sums
    }

    pub(crate) fn key(&self, lock: u64) -> u64 {
        if self.named.contains(&lock) { lock } else { OTHERS }
    }
}

/// Divides a whole by shares, so that the parts are whole numbers whose sum it is. If there are no shares,
/// the first gets it. Shares are times of a window.
pub(crate) fn parts(whole: u64, shares: &[u64]) -> Vec<u64> {
    let all: u128 = shares.iter().map(|share| u128::from(*share)).sum();
    let (mut before, mut given) = (0_u128, 0_u128);
    let part = |(index, share): (usize, &u64)| {
        before += u128::from(*share);
        let until = (u128::from(whole) * before).checked_div(all).unwrap_or(whole.into());
        let part = if all == 0 && index > 0 { 0 } else { until - given };
        given = until;
        // It is no more than the whole.
        part as u64
    };
    shares.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_add_up(whole: u64, shares in prop::collection::vec(0_u64..1 << 56, 1..9)) {
            let parts = parts(whole, &shares);
            prop_assert_eq!(parts.iter().map(|part| u128::from(*part)).sum::<u128>(), u128::from(whole));
        }
    }
}
