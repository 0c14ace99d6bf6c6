//! A set of cores.

use alloc::vec::Vec;
use core::fmt;

use kilocore_platform::CpuId;

const BITS: usize = u64::BITS as usize;

/// A set of cores, of any size.
///
/// Unlike [`kilocore_platform::CpuSet`] it takes no more words than its largest core needs: a driver
/// keeps several sets for each of many thousand threads, and those of a fixed size for the largest
/// machine would take 2 KiB each, on a kernel's stack as well.
///
/// Sets with the same cores are equal, however they were made.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct CpuSet {
    /// Without zero words at the end.
    words: Vec<u64>,
}

impl CpuSet {
    /// The set that has no core.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The first `count` cores of a machine.
    #[must_use]
    pub fn first(count: u32) -> Self {
        (0..count).map(CpuId).collect()
    }

    /// Adds a core. Returns whether it was not there.
    pub fn insert(&mut self, cpu: CpuId) -> bool {
        let (word, bit) = (cpu.0 as usize / BITS, cpu.0 as usize % BITS);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & (1 << bit) == 0;
        self.words[word] |= 1 << bit;
        new
    }

    /// Takes a core away. Returns whether it was there.
    pub fn remove(&mut self, cpu: CpuId) -> bool {
        let there = self.contains(cpu);
        if there {
            self.words[cpu.0 as usize / BITS] &= !(1 << (cpu.0 as usize % BITS));
            self.trim();
        }
        there
    }

    /// Whether a core is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        let word = self.words.get(cpu.0 as usize / BITS);
        word.is_some_and(|word| word & (1 << (cpu.0 as usize % BITS)) != 0)
    }

    /// How many cores there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is no core.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Its cores, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(index, &word)| {
            let bits = (0..BITS).filter(move |bit| word & (1 << bit) != 0);
            bits.map(move |bit| CpuId((index * BITS + bit) as u32))
        })
    }

    /// The cores that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        let words = self.words.iter().zip(&other.words).map(|(mine, theirs)| mine & theirs);
        let mut both = CpuSet { words: words.collect() };
        both.trim();
        both
    }

    /// Adds all cores of another set.
    pub fn extend_from(&mut self, other: &CpuSet) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Whether all cores are in `other`, too.
    #[must_use]
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.intersection(other) == *self
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut set = Self::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{{{self}}}")
    }
}

/// As Linux writes lists of cores: `0-3,8`.
impl fmt::Display for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut first = true;
        while let Some(CpuId(start)) = cpus.next() {
            let mut end = start;
            while let Some(&CpuId(next)) = cpus.peek()
                && next == end + 1
            {
                end = next;
                cpus.next();
            }
            let comma = if first { "" } else { "," };
            first = false;
            if start == end {
                write!(formatter, "{comma}{start}")?;
            } else {
                write!(formatter, "{comma}{start}-{end}")?;
            }
        }
        Ok(())
    }
}
