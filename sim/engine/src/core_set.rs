//! A set of cores: where a task may run.

use kilocore_platform::CpuId;

/// A set of some of a machine's cores, of which it has 1,024 at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CoreSet([u64; 16]);

impl CoreSet {
    /// No core.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; 16])
    }

    /// The first `count` cores of a machine.
    ///
    /// # Panics
    /// If they are more than 1,024.
    #[must_use]
    pub fn first(count: u32) -> Self {
        (0..count).map(CpuId).collect()
    }

    /// Adds a core.
    ///
    /// # Panics
    /// If its number is 1,024 or more.
    pub fn insert(&mut self, core: CpuId) {
        self.0[core.0 as usize / 64] |= 1 << (core.0 % 64);
    }

    /// Whether a core is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, core: CpuId) -> bool {
        let word = self.0.get(core.0 as usize / 64);
        word.is_some_and(|word| word >> (core.0 % 64) & 1 == 1)
    }

    /// How many cores are in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no core is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 16]
    }

    /// The cores that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// The cores in rising order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        (0..1024).map(CpuId).filter(|&core| self.contains(core))
    }
}

impl FromIterator<CpuId> for CoreSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cores: I) -> Self {
        let mut set = Self::new();
        for core in cores {
            set.insert(core);
        }
        set
    }
}
