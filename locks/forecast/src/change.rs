//! Changes of a program's source, made to its workload.

use kilocore_locks::RwLockId;
use serde::Serialize;

use crate::ForecastGain;
use crate::workload::{Inner, LockUse, Mode, Section, Workload};

/// The share of the acquisitions that are taken to read only, where readers share a lock. A profile does
/// not say how many do.
pub const READ_ONLY: f64 = 0.9;

/// The most locks of one kind that are simulated.
const MOST_INSTANCES: u32 = 1 << 16;

/// A change of a program's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Half of what is done under the lock is no longer done, its data included.
    HalfAsLong,
    /// Half of the computing under the lock is done before it is taken.
    HalfBefore,
    /// There are this many times as many locks, each for its part of the data. The parts
    /// of a lock are used equally.
    Split(u32),
    /// It is a read-write lock like glibc's, and the share [`READ_ONLY`] of its acquisitions share it.
    ReadersShare,
    /// Each thread has a lock and data of its own, which are added up by whoever wants to know.
    PerThread,
    /// Half as many barriers.
    HalfTheBarriers,
    /// What one thread computes alone takes half as long.
    HalfTheSerialPart,
}

/// A change of the program, and what it would bring on the most cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WhatIf {
    /// What is changed.
    pub change: Change,
    /// The lock that is changed, by its place in [`Forecast::locks`](crate::Forecast::locks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<usize>,
    /// The number of cores.
    pub cores: u32,
    /// The throughput after the change, as a multiple of the throughput without it.
    #[serde(flatten)]
    pub gain: ForecastGain,
}

impl Change {
    /// The changes of a lock.
    pub(crate) const OF_A_LOCK: [Self; 7] = [
        Self::HalfAsLong,
        Self::HalfBefore,
        Self::Split(2),
        Self::Split(8),
        Self::Split(64),
        Self::ReadersShare,
        Self::PerThread,
    ];
    /// The changes of a program that are of no lock.
    pub(crate) const OF_NO_LOCK: [Self; 2] = [Self::HalfTheBarriers, Self::HalfTheSerialPart];

    /// The workload after a change of the lock with this index, or of no lock. `None` if there is nothing
    /// to change.
    pub(crate) fn made_to(self, workload: &Workload, lock: Option<usize>) -> Option<Workload> {
        let mut changed = workload.clone();
        match (self, lock) {
            (Self::HalfTheBarriers, None) => changed.barriers.as_mut()?.sections *= 2.0,
            (Self::HalfTheSerialPart, None) if workload.serial > 0.0 => changed.serial /= 2.0,
            (_, None) => return None,
            (_, Some(lock)) => self.made_to_lock(&mut changed, lock)?,
        }
        Some(changed)
    }

    fn made_to_lock(self, workload: &mut Workload, index: usize) -> Option<()> {
        let lock = workload.locks.get_mut(index)?;
        match self {
            Self::HalfAsLong => of_each(&mut workload.sections, index, &|section| {
                section.hold = section.hold.scaled(0.5);
                section.asleep /= 2.0;
                section.lines /= 2.0;
            }),
            Self::HalfBefore => {
                let before: f64 = workload
                    .sections
                    .iter_mut()
                    .map(|(share, section)| *share * half_before(section, index))
                    .sum();
                // Each time as much: what was short does not stay short because few times are long.
                workload.think = workload.think.later_by(before);
            }
            Self::Split(parts) => {
                *lock = lock.split(parts)?;
                if lock.per_thread || lock.instances > MOST_INSTANCES {
                    return None;
                }
            }
            Self::PerThread if lock.per_thread => return None,
            Self::PerThread => {
                *lock = LockUse { instances: 1, hot: None, per_thread: true, ..*lock };
            }
            Self::ReadersShare if lock.read_write.is_some() || lock.kept.is_some() => return None,
            Self::ReadersShare => {
                lock.read_write = Some(RwLockId::CentralRw);
                workload.sections = share_reads(&workload.sections, index);
            }
            Self::HalfTheBarriers | Self::HalfTheSerialPart => return None,
        }
        Some(())
    }
}

/// Changes each section under the lock with this index.
fn of_each(sections: &mut [(f64, Section)], lock: usize, change: &dyn Fn(&mut Section)) {
    fn within(section: &mut Section, lock: usize, change: &dyn Fn(&mut Section)) {
        if section.lock == lock {
            change(section);
        }
        for inner in &mut section.inner {
            within(&mut inner.section, lock, change);
        }
    }
    for (_, section) in sections {
        within(section, lock, change);
    }
}

/// Moves half of the computing under the lock out of it, and returns how much of it is now done before
/// `section`, in cycles. Where the lock is taken inside another section, that one lasts longer.
fn half_before(section: &mut Section, lock: usize) -> f64 {
    let inside: f64 = section
        .inner
        .iter_mut()
        .map(|inner| inner.times * half_before(&mut inner.section, lock))
        .sum();
    let own = section.hold.mean() + inside;
    if section.lock != lock {
        section.hold = section.hold.lasting(own);
        return 0.0;
    }
    let before = section.hold.mean() / 2.0;
    section.hold = section.hold.lasting(own - before);
    before
}

/// The sections, with each that takes the lock exclusively as one that reads and one that writes.
fn share_reads(sections: &[(f64, Section)], lock: usize) -> Vec<(f64, Section)> {
    fn both(section: &Section, lock: usize) -> Vec<(f64, Section)> {
        let inner = section.inner.iter().flat_map(|inner| {
            both(&inner.section, lock)
                .into_iter()
                .map(|(share, section)| Inner { times: inner.times * share, section })
        });
        let section = Section { inner: inner.collect(), ..section.clone() };
        if section.lock != lock || section.mode == Mode::Shared {
            return vec![(1.0, section)];
        }
        let reading = Section { mode: Mode::Shared, ..section.clone() };
        vec![(READ_ONLY, reading), (1.0 - READ_ONLY, section)]
    }
    let each = sections.iter().flat_map(|(share, section)| {
        both(section, lock).into_iter().map(move |(part, section)| (share * part, section))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Barriers;
    use crate::{Duration, Range};

    /// A lock that is held for 100 cycles, inside one that is held for 1,000 besides, every 10,000.
    fn nested() -> Workload {
        let mut workload =
            Workload::single_lock(Duration::Constant(10_000.0), Duration::Constant(1_000.0), 2.0);
        workload.locks.push(workload.locks[0]);
        let mut section = workload.sections[0].1.clone();
        section.lock = 1;
        section.hold = Duration::Constant(100.0);
        workload.sections[0].1.inner.push(Inner { times: 3.0, section });
        workload
    }

    #[test]
    fn what_is_done_before_the_lock_is_done_all_the_same() {
        let workload = nested();
        for lock in [0, 1] {
            let changed = Change::HalfBefore.made_to(&workload, Some(lock)).unwrap();
            assert!((changed.busy() - workload.busy()).abs() < 1e-6, "{changed:?}");
            let half = Change::HalfAsLong.made_to(&workload, Some(lock)).unwrap();
            assert!(half.busy() < workload.busy());
        }
        let outer = Change::HalfBefore.made_to(&workload, Some(0)).unwrap();
        assert_eq!((outer.think.mean(), outer.sections[0].1.hold.mean()), (10_500.0, 500.0));
        let inner = Change::HalfBefore.made_to(&workload, Some(1)).unwrap();
        let section = &inner.sections[0].1;
        assert_eq!((inner.think.mean(), section.hold.mean()), (10_000.0, 1_150.0));
        assert_eq!(section.inner[0].section.hold.mean(), 50.0);
    }

    /// Were the computing added in proportion, nearly all of it would be done in the few long times.
    #[test]
    fn what_is_done_before_the_lock_is_done_each_time() {
        let mut workload = nested();
        let range = |up_to, cycles| Range { up_to, low: cycles, high: cycles };
        workload.think = Duration::Observed(vec![range(0.99, 100.0), range(1.0, 1_000_000.0)]);
        let changed = Change::HalfBefore.made_to(&workload, Some(0)).unwrap();
        let Duration::Observed(ranges) = &changed.think else { panic!("{changed:?}") };
        assert_eq!((ranges[0].low, ranges[1].low), (600.0, 1_000_500.0));
    }

    #[test]
    fn readers_and_writers_are_all_acquisitions() {
        let changed = Change::ReadersShare.made_to(&nested(), Some(1)).unwrap();
        let inner = &changed.sections[0].1.inner;
        let times: f64 = inner.iter().map(|inner| inner.times).sum();
        assert!((times - 3.0).abs() < 1e-9 && inner.len() == 2, "{inner:?}");
        let outer = Change::ReadersShare.made_to(&nested(), Some(0)).unwrap();
        assert_eq!(outer.sections.len(), 2);
        assert!((outer.sections.iter().map(|(share, _)| share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(outer.sections[0].1.mode, Mode::Shared);
        assert_eq!(Change::ReadersShare.made_to(&outer, Some(0)), None, "they do already");
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        let workload = nested();
        for change in Change::OF_NO_LOCK {
            assert_eq!(change.made_to(&workload, None), None);
        }
        for change in Change::OF_A_LOCK {
            assert_eq!(change.made_to(&workload, Some(2)), None);
            assert_eq!(change.made_to(&workload, None), None);
        }
        let mut more = workload.clone();
        more.serial = 40.0;
        more.barriers = Some(Barriers { sections: 10.0, imbalance: 0.1, lock: None });
        assert_eq!(Change::HalfTheSerialPart.made_to(&more, None).unwrap().serial, 20.0);
        let barriers = Change::HalfTheBarriers.made_to(&more, None).unwrap().barriers.unwrap();
        assert_eq!(barriers.sections, 20.0);
        more.locks[0].instances = MOST_INSTANCES;
        assert_eq!(Change::Split(2).made_to(&more, Some(0)), None);
    }
}
