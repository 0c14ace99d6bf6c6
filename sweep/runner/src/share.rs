//! A part of all points, for sweeps that divide them among each other.

use std::num::NonZero;

use kilocore_points::Key;

/// A part of all points, as large as each other one.
///
/// It depends on nothing but a point's key. So each of several sweeps knows which points are its own, whatever the others
/// have computed by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    index: u32,
    of: NonZero<u32>,
}

impl Share {
    /// All points.
    pub const ALL: Self = Self { index: 0, of: NonZero::<u32>::MIN };

    /// The part with this number, from 1, of so many. `None` if there is no such part.
    #[must_use]
    pub fn new(number: u32, of: u32) -> Option<Self> {
        let index = number.checked_sub(1).filter(|&index| index < of)?;
        Some(Self { index, of: NonZero::new(of)? })
    }

    /// Whether a point is in it.
    pub(crate) fn has(self, key: &Key) -> bool {
        let [first, ..] = key.bytes().as_chunks::<4>().0 else { return false };
        u32::from_le_bytes(*first) % self.of == self.index
    }
}

#[cfg(test)]
mod tests {
    use kilocore_points::Key;

    use super::Share;

    #[test]
    fn each_point_is_in_one_share_and_shares_are_alike() {
        let shares: Vec<Share> = (1..=7).filter_map(|number| Share::new(number, 7)).collect();
        let mut sizes = [0; 7];
        for number in 0..7000 {
            let key = Key::of(&number);
            assert!(Share::ALL.has(&key));
            let of: Vec<usize> = (0..7).filter(|&index| shares[index].has(&key)).collect();
            assert_eq!(of.len(), 1);
            sizes[of[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (850..1150).contains(size)), "{sizes:?}");
    }

    #[test]
    fn there_is_no_part_beyond_the_last() {
        assert_eq!(Share::new(1, 1), Some(Share::ALL));
        for (number, of) in [(0, 3), (4, 3), (0, 0), (1, 0)] {
            assert_eq!(Share::new(number, of), None);
        }
    }
}
