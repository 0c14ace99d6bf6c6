//! The blocks in which the events of a lock are counted: the shard of a core or of a thread, the
//! shard's histograms, and the record of waiting.
//!
//! All of them are made when they are first needed, because programs have thousands of locks that
//! are hardly used.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{
    ContentionBlock, HistogramBlock, LockBlock, Nested, SHARDS, SHARED_SLOT, ShardBlock, majority,
};

use crate::counters::{Count, add, count_few};
use crate::mode::Mode;
use crate::object::Object;
use crate::recorder::Recorder;

impl Recorder {
    /// Returns the shard in which the calling thread, which holds `lock`, counts. Also returns
    /// whether other threads may count there at the same time.
    #[inline(always)]
    pub(crate) fn shard(self, lock: &LockBlock, mode: Mode) -> (Option<&'static ShardBlock>, bool) {
        let slot = self.thread.slot.get() as usize;
        let alone = mode == Mode::Exclusive && lock.many.load(Ordering::Relaxed) == 0;
        let (index, atomic) = if alone {
            (self.thread.core.get() as usize % SHARDS, false)
        } else {
            (slot % SHARDS, slot == SHARED_SLOT)
        };
        let unit = lock.shards[mode.index()][index].load(Ordering::Acquire);
        if unit != 0 {
            return (self.own_block(unit), atomic);
        }
        (self.new_shard(lock, mode, index), atomic)
    }

    #[cold]
    #[inline(never)]
    fn new_shard(self, lock: &LockBlock, mode: Mode, index: usize) -> Option<&'static ShardBlock> {
        self.aside(|| {
            let cell = &lock.shards[mode.index()][index];
            let unit = self.allocate::<ShardBlock>(|_| ())?;
            // Threads can only race for the shard of the shared slot. The loser's block stays
            // empty.
            let _ = cell.compare_exchange(0, unit, Ordering::AcqRel, Ordering::Relaxed);
            self.block(cell.load(Ordering::Acquire))
        })
    }

    /// Counts an acquisition: by which thread, and whether the previous holder was on the same
    /// core.
    #[inline(always)]
    pub(crate) fn count_acquisition<O: Object>(
        self,
        object: O,
        lock: &LockBlock,
        shard: &ShardBlock,
        mode: Mode,
        atomic: bool,
    ) {
        let mut same = true;
        if mode == Mode::Exclusive {
            let place = object.place();
            let last = if place.is_null() {
                &lock.last_core
            } else {
                // SAFETY: the place lies in a lock object that this thread holds.
                unsafe { &(*place).last_core }
            };
            let core = self.thread.core.get() + 1;
            let before = last.load(Ordering::Relaxed);
            if before != core {
                last.store(core, Ordering::Relaxed);
                same = before == 0;
            }
        }
        let number = self.thread.number.get();
        if atomic {
            let vote = |votes| Some(majority::vote(votes, number));
            let _ = shard.taken_by.fetch_update(Ordering::Relaxed, Ordering::Relaxed, vote);
        } else if mode == Mode::Exclusive {
            let votes = majority::vote(shard.taken_by.load(Ordering::Relaxed), number);
            shard.taken_by.store(votes, Ordering::Relaxed);
        }
        add(if same { &shard.same_core } else { &shard.other_core }, 1, atomic);
    }

    /// Counts an acquisition while the lock with number `outer` was the innermost one held.
    ///
    /// If there are more outer locks than slots, the rarest one's slot and count pass to the new one: the
    /// counts then still add up to all acquisitions inside other locks (Metwally, Agrawal and El Abbadi, Efficient
    /// computation of frequent and top-k elements in data streams, 2005).
    #[inline(always)]
    pub(crate) fn count_nesting(self, shard: &ShardBlock, outer: u32, atomic: bool) {
        let weight = u64::from(self.thread.weight.get());
        for slot in &shard.nested {
            let value = slot.load(Ordering::Relaxed);
            if value >> 40 == u64::from(outer) {
                add(slot, weight, atomic);
                return;
            }
            if value == 0 {
                let first = u64::from(outer) << 40 | weight;
                if !atomic {
                    slot.store(first, Ordering::Relaxed);
                    return;
                }
                match slot.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return,
                    Err(theirs) if theirs >> 40 == u64::from(outer) => {
                        add(slot, weight, atomic);
                        return;
                    }
                    Err(_) => {}
                }
            }
        }
        replace_rarest(shard, outer, weight, atomic);
    }

    /// Counts a hold of `cycles` cycles on the processor `weight` times.
    #[inline(always)]
    pub(crate) fn count_hold(self, shard: &ShardBlock, cycles: u64, weight: u32, atomic: bool) {
        if !count_few(&shard.holds, cycles, weight, atomic)
            && let Some(block) = self.holds(shard)
        {
            block.histogram.count(cycles, weight, atomic);
        }
    }

    /// Returns the histogram for those holds of a shard that do not fit into its few buckets.
    #[inline(always)]
    fn holds(self, shard: &ShardBlock) -> Option<&'static HistogramBlock> {
        match shard.holds.more.load(Ordering::Acquire) {
            0 => self.new_holds(shard),
            unit => self.own_block(unit),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_holds(self, shard: &ShardBlock) -> Option<&'static HistogramBlock> {
        self.aside(|| {
            let unit = self.allocate::<HistogramBlock>(|_| ())?;
            // Threads can only race for the histogram of the shared slot. The loser's block stays
            // empty.
            let _ = shard.holds.more.compare_exchange(0, unit, Ordering::AcqRel, Ordering::Relaxed);
            self.block(shard.holds.more.load(Ordering::Acquire))
        })
    }

    /// Returns the block in which waits for `lock` are counted.
    pub(crate) fn contention(
        self,
        lock: &LockBlock,
        mode: Mode,
    ) -> Option<&'static ContentionBlock> {
        let cell = &lock.contention[mode.index()];
        self.block(cell.load(Ordering::Acquire)).or_else(|| {
            self.aside(|| {
                let owner = self.unit_of(lock);
                let unit = self.allocate(|block: *mut ContentionBlock| {
                    // SAFETY: the block is new and zeroed, and only this thread knows it.
                    let block = unsafe { &mut *block };
                    *block.lock.get_mut() = owner;
                    *block.mode.get_mut() = mode.index() as u32;
                })?;
                // The loser of a race leaves an empty block behind.
                let _ = cell.compare_exchange(0, unit, Ordering::AcqRel, Ordering::Relaxed);
                self.block(cell.load(Ordering::Acquire))
            })
        })
    }
}

/// Gives the slot and the count of the rarest outer lock to another one, and counts it.
#[cold]
#[inline(never)]
fn replace_rarest(shard: &ShardBlock, outer: u32, weight: u64, atomic: bool) {
    const COUNT: u64 = (1 << 40) - 1;
    let count = |slot: &&Nested| slot.load(Ordering::Relaxed) & COUNT;
    let Some(slot) = shard.nested.iter().min_by_key(count) else { return };
    let replaced = |value: u64| u64::from(outer) << 40 | ((value & COUNT) + weight) & COUNT;
    if atomic {
        let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |v| Some(replaced(v)));
    } else {
        slot.store(replaced(slot.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}
