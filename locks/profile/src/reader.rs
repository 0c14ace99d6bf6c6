//! Turns the blocks of a recording into the counts of a process.
//!
//! It adds up the shards, turns durations from cycles into nanoseconds, and names addresses. A
//! process may end in the middle of anything, and a file may be damaged. So every reference between
//! blocks is checked, sums saturate, and what cannot be found is left out.

use std::collections::BTreeMap;
use std::mem::offset_of;

use kilocore_figures::Nanoseconds;
use kilocore_lock_recording::{
    BUCKETS, ConditionBlock, ContentionBlock, FileHeader, Histogram as RawHistogram,
    HistogramBlock, LockBlock, MAX_FRAMES, MET, NESTED, NO_NUMBER, SHARDS, SHARED_SLOT, ShardBlock,
    SiteBlock, SparseHistogram, ThreadBlock, UnitId, attribute, bucket_lower_bound, kind, majority,
    mode, sparse,
};

use crate::recording::{ClockRate, Recording};
use crate::symbols::{Module, Symbols};
use crate::{
    Caller, Condition, Family, Frame, Handoffs, Histogram, Lock, MostlyBy, Nesting, Process,
    ReadSide, Threads,
};

impl Recording {
    /// Returns what the process did, in nanoseconds and with names for addresses.
    #[must_use]
    pub fn process(&self, clock: ClockRate, symbols: &mut Symbols) -> Process {
        self.process_numbered(&self.lock_numbers(), clock, symbols)
    }

    /// Returns the numbers of the locks. Those of an earlier moment are a beginning of those of a
    /// later one, except for locks that were just being made.
    pub(crate) fn lock_numbers(&self) -> BTreeMap<UnitId, u32> {
        self.of_kind(kind::LOCK)
            .filter(|unit| self.word(*unit, offset_of!(LockBlock, family)) != 0)
            .zip(0..)
            .collect()
    }

    /// Returns what the process did. Its locks have these numbers.
    pub(crate) fn process_numbered(
        &self,
        ids: &BTreeMap<UnitId, u32>,
        clock: ClockRate,
        symbols: &mut Symbols,
    ) -> Process {
        let mut reader = Reader { recording: self, clock, symbols, modules: self.modules() };
        let mut locks = reader.locks(ids);
        locks.sort_by_key(|lock| std::cmp::Reverse((lock.uses(), std::cmp::Reverse(lock.id))));
        let mut conditions = reader.conditions(ids);
        conditions.sort_by_key(|condition| std::cmp::Reverse(condition.wait.count));
        let mut barriers = reader.barriers();
        barriers.sort_by_key(|barrier| std::cmp::Reverse(barrier.wait.count));
        let threads = reader.threads();
        let mut process = Process {
            pid: self.u32(offset_of!(FileHeader, pid)).unwrap_or(0),
            executable: self.text(offset_of!(FileHeader, executable)),
            threads,
            locks,
            conditions,
            barriers,
            locks_not_recorded: self.header(offset_of!(FileHeader, locks_not_recorded)),
        };
        process.note_counted_time();
        process
    }
}

impl Process {
    /// Raises the processor time to at least what is recorded of it. A process that was killed had
    /// not noted it for a while.
    pub(crate) fn note_counted_time(&mut self) {
        let threads = &mut self.threads;
        threads.cpu_time = threads.cpu_time.max(threads.think.sum + held(&self.locks));
    }
}

/// Returns the processor time in all holds.
fn held(locks: &[Lock]) -> Nanoseconds<f64> {
    locks.iter().map(Lock::held).sum()
}

/// The counters of a lock in one mode, summed over its shards.
#[derive(Debug, Default)]
struct ModeCounters {
    same_core: u64,
    other_core: u64,
    hold: Histogram,
    wait: Histogram,
    met: Vec<u64>,
    nested: BTreeMap<UnitId, u64>,
    /// By how many acquisitions each thread leads, by the thread's number.
    leads: BTreeMap<u32, u64>,
}

/// A recording that is being turned into a [`Process`].
pub(crate) struct Reader<'a> {
    pub(crate) recording: &'a Recording,
    clock: ClockRate,
    symbols: &'a mut Symbols,
    modules: Vec<Module>,
}

impl Reader<'_> {
    pub(crate) fn histogram(&self, unit: UnitId, offset: usize) -> Histogram {
        let recording = self.recording;
        let buckets: Vec<(f64, u64)> = (0..BUCKETS)
            .map(|bucket| {
                let at = offset + offset_of!(RawHistogram, buckets) + bucket * 8;
                (self.lower_bound(bucket), recording.long(unit, at))
            })
            .filter(|(_, count)| *count != 0)
            .collect();
        let sum = recording.long(unit, offset + offset_of!(RawHistogram, sum));
        Histogram {
            count: buckets.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count)),
            sum: self.duration(sum),
            buckets,
        }
    }

    /// How long so many cycles of the time-stamp counter last.
    fn duration(&self, cycles: u64) -> Nanoseconds<f64> {
        Nanoseconds(cycles as f64 / self.clock.ghz)
    }

    /// Returns the lower bound of a bucket in nanoseconds.
    fn lower_bound(&self, bucket: usize) -> f64 {
        bucket_lower_bound(bucket) as f64 / self.clock.ghz
    }

    /// Returns the sparse histogram at an offset in a block.
    fn few(&self, unit: UnitId, offset: usize) -> Histogram {
        let recording = self.recording;
        let mut buckets: Vec<(usize, u64)> = (0..sparse::ENTRIES)
            .filter_map(|index| {
                let at = offset + offset_of!(SparseHistogram, entries) + index * size_of::<u32>();
                let entry = recording.word(unit, at);
                Some((sparse::bucket(entry)?, u64::from(sparse::count(entry))))
            })
            .collect();
        buckets.sort_unstable();
        let sum = recording.long(unit, offset + offset_of!(SparseHistogram, sum));
        Histogram {
            count: buckets.iter().map(|(_, count)| count).sum(),
            sum: self.duration(sum),
            buckets: buckets
                .into_iter()
                .map(|(index, count)| (self.lower_bound(index), count))
                .collect(),
        }
    }

    /// Returns the counters of all locks, by lock and mode.
    fn sides(&self) -> BTreeMap<(UnitId, u32), ModeCounters> {
        let recording = self.recording;
        let mut sides: BTreeMap<(UnitId, u32), ModeCounters> = BTreeMap::new();
        for lock in recording.of_kind(kind::LOCK) {
            for index in 0..2 * SHARDS {
                let unit = recording.word(lock, offset_of!(LockBlock, shards) + index * 4);
                if recording.blocks.get(&unit) == Some(&kind::SHARD) {
                    let side = sides.entry((lock, (index / SHARDS) as u32)).or_default();
                    self.add_shard(side, unit);
                    let (thread, lead) = self.leader(unit, index);
                    let leads = side.leads.entry(thread).or_default();
                    *leads = leads.saturating_add(lead);
                }
            }
        }
        for unit in recording.of_kind(kind::CONTENTION) {
            let lock = recording.word(unit, offset_of!(ContentionBlock, lock));
            let mode = recording.word(unit, offset_of!(ContentionBlock, mode));
            let side = sides.entry((lock, mode)).or_default();
            side.wait.merge(&self.histogram(unit, offset_of!(ContentionBlock, wait)));
            side.met.resize(MET, 0);
            for (index, count) in side.met.iter_mut().enumerate() {
                let at = offset_of!(ContentionBlock, met) + index * 8;
                *count = count.saturating_add(recording.long(unit, at));
            }
        }
        for side in sides.values_mut() {
            let known = side.met.iter().rposition(|count| *count != 0).map_or(0, |last| last + 1);
            side.met.truncate(known);
        }
        sides
    }

    /// Adds the counters of a shard.
    fn add_shard(&self, side: &mut ModeCounters, unit: UnitId) {
        let recording = self.recording;
        let same = recording.long(unit, offset_of!(ShardBlock, same_core));
        let other = recording.long(unit, offset_of!(ShardBlock, other_core));
        side.same_core = side.same_core.saturating_add(same);
        side.other_core = side.other_core.saturating_add(other);
        let holds = offset_of!(ShardBlock, holds);
        let hold = recording.word(unit, holds + offset_of!(SparseHistogram, more));
        side.hold.merge(&self.few(unit, holds));
        if recording.blocks.get(&hold) == Some(&kind::HISTOGRAM) {
            side.hold.merge(&self.histogram(hold, offset_of!(HistogramBlock, histogram)));
        }
        for slot in 0..NESTED {
            let value = recording.long(unit, offset_of!(ShardBlock, nested) + slot * 8);
            let outer = side.nested.entry((value >> 40) as UnitId).or_default();
            *outer = outer.saturating_add(value & ((1 << 40) - 1));
        }
    }

    /// Returns the number of the thread that leads in the shard `index` of a lock, and by how many
    /// of the acquisitions that are counted there.
    fn leader(&self, unit: UnitId, index: usize) -> (u32, u64) {
        let slot = index % SHARDS;
        if index / SHARDS == mode::SHARED && slot != SHARED_SLOT {
            // This is the shard of the thread with that number.
            return (slot as u32, self.recording.long(unit, offset_of!(ShardBlock, same_core)));
        }
        majority::candidate(self.recording.long(unit, offset_of!(ShardBlock, taken_by)))
    }

    /// Returns the locks that were used.
    fn locks(&mut self, ids: &BTreeMap<UnitId, u32>) -> Vec<Lock> {
        let mut sides = self.sides();
        let sleep_factor = self.sleep().1.unwrap_or(0.0);
        let mut locks = Vec::new();
        for (unit, id) in ids {
            let exclusive = sides.remove(&(*unit, mode::EXCLUSIVE as u32)).unwrap_or_default();
            let shared = sides.remove(&(*unit, mode::SHARED as u32)).unwrap_or_default();
            if let Some(mut lock) = self.lock(*unit, *id, exclusive, shared, ids) {
                lock.hold_asleep *= sleep_factor;
                if let Some(read) = &mut lock.read {
                    read.hold_asleep *= sleep_factor;
                }
                locks.push(lock);
            }
        }
        locks
    }

    /// Returns one lock, or `None` if it was never used or is of an unknown family.
    fn lock(
        &mut self,
        unit: UnitId,
        id: u32,
        exclusive: ModeCounters,
        shared: ModeCounters,
        ids: &BTreeMap<UnitId, u32>,
    ) -> Option<Lock> {
        let recording = self.recording;
        let failed = |mode| recording.long(unit, offset_of!(LockBlock, failed) + mode * 8);
        let asleep =
            |mode| self.duration(recording.long(unit, offset_of!(LockBlock, asleep) + mode * 8));
        let acquisitions = exclusive.same_core.saturating_add(exclusive.other_core);
        let family = Family::of(recording.word(unit, offset_of!(LockBlock, family)))?;
        let mostly_by = mostly_by(&exclusive, &shared);
        let read = (family == Family::ReadWrite).then(|| ReadSide {
            acquisitions: shared.same_core,
            contended: shared.wait.count,
            failed_tries: failed(mode::SHARED),
            hold: shared.hold,
            hold_asleep: asleep(mode::SHARED),
            wait: shared.wait,
        });
        let mut nested = exclusive.nested;
        for (outer, count) in shared.nested {
            let sum = nested.entry(outer).or_default();
            *sum = sum.saturating_add(count);
        }
        let mut nested_in: Vec<Nesting> = nested
            .into_iter()
            .filter_map(|(outer, count)| Some(Nesting { outer: *ids.get(&outer)?, count }))
            .collect();
        nested_in.sort_by_key(|nesting| (std::cmp::Reverse(nesting.count), nesting.outer));
        let used = acquisitions > 0
            || failed(mode::EXCLUSIVE) > 0
            || read.as_ref().is_some_and(|read| read.acquisitions > 0 || read.failed_tries > 0);
        let hold_asleep = asleep(mode::EXCLUSIVE);
        if !used {
            return None;
        }
        let waited = |read: &ReadSide| (read.acquisitions, read.contended, read.wait.sum);
        let (taken, contended, waited) = read.as_ref().map_or((0, 0, Nanoseconds(0.0)), waited);
        let whole = Caller {
            acquisitions: acquisitions.saturating_add(taken),
            contended: exclusive.wait.count.saturating_add(contended),
            waited: exclusive.wait.sum + waited,
            site: Vec::new(),
        };
        Some(Lock {
            id,
            family,
            attributes: attributes(recording.word(unit, offset_of!(LockBlock, attributes))),
            address: recording.long(unit, offset_of!(LockBlock, address)),
            instances: recording.long(unit, offset_of!(LockBlock, instances)),
            site: self.site(recording.word(unit, offset_of!(LockBlock, site))),
            acquisitions,
            contended: exclusive.wait.count,
            failed_tries: failed(mode::EXCLUSIVE),
            hold: exclusive.hold,
            hold_asleep,
            wait: exclusive.wait,
            waiters_met: exclusive.met,
            handoffs: Handoffs { same_core: exclusive.same_core, other_core: exclusive.other_core },
            mostly_by,
            nested_in,
            read,
            callers: self.callers(unit, &whole),
            ..Lock::default()
        })
    }

    fn conditions(&mut self, ids: &BTreeMap<UnitId, u32>) -> Vec<Condition> {
        let recording = self.recording;
        let units: Vec<UnitId> = recording.of_kind(kind::CONDITION).collect();
        units
            .into_iter()
            .map(|unit| Condition {
                address: recording.long(unit, offset_of!(ConditionBlock, address)),
                lock: ids.get(&recording.word(unit, offset_of!(ConditionBlock, lock))).copied(),
                site: self.site(recording.word(unit, offset_of!(ConditionBlock, site))),
                wait: self.histogram(unit, offset_of!(ConditionBlock, wait)),
                timed_out: recording.long(unit, offset_of!(ConditionBlock, timed_out)),
                signals: recording.long(unit, offset_of!(ConditionBlock, signals)),
                broadcasts: recording.long(unit, offset_of!(ConditionBlock, broadcasts)),
            })
            .collect()
    }

    fn threads(&self) -> Threads {
        let recording = self.recording;
        let mut threads = Threads {
            started: recording.header(offset_of!(FileHeader, threads_started)),
            locking: recording.header(offset_of!(FileHeader, threads_locking)),
            peak: recording.header(offset_of!(FileHeader, threads_peak)),
            cpu_time: Nanoseconds(recording.header(offset_of!(FileHeader, cpu_ns)) as f64),
            ..Threads::default()
        };
        for unit in recording.of_kind(kind::THREAD) {
            threads.think.merge(&self.histogram(unit, offset_of!(ThreadBlock, think)));
            let between = recording.long(unit, offset_of!(ThreadBlock, asleep_between));
            threads.think_asleep += self.duration(between);
        }
        let (all, factor) = self.sleep();
        threads.think_asleep = match factor {
            Some(factor) => threads.think_asleep * factor,
            None => self.duration(all),
        };
        threads
    }

    /// Returns all sleep in cycles, and the factor by which it differs from the sleep that was
    /// sampled in holds and between them. There is no factor if no sleep was sampled.
    fn sleep(&self) -> (u64, Option<f64>) {
        let recording = self.recording;
        let sum = |kind, offset| {
            let longs = recording.of_kind(kind).map(|unit| recording.long(unit, offset));
            longs.fold(0, u64::saturating_add)
        };
        let all = sum(kind::THREAD, offset_of!(ThreadBlock, asleep));
        let sampled = [
            sum(kind::THREAD, offset_of!(ThreadBlock, asleep_between)),
            sum(kind::LOCK, offset_of!(LockBlock, asleep) + mode::EXCLUSIVE * 8),
            sum(kind::LOCK, offset_of!(LockBlock, asleep) + mode::SHARED * 8),
        ];
        let sampled = sampled.into_iter().fold(0, u64::saturating_add);
        (all, (sampled > 0).then(|| all as f64 / sampled as f64))
    }

    pub(crate) fn site(&mut self, unit: UnitId) -> Vec<Frame> {
        if self.recording.blocks.get(&unit) != Some(&kind::SITE) {
            return Vec::new();
        }
        (0..MAX_FRAMES)
            .map(|index| self.recording.long(unit, offset_of!(SiteBlock, frames) + index * 8))
            .take_while(|address| *address != 0)
            .flat_map(|address| self.symbols.frames(&self.modules, address))
            .collect()
    }
}

/// Returns the thread that took a lock more often than all others together, if there is one.
fn mostly_by(exclusive: &ModeCounters, shared: &ModeCounters) -> Option<MostlyBy> {
    let mut leads = exclusive.leads.clone();
    for (thread, lead) in &shared.leads {
        let sum = leads.entry(*thread).or_default();
        *sum = sum.saturating_add(*lead);
    }
    // If there were more threads than numbers, a number does not say which thread it is.
    let of_many = leads.remove(&NO_NUMBER).unwrap_or(0);
    let (&thread, &most) = leads.iter().max_by_key(|(_, lead)| **lead)?;
    leads.remove(&thread);
    let others = leads.values().copied().fold(of_many, u64::saturating_add);
    let all = [exclusive.same_core, exclusive.other_core, shared.same_core];
    let all = all.into_iter().fold(0, u64::saturating_add);
    let lead = most.checked_sub(others).filter(|lead| *lead > 0)?;
    Some(MostlyBy { thread, share: lead as f64 / all.max(lead) as f64 })
}

/// Returns the names of attributes.
fn attributes(bits: u32) -> Vec<String> {
    const NAMES: [(u32, &str); 7] = [
        (attribute::RECURSIVE, "recursive"),
        (attribute::ERROR_CHECK, "errorcheck"),
        (attribute::ADAPTIVE, "adaptive"),
        (attribute::ROBUST, "robust"),
        (attribute::PRIORITY, "priority"),
        (attribute::PROCESS_SHARED, "pshared"),
        (attribute::PREFER_WRITER, "prefer-writer"),
    ];
    NAMES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| (*name).to_owned()).collect()
}
