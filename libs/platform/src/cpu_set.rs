//! A set of processors of fixed size.

use crate::CpuId;

/// A set of the processors whose numbers are below 64 times `WORDS`: a bit for each, lowest first, as
/// Linux has them on 64-bit machines.
///
/// ```
/// use kilocore_platform::{CpuId, CpuSet};
///
/// let set: CpuSet<2> = [CpuId(3), CpuId(64)].into_iter().collect();
/// assert!(set.contains(CpuId(64)) && !set.contains(CpuId(1_000)));
/// assert_eq!(set.intersection(&CpuSet::first(4)).iter().collect::<Vec<_>>(), [CpuId(3)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CpuSet<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> CpuSet<WORDS> {
    /// The numbers in a set are below this.
    pub const ROOM: u32 = WORDS as u32 * u64::BITS;

    /// Returns an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; WORDS])
    }

    /// Returns the set of these bits, lowest first.
    #[must_use]
    pub const fn from_words(words: [u64; WORDS]) -> Self {
        Self(words)
    }

    /// Returns the set's bits, lowest first.
    #[must_use]
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Returns the first `count` processors.
    ///
    /// # Panics
    /// If they are more than [`ROOM`](Self::ROOM).
    #[must_use]
    pub fn first(count: u32) -> Self {
        (0..count).map(CpuId).collect()
    }

    /// Returns a set of these processors, or `None` if a number is not below [`ROOM`](Self::ROOM).
    #[must_use]
    pub fn of(cpus: impl IntoIterator<Item = CpuId>) -> Option<Self> {
        let mut set = Self::new();
        for cpu in cpus {
            *set.0.get_mut((cpu.0 / u64::BITS) as usize)? |= 1 << (cpu.0 % u64::BITS);
        }
        Some(set)
    }

    /// Returns whether a processor is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, cpu: CpuId) -> bool {
        let word = self.0.get((cpu.0 / u64::BITS) as usize);
        word.is_some_and(|word| word >> (cpu.0 % u64::BITS) & 1 == 1)
    }

    /// Returns how many processors are in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns whether no processor is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Returns the processors that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Returns the processors in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        (0..Self::ROOM).map(CpuId).filter(|&cpu| self.contains(cpu))
    }
}

impl<const WORDS: usize> Default for CpuSet<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

/// # Panics
/// If a number is not below [`ROOM`](CpuSet::ROOM).
impl<const WORDS: usize> FromIterator<CpuId> for CpuSet<WORDS> {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        Self::of(cpus).expect("processors' numbers are below what a set has room for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_is_put_into_them() {
        type Large = CpuSet<256>;
        let cpus = [0, 63, 64, 1023, 1024, 5000, Large::ROOM - 1].map(CpuId);
        let set = Large::of(cpus).unwrap();
        assert!(set.iter().eq(cpus));
        assert_eq!((set.len(), set.is_empty(), Large::new().is_empty()), (7, false, true));
        assert!(!set.contains(CpuId(1)) && !set.contains(CpuId(Large::ROOM)));
        assert_eq!(Large::of([CpuId(Large::ROOM)]), None);
        assert!(set.intersection(&CpuSet::first(65)).iter().eq([0, 63, 64].map(CpuId)));
        assert_eq!(CpuSet::from_words(*set.words()), set);
    }
}
