//! What a part of a chain consists of, added up.

use kilocore_platform::Cycles;
use rustc_hash::FxHashMap;

use crate::ids::TaskId;
use crate::outcome::{Activity, TaskTimes};

use super::parts::{ChainPart, ChainShare, HandOver, Place};

/// So many parts are told apart of what one link has. If there are more, the smaller half of them is added up without
/// their places.
const MOST_PARTS: usize = 1024;
/// All threads whose own share is forgotten.
pub(super) const OTHER_TASKS: TaskId = TaskId(u32::MAX);

/// How often, and for how long. A part that is corrected later may be negative for a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    pub(super) time: i64,
    pub(super) count: u64,
}

/// Times of the parts of a chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    parts: FxHashMap<ChainPart, Sum>,
    /// How long threads computed. Where they did so, the samples among the parts say.
    computed: i64,
}

impl Sums {
    pub(super) fn is_empty(&self) -> bool {
        self.computed == 0 && self.parts.is_empty()
    }

    pub(super) fn add(&mut self, part: ChainPart, time: i64, count: u64) {
        let sum = self.parts.entry(part).or_default();
        sum.time += time;
        sum.count += count;
        if self.parts.len() > MOST_PARTS {
            self.forget_places();
        }
    }

    /// A task ran for so long. It computed, but for what else is [added](Self::add_times).
    pub(super) fn add_ran(&mut self, time: i64) {
        self.computed += time;
    }

    /// While a task ran, its core did this for it at a place.
    pub(super) fn add_times(&mut self, place: Place, times: &TaskTimes) {
        let spun = times.of(Activity::Spinning) + times.of(Activity::LowPower);
        let parts = [
            (ChainPart::Lines(place), times.of(Activity::Stalled)),
            (ChainPart::Spinning(place), spun),
            (ChainPart::System(place), times.of(Activity::System)),
        ];
        for (part, time) in parts {
            if time.0 > 0 {
                self.add(part, time.0 as i64, 0);
                self.computed -= time.0 as i64;
            }
        }
    }

    /// Takes all that others have, and leaves them empty.
    pub(super) fn absorb(&mut self, others: &mut Self) {
        if others.parts.len() > self.parts.len() {
            std::mem::swap(self, others);
        }
        self.computed += std::mem::take(&mut others.computed);
        for (part, sum) in others.parts.drain() {
            let own = self.parts.entry(part).or_default();
            own.time += sum.time;
            own.count += sum.count;
        }
        if self.parts.len() > MOST_PARTS {
            self.forget_places();
        }
    }

    /// Adds the smaller half of the parts up without their places.
    #[cold]
    fn forget_places(&mut self) {
        // Samples have no time of their own.
        for sampled in [false, true] {
            let parts = self.parts.iter().filter(|(part, _)| part.is_sampled() == sampled);
            let mut sizes: Vec<(Sum, ChainPart)> = parts.map(|(part, sum)| (*sum, *part)).collect();
            let half = sizes.len() / 2;
            if half == 0 {
                continue;
            }
            sizes.select_nth_unstable(half);
            for &(sum, part) in &sizes[..half] {
                self.parts.remove(&part);
                let other = self.parts.entry(part.anywhere()).or_default();
                other.time += sum.time;
                other.count += sum.count;
            }
        }
    }

    /// The parts, the largest first.
    pub(super) fn shares(&self) -> Vec<ChainShare> {
        let mut shares: Vec<ChainShare> = self
            .parts
            .iter()
            .filter(|(part, _)| !part.is_sampled())
            .map(|(part, sum)| ChainShare { part: *part, count: sum.count, time: cycles(sum.time) })
            .collect();
        let mut samples: Vec<(ChainPart, u64)> = self
            .parts
            .iter()
            .filter(|(part, _)| part.is_sampled())
            .map(|(part, sum)| (*part, sum.count))
            .collect();
        samples.sort_unstable();
        shares.extend(computed(cycles(self.computed).0, &samples));
        shares.retain(|share| share.time.0 > 0 || share.count > 0);
        shares.sort_unstable_by_key(|share| (std::cmp::Reverse(share.time), share.part));
        shares
    }
}

fn cycles(time: i64) -> Cycles {
    Cycles(u64::try_from(time).unwrap_or(0))
}

/// Divides computing among the places where it was sampled.
fn computed(all: u64, samples: &[(ChainPart, u64)]) -> Vec<ChainShare> {
    let taken: u64 = samples.iter().map(|(_, count)| count).sum();
    if taken == 0 {
        let time = Cycles(all);
        return vec![ChainShare { part: ChainPart::Computing(Place::OTHER), count: 0, time }];
    }
    let (mut seen, mut given) = (0, 0);
    let share = |&(part, count): &(ChainPart, u64)| {
        seen += count;
        // What is rounded off at one place is given to the next.
        let until = (u128::from(all) * u128::from(seen) / u128::from(taken)) as u64;
        let time = Cycles(until - given);
        given = until;
        ChainShare { part, count, time }
    };
    samples.iter().map(share).collect()
}

impl ChainPart {
    /// Whether samples tell where it was, and not times.
    fn is_sampled(self) -> bool {
        matches!(self, Self::Computing(_))
    }

    /// The same without its place.
    fn anywhere(self) -> Self {
        let other = Place::OTHER;
        match self {
            Self::Computing(_) => Self::Computing(other),
            Self::Lines(_) => Self::Lines(other),
            Self::Spinning(_) => Self::Spinning(other),
            Self::System(_) => Self::System(other),
            Self::Asleep(_) => Self::Asleep(other),
            Self::Outside(_) => Self::Outside(other),
            Self::HandOver(HandOver { how, .. }) => {
                Self::HandOver(HandOver { how, waiter: other, waker: other })
            }
            Self::Thread(_) => Self::Thread(OTHER_TASKS),
        }
    }
}
