//! The file in which points are kept.

use std::collections::BTreeMap;

use crate::Key;

/// The bytes that a point may take. One that takes more is computed anew each time.
pub const MOST_POINT_BYTES: usize = 1 << 20;

/// Points in bytes, by their keys.
///
/// A file of them is a digest of all that follows, and for each point its key, its length in four bytes, the least
/// significant one first, and its bytes. Keys ascend, so that the same points are the same file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    points: BTreeMap<Key, Box<[u8]>>,
}

/// The bytes of a point in a file beside those of its own: its key and its length.
const FRONT: usize = Key::BYTES + 4;

impl Batch {
    /// Adds a point, in the place of one that has the same key. Returns whether it is short enough to be kept.
    pub fn insert(&mut self, key: Key, point: Box<[u8]>) -> bool {
        let fits = point.len() <= MOST_POINT_BYTES;
        if fits {
            self.points.insert(key, point);
        }
        fits
    }

    /// Adds all of another one.
    pub fn append(&mut self, mut other: Self) {
        self.points.append(&mut other.points);
    }

    /// The point of that key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&[u8]> {
        self.points.get(key).map(|point| &**point)
    }

    /// The number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// What a file holds. `None` if it is not whole, or not as [`to_bytes`](Self::to_bytes) writes one. No more memory
    /// is taken than there are bytes, whatever these are.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (digest, mut rest) = bytes.split_first_chunk::<{ Key::BYTES }>()?;
        if Key::of_bytes(rest).bytes() != digest {
            return None;
        }
        let mut points = BTreeMap::new();
        while !rest.is_empty() {
            let (key, length, point);
            (key, rest) = rest.split_first_chunk::<{ Key::BYTES }>()?;
            (length, rest) = rest.split_first_chunk::<4>()?;
            let key = Key::from_bytes(*key);
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            if length > MOST_POINT_BYTES
                || points.last_key_value().is_some_and(|(last, _)| *last >= key)
            {
                return None;
            }
            (point, rest) = rest.split_at_checked(length)?;
            points.insert(key, point.into());
        }
        Some(Self { points })
    }

    /// The file of these points.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; Key::BYTES];
        for (key, point) in &self.points {
            let length = u32::try_from(point.len()).expect("no point is longer than the longest");
            bytes.extend(key.bytes());
            bytes.extend(length.to_le_bytes());
            bytes.extend(&**point);
        }
        let digest = Key::of_bytes(&bytes[Key::BYTES..]);
        bytes[..Key::BYTES].copy_from_slice(digest.bytes());
        bytes
    }

    /// The same points in batches whose files have at most `most` bytes, unless a single point takes more.
    #[must_use]
    pub fn split(self, most: usize) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        let mut bytes = usize::MAX;
        for (key, point) in self.points {
            let more = FRONT + point.len();
            if bytes.saturating_add(more) > most {
                parts.push(Self::default());
                bytes = Key::BYTES;
            }
            bytes += more;
            parts.last_mut().expect("one was just begun").points.insert(key, point);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn batch() -> impl Strategy<Value = Batch> {
        let point = vec(any::<u8>(), 0..40).prop_map(Vec::into_boxed_slice);
        btree_map(any::<[u8; 32]>().prop_map(Key::from_bytes), point, 0..8)
            .prop_map(|points| Batch { points })
    }

    /// Bytes behind their digest.
    fn with_digest(bytes: &[u8]) -> Vec<u8> {
        [&Key::of_bytes(bytes).bytes()[..], bytes].concat()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(batch in batch()) {
            prop_assert_eq!(Batch::read(&batch.to_bytes()), Some(batch));
        }

        #[test]
        fn what_is_cut_short_longer_or_changed_is_refused(
            batch in batch(), at: prop::sample::Index, bit in 0..8,
        ) {
            let whole = batch.to_bytes();
            let at = at.index(whole.len());
            prop_assert_eq!(Batch::read(&whole[..at]), None);
            prop_assert_eq!(Batch::read(&[&whole[..], &[0]].concat()), None);
            let mut changed = whole;
            changed[at] ^= 1_u8 << bit;
            prop_assert_eq!(Batch::read(&changed), None);
        }

        /// Whoever writes such a file can write its digest as well.
        #[test]
        fn what_is_accepted_behind_any_digest_is_written_as_it_was(
            batch in batch(), at: prop::sample::Index, byte: u8,
        ) {
            let mut behind = batch.to_bytes().split_off(Key::BYTES);
            if !behind.is_empty() {
                let at = at.index(behind.len());
                behind[at] = byte;
            }
            let bytes = with_digest(&behind);
            if let Some(accepted) = Batch::read(&bytes) {
                prop_assert_eq!(accepted.to_bytes(), bytes);
            }
        }

        #[test]
        fn parts_fit_and_are_the_whole(batch in batch(), most in 0_usize..400) {
            let parts = batch.clone().split(most);
            let fits = |part: &Batch| part.to_bytes().len() <= most || part.len() == 1;
            prop_assert!(parts.iter().all(|part| fits(part) && !part.is_empty()));
            let mut whole = Batch::default();
            parts.into_iter().for_each(|part| whole.append(part));
            prop_assert_eq!(whole, batch);
        }
    }

    #[test]
    fn keys_that_do_not_ascend_and_points_that_are_too_long_are_refused() {
        let entry = |key: u8, length: u32| [&[key; 32][..], &length.to_le_bytes()].concat();
        let [low, high] = [entry(1, 0), entry(2, 0)];
        assert_eq!(
            Batch::read(&with_digest(&[&low[..], &high].concat())).map(|both| both.len()),
            Some(2)
        );
        assert_eq!(Batch::read(&with_digest(&[&high[..], &low].concat())), None);
        assert_eq!(Batch::read(&with_digest(&[&low[..], &low].concat())), None);
        assert_eq!(Batch::read(&with_digest(&entry(1, u32::MAX))), None);
        let long = MOST_POINT_BYTES + 1;
        let entry = entry(1, u32::try_from(long).unwrap());
        assert_eq!(Batch::read(&with_digest(&[entry, vec![0; long]].concat())), None);
        assert!(!Batch::default().insert(Key::of(&1), vec![0; long].into()));
        assert!(Batch::default().insert(Key::of(&1), vec![0; long - 1].into()));
    }
}
