//! The two sides into which the copies are divided.
//!
//! Copies with even numbers are on one side, the others on the other. At any time at least one whole side
//! is shown to readers.

/// Which copies are meant: those with even numbers, or those with odd ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Even,
    Odd,
}

impl Side {
    /// Returns the side of the copy with this number.
    pub(crate) fn of(copy: usize) -> Self {
        if copy.is_multiple_of(2) { Self::Even } else { Self::Odd }
    }

    #[inline]
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Returns the copies of this side, of so many copies.
    pub(crate) fn copies(self, all: usize) -> impl Iterator<Item = usize> {
        (self.index()..all).step_by(2)
    }

    /// Returns the copy on this side that stands for the copy with number `copy`, of so many copies: that one
    /// if it is on this side, or else a neighbour. There are two copies at least.
    pub(crate) fn stand_in(self, copy: usize, all: usize) -> usize {
        if Self::of(copy) == self {
            copy
        } else if copy ^ 1 < all {
            copy ^ 1
        } else {
            copy - 1
        }
    }
}

/// None, one, or both of the sides, as a bit mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides(pub(crate) u32);

impl Sides {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const BOTH: Self = Self(3);

    #[inline]
    pub(crate) fn only(side: Side) -> Self {
        Self(1 << side.index())
    }

    #[inline]
    pub(crate) fn has(self, side: Side) -> bool {
        self.0 & Self::only(side).0 != 0
    }

    /// Returns `home` if it is among them, and else the other side. One of them has to be there.
    #[inline]
    pub(crate) fn nearest(self, home: Side) -> Side {
        if self.has(home) { home } else { home.other() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_copy_has_a_stand_in_on_either_side() {
        for all in 2..9 {
            for copy in 0..all {
                for side in [Side::Even, Side::Odd] {
                    let stand_in = side.stand_in(copy, all);
                    assert!(stand_in < all && Side::of(stand_in) == side, "{copy} of {all}");
                    assert!(stand_in.abs_diff(copy) <= 1);
                }
                assert_eq!(Side::of(copy).stand_in(copy, all), copy);
            }
            let [even, odd] = [Side::Even, Side::Odd].map(|side| side.copies(all).count());
            assert_eq!(even + odd, all);
        }
    }
}
