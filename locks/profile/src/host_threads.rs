//! The hardware threads of a host: which of them share a core, and which are slower.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A core is slower if it has less than this share of the speed of the first one. Some cores of one kind
/// reach a slightly higher frequency than others.
const SLOWER: f64 = 0.9;

/// A hardware thread that a program could use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostThread {
    /// Its number, as Linux counts.
    pub cpu: u32,
    /// The physical core that it belongs to. Absent if the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// How fast it is, as a share of the fastest of them. Absent if the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}

/// From how many cores on those of a timed run are not all alike: so many of them are not so many times the
/// first one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct UnlikeCores {
    /// The least number of cores of which two are hardware threads of one physical core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub siblings_from: Option<u32>,
    /// The least number of cores of which one is slower than the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower_from: Option<u32>,
    /// The speed of the slowest, as a share of the fastest, if there are slower ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest: Option<f64>,
}

impl UnlikeCores {
    /// Of the hardware threads of a host, in the order in which timed runs are given them.
    #[must_use]
    pub fn of(threads: &[HostThread]) -> Self {
        let nth = |index: usize| index as u32 + 1;
        let mut met = BTreeSet::new();
        let is_sibling = |thread: &HostThread| thread.core.is_some_and(|core| !met.insert(core));
        let siblings = threads.iter().position(is_sibling);
        let first = threads.first().and_then(|thread| thread.speed);
        let is_slower = |thread: &HostThread| {
            first.zip(thread.speed).is_some_and(|(first, speed)| speed < SLOWER * first)
        };
        let slower = threads.iter().position(is_slower);
        let slow = threads.iter().filter(|thread| is_slower(thread));
        Self {
            siblings_from: siblings.map(nth),
            slower_from: slower.map(nth),
            slowest: slow.filter_map(|thread| thread.speed).reduce(f64::min),
        }
    }

    /// Whether so many cores are alike, as far as is known.
    #[must_use]
    pub fn are_alike(&self, cores: u32) -> bool {
        let below = |from: Option<u32>| from.is_none_or(|from| cores < from);
        below(self.siblings_from) && below(self.slower_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unlike(threads: &[(Option<u32>, Option<f64>)]) -> UnlikeCores {
        let of = |(cpu, &(core, speed)): (usize, &(Option<u32>, Option<f64>))| HostThread {
            cpu: cpu as u32,
            core,
            speed,
        };
        let threads: Vec<HostThread> = threads.iter().enumerate().map(of).collect();
        UnlikeCores::of(&threads)
    }

    #[test]
    fn siblings_and_slower_cores_are_told_and_what_is_not_known_is_alike() {
        let same = unlike(&[(Some(0), Some(1.0)), (Some(1), Some(0.97))]);
        assert_eq!(same, UnlikeCores::default());
        assert!(same.are_alike(2));
        assert_eq!(unlike(&[]), UnlikeCores::default());
        assert_eq!(unlike(&[(None, None), (None, Some(0.1))]), UnlikeCores::default());
        let two_of_one = unlike(&[(Some(3), None), (Some(3), None)]);
        assert_eq!(two_of_one.siblings_from, Some(2));
        assert!(two_of_one.are_alike(1) && !two_of_one.are_alike(2));
        let mixed = unlike(&[
            (Some(2), Some(1.0)),
            (Some(0), Some(0.5)),
            (Some(1), Some(0.4)),
            (Some(2), Some(1.0)),
        ]);
        let expected =
            UnlikeCores { siblings_from: Some(4), slower_from: Some(2), slowest: Some(0.4) };
        assert_eq!(mixed, expected);
    }
}
