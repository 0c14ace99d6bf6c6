//! Finds the record of a condition variable or a barrier: a hash table of lists by address. Locks
//! without room for the number of their record are found in the same way.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{BarrierBlock, Block, ConditionBlock, SiteBlock};

use crate::recorder::Recorder;
use crate::state::State;

/// The largest number of objects of one kind and one site that have records of their own.
const MOST_PER_SITE: u32 = 256;

/// The number of steps after which a reader of a list assumes that the list has changed and that it
/// is in another list now.
const STEPS: usize = 64;

/// A record that is found by the address of what it describes.
pub(crate) trait Listed: Block + 'static {
    /// The hash seed for the sites of this kind. They share the table of sites with lock families.
    const FAMILY: u32;
    /// Returns the heads of the lists of this kind.
    fn heads(state: &'static State) -> &'static [AtomicU32];
    /// Returns the address of the object, or 0 if the record is not in use.
    fn address(&self) -> usize;
    fn set_address(&self, address: usize);
    /// The site that made the object or first used it.
    fn site(&self) -> &AtomicU32;
    /// The next record in a list.
    fn next(&self) -> &AtomicU32;
    /// The next unused record of the same site.
    fn next_free(&self) -> &AtomicU32;
}

macro_rules! listed {
    ($($type:ty: $family:literal in $heads:ident;)*) => {$(
        impl Listed for $type {
            const FAMILY: u32 = $family;

            fn heads(state: &'static State) -> &'static [AtomicU32] {
                &state.$heads
            }

            fn address(&self) -> usize {
                self.address.load(Ordering::Relaxed) as usize
            }

            fn set_address(&self, address: usize) {
                self.address.store(address as u64, Ordering::Relaxed);
            }

            fn site(&self) -> &AtomicU32 {
                &self.site
            }

            fn next(&self) -> &AtomicU32 {
                &self.next
            }

            fn next_free(&self) -> &AtomicU32 {
                &self.next_free
            }
        }
    )*};
}

listed! {
    ConditionBlock: 100 in conditions;
    BarrierBlock: 101 in barriers;
}

impl Recorder {
    /// Returns the record of the object at `address`. Creates the record if there is none.
    pub(crate) fn listed<L: Listed>(self, address: usize) -> Option<&'static L> {
        self.find_listed(address).or_else(|| self.aside(|| self.create_listed(address)))
    }

    /// Returns the record of an object if it is found without locking the tables.
    fn find_listed<L: Listed>(self, address: usize) -> Option<&'static L> {
        let mut unit = self.head_of::<L>(address).load(Ordering::Acquire);
        for _ in 0..STEPS {
            let record = self.block::<L>(unit)?;
            if record.address() == address {
                return Some(record);
            }
            unit = record.next().load(Ordering::Relaxed);
        }
        None
    }

    fn head_of<L: Listed>(self, address: usize) -> &'static AtomicU32 {
        let hash = (address as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let heads = L::heads(self.state());
        &heads[hash as usize % heads.len()]
    }

    #[cold]
    #[inline(never)]
    fn create_listed<L: Listed>(self, address: usize) -> Option<&'static L> {
        let caller = self.caller(L::FAMILY);
        let _tables = self.lock_tables()?;
        if let Some(record) = self.find_listed(address) {
            return Some(record);
        }
        let site_unit = self.site(&caller)?;
        let site = self.block::<SiteBlock>(site_unit)?;
        let freed = site.free.load(Ordering::Relaxed);
        let unit = if freed != 0 {
            let next = self.block::<L>(freed)?.next_free().load(Ordering::Relaxed);
            site.free.store(next, Ordering::Relaxed);
            freed
        } else if site.blocks.load(Ordering::Relaxed) < MOST_PER_SITE {
            site.blocks.fetch_add(1, Ordering::Relaxed);
            let unit = self.allocate(|record: *mut L| {
                // SAFETY: the block is new and zeroed, and only this thread knows it.
                unsafe { &*record }.site().store(site_unit, Ordering::Relaxed);
            })?;
            site.many.store(unit, Ordering::Relaxed);
            unit
        } else {
            // All further objects of the site use one record in turn: the one that was made last.
            let last = self.block::<L>(site.many.load(Ordering::Relaxed))?;
            self.unlist::<L>(last.address());
            self.unit_of(last)
        };
        let record = self.block::<L>(unit)?;
        record.next_free().store(0, Ordering::Relaxed);
        let head = self.head_of::<L>(address);
        record.next().store(head.load(Ordering::Relaxed), Ordering::Relaxed);
        record.set_address(address);
        head.store(unit, Ordering::Release);
        Some(record)
    }

    /// Notes that an object was destroyed, or that its memory is used for another object.
    pub(crate) fn listed_destroyed<L: Listed>(self, address: usize) {
        if self.find_listed::<L>(address).is_none() {
            return;
        }
        self.aside(|| {
            let Some(_tables) = self.lock_tables() else { return };
            let Some(record) = self.unlist::<L>(address) else { return };
            let site = self.block::<SiteBlock>(record.site().load(Ordering::Relaxed));
            if let Some(site) = site {
                record.next_free().store(site.free.load(Ordering::Relaxed), Ordering::Relaxed);
                site.free.store(self.unit_of(record), Ordering::Relaxed);
            }
        });
    }

    /// Takes the record of the object at `address` out of its list. The tables must be locked.
    fn unlist<L: Listed>(self, address: usize) -> Option<&'static L> {
        let mut link = self.head_of::<L>(address);
        for _ in 0..self.most_blocks() {
            let record = self.block::<L>(link.load(Ordering::Relaxed))?;
            if record.address() == address {
                link.store(record.next().load(Ordering::Relaxed), Ordering::Release);
                record.set_address(0);
                return Some(record);
            }
            link = record.next();
        }
        None
    }
}
