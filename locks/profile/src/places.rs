//! Where locks are taken, and where threads meet: callers and barriers of a recording.

use std::collections::BTreeMap;
use std::mem::offset_of;

use kilocore_figures::Nanoseconds;
use kilocore_lock_recording::{BarrierBlock, CallerBlock, LockBlock, UnitId, kind};

use crate::reader::Reader;
use crate::{Barrier, Caller};

/// The recorder keeps no more places of a lock than this.
const MOST_PLACES: usize = 32;

/// A profile tells no more of them than this.
const MOST_TOLD: usize = 12;

impl Reader<'_> {
    /// Where a lock is taken. `whole` is what is known of it exactly; what was sampled tells how
    /// that divides among the places.
    pub(crate) fn callers(&mut self, lock: UnitId, whole: &Caller) -> Vec<Caller> {
        let recording = self.recording;
        // By their sites: a race makes a second record of one.
        let mut places: BTreeMap<UnitId, [f64; 3]> = BTreeMap::new();
        let mut unit = recording.word(lock, offset_of!(LockBlock, callers));
        for _ in 0..MOST_PLACES {
            if recording.blocks.get(&unit) != Some(&kind::CALLER) {
                break;
            }
            let counts = [
                offset_of!(CallerBlock, acquisitions),
                offset_of!(CallerBlock, contended),
                offset_of!(CallerBlock, wait),
            ]
            .map(|offset| recording.long(unit, offset) as f64);
            let site = recording.word(unit, offset_of!(CallerBlock, site));
            let sums = places.entry(site).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            // The two are sampled each by itself.
            sums[0] = sums[0].max(sums[1]);
            unit = recording.word(unit, offset_of!(CallerBlock, next));
        }
        let known = [whole.acquisitions as f64, whole.contended as f64, whole.waited.0];
        let scale: [f64; 3] = std::array::from_fn(|index| {
            let sampled: f64 = places.values().map(|counts| counts[index]).sum();
            if sampled > 0.0 { known[index] / sampled } else { 0.0 }
        });
        let mut callers: Vec<Caller> = places
            .into_iter()
            .map(|(site, counts)| Caller {
                site: self.site(site),
                // Shares of sums that are themselves below 2^64.
                acquisitions: (counts[0] * scale[0]).round() as u64,
                contended: (counts[1] * scale[1]).round() as u64,
                waited: Nanoseconds(counts[2] * scale[2]),
            })
            .collect();
        callers.sort_by(|one, other| {
            let key = |caller: &Caller| (caller.waited, caller.acquisitions as f64);
            let ((wait, count), (other_wait, other_count)) = (key(one), key(other));
            other_wait.total_cmp(&wait).then(other_count.total_cmp(&count))
        });
        callers.truncate(MOST_TOLD);
        callers
    }

    /// The barriers at which somebody waited.
    pub(crate) fn barriers(&mut self) -> Vec<Barrier> {
        let recording = self.recording;
        let units: Vec<UnitId> = recording.of_kind(kind::BARRIER).collect();
        units
            .into_iter()
            .map(|unit| Barrier {
                address: recording.long(unit, offset_of!(BarrierBlock, address)),
                site: self.site(recording.word(unit, offset_of!(BarrierBlock, site))),
                parties: recording.word(unit, offset_of!(BarrierBlock, parties)),
                rounds: recording.long(unit, offset_of!(BarrierBlock, rounds)),
                wait: self.histogram(unit, offset_of!(BarrierBlock, wait)),
            })
            .filter(|barrier| barrier.wait.count > 0)
            .collect()
    }
}
