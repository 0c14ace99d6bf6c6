//! Generations: pages that came, or were spared, at about the same time.

/// So many generations of a class are there at a time.
pub(crate) const GENERATIONS: u32 = 3;

/// So many lists a class has for them: one more, so that the list of a generation that has just ended is not
/// the youngest one's at once.
pub(crate) const GENERATION_LISTS: u32 = 4;

/// The number of a generation's list. Two bits of a frame's word hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(pub(crate) u32);

/// The full number of a generation. The next one is younger. It wraps around at 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequence(pub(crate) u32);

impl Sequence {
    pub(crate) const fn generation(self) -> Generation {
        Generation(self.0 % GENERATION_LISTS)
    }

    /// The generation that came so many after this one.
    pub(crate) const fn after(self, younger: u32) -> Self {
        Sequence(self.0.wrapping_add(younger))
    }
}
