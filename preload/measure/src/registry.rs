//! Finds the record of a lock object.
//!
//! # Which record
//! If a lock object has room for it, it contains the number of its record, and the record contains
//! the address of the object. The number is used only if the two agree. They may disagree because
//! objects are copied, and because memory is reused without `pthread_mutex_destroy` (C++ destroys a
//! `std::mutex` without calling anything). Objects without room are found by a hash table of lists
//! by address. Readers of this table take no lock, because records are never freed. If a list
//! changes while it is read, the worst that can happen is that the reader does not find the record.
//! It then looks again with the tables locked.
//!
//! # Short-lived locks
//! The next lock of the same site uses the record of a destroyed lock again. So a program may
//! create millions of locks. If a site has more than [`BLOCKS_PER_SITE`] locks that are alive (or
//! were never destroyed), all further locks of the site share one more record. Several threads may
//! write this record at once, so they use shards by thread, as readers do.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{LockBlock, SiteBlock, UnitId};

use crate::object::{Object, RecorderBytes, UNRECORDED, unit, word};
use crate::recorder::Recorder;
use crate::state::OBJECT_BUCKETS;

/// The largest number of locks of one site that have records of their own.
const BLOCKS_PER_SITE: u32 = 2048;

/// The number of steps after which a reader of a list assumes that the list has changed and that it
/// is in another list now.
const STEPS: usize = 64;

/// Returns the head of the list that contains objects at `address`.
fn head(recorder: Recorder, address: usize) -> &'static AtomicU32 {
    let hash = (address as u64 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    &recorder.state().objects[hash as usize % OBJECT_BUCKETS]
}

/// Searches the list from `unit` on for the record of a lock.
fn in_list(
    recorder: Recorder,
    mut unit: UnitId,
    address: usize,
    family: u32,
    steps: usize,
) -> Option<&'static LockBlock> {
    for _ in 0..steps {
        let lock = recorder.block::<LockBlock>(unit)?;
        if lock.address.load(Ordering::Relaxed) == address as u64
            && lock.family.load(Ordering::Relaxed) == family
        {
            return Some(lock);
        }
        unit = lock.next.load(Ordering::Relaxed);
    }
    None
}

impl Recorder {
    /// Returns the record of `object`. Creates the record if there is none. Returns `None` if the
    /// object is not recorded.
    #[inline(always)]
    pub(crate) fn lock<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        let place = object.place();
        if place.is_null() {
            return self.lock_without_place(object);
        }
        // SAFETY: the place lies in a lock object that the program has just used.
        let known = unsafe { &(*place).record }.load(Ordering::Relaxed);
        if known == UNRECORDED {
            return None;
        }
        if let Some(lock) = self.believed(known, object) {
            return Some(lock);
        }
        self.aside(|| self.find_or_create(object))
    }

    /// Fetches the record of `object` into the cache while the lock is being taken.
    #[inline(always)]
    pub(crate) fn prefetch<O: Object>(self, object: O) {
        let place = object.place();
        #[cfg(target_arch = "x86_64")]
        if !place.is_null() {
            // SAFETY: the place lies in a lock object that the program is about to use.
            let known = unsafe { &(*place).record }.load(Ordering::Relaxed);
            let record = self.address_of(unit(known));
            // SAFETY: a prefetch is a hint, which never faults.
            unsafe {
                use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(record.cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = place;
    }

    /// Returns the record to which `known`, the word in `object`, refers, if it is `object`'s
    /// record.
    #[inline(always)]
    fn believed<O: Object>(self, known: u32, object: O) -> Option<&'static LockBlock> {
        let lock = self.block::<LockBlock>(unit(known))?;
        let address = object.address();
        let own = lock.address.load(Ordering::Relaxed) == address as u64;
        let common = lock.many.load(Ordering::Relaxed) != 0 && known == word(unit(known), address);
        (own || common).then_some(lock)
    }

    #[inline(never)]
    fn lock_without_place<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        let address = object.address();
        let first = head(self, address).load(Ordering::Acquire);
        in_list(self, first, address, O::FAMILY, STEPS)
            .or_else(|| self.aside(|| self.find_or_create(object)))
    }

    #[cold]
    #[inline(never)]
    fn find_or_create<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        {
            let _tables = self.lock_tables()?;
            if let Some(lock) = self.find(object) {
                return Some(lock);
            }
        }
        self.create(object)
    }

    /// Finds a record that another thread may have created meanwhile. The tables must be locked.
    fn find<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        let address = object.address();
        let listed = || {
            let first = head(self, address).load(Ordering::Acquire);
            in_list(self, first, address, O::FAMILY, self.most_blocks())
        };
        // SAFETY: the place is null or lies in a lock object that the program has just used.
        let Some(place) = (unsafe { object.place().as_ref() }) else { return listed() };
        let known = place.record.load(Ordering::Acquire);
        if let Some(lock) = self.believed(known, object) {
            return Some(lock);
        }
        // If the word is zero, the object has just been initialized. A record of this address then
        // belongs to an earlier object.
        let lock = if known == 0 { None } else { listed() }?;
        place.record.store(word(self.unit_of(lock), address), Ordering::Release);
        Some(lock)
    }

    /// Makes a record for `object`. The caller of this library has created or first used the
    /// object.
    fn create<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        // SAFETY: the place is null or lies in a lock object that the program has just used.
        let place = unsafe { object.place().as_ref() };
        if self.state().full.load(Ordering::Relaxed) != 0 {
            // Nothing else is tried any more, because it would cost a stack walk at each use.
            self.not_recorded(place);
            return None;
        }
        let caller = self.caller(O::FAMILY);
        let _tables = self.lock_tables()?;
        if let Some(lock) = self.find(object) {
            return Some(lock);
        }
        let address = object.address();
        self.retire(address, O::FAMILY);
        let lock = self.site(&caller).and_then(|site| self.block_of_site(site, object, place));
        let Some(lock) = lock else {
            self.state().full.store(1, Ordering::Relaxed);
            self.not_recorded(place);
            return None;
        };
        lock.instances.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = place {
            place.record.store(word(self.unit_of(lock), address), Ordering::Release);
        }
        Some(lock)
    }

    /// Notes that a lock is not recorded. If the lock has a place, this is also noted there. A lock
    /// without a place is counted when it is initialized, which every such lock must be; otherwise
    /// it is counted at each use.
    fn not_recorded(self, place: Option<&RecorderBytes>) {
        self.header().locks_not_recorded.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = place {
            place.record.store(UNRECORDED, Ordering::Relaxed);
        }
    }

    /// Returns a block for a new lock of a site. The tables must be locked.
    fn block_of_site<O: Object>(
        self,
        site_unit: UnitId,
        object: O,
        place: Option<&RecorderBytes>,
    ) -> Option<&'static LockBlock> {
        let site = self.block::<SiteBlock>(site_unit)?;
        let freed = self.block::<LockBlock>(site.free.load(Ordering::Relaxed));
        let lock = if let Some(freed) = freed {
            site.free.store(freed.next_free.load(Ordering::Relaxed), Ordering::Relaxed);
            freed.waiters.store(0, Ordering::Relaxed);
            freed.last_core.store(0, Ordering::Relaxed);
            freed
        } else if place.is_none() || site.blocks.load(Ordering::Relaxed) < BLOCKS_PER_SITE {
            // A lock without a place needs a block of its own. Otherwise it would look new at each
            // use.
            site.blocks.fetch_add(1, Ordering::Relaxed);
            self.new_block(site_unit, O::FAMILY)?
        } else {
            if site.many.load(Ordering::Relaxed) == 0 {
                let many = self.new_block(site_unit, O::FAMILY)?;
                many.many.store(1, Ordering::Relaxed);
                site.many.store(self.unit_of(many), Ordering::Relaxed);
            }
            return self.block::<LockBlock>(site.many.load(Ordering::Relaxed));
        };
        let head = head(self, object.address());
        lock.attributes.store(object.attributes(), Ordering::Relaxed);
        lock.next.store(head.load(Ordering::Relaxed), Ordering::Relaxed);
        lock.address.store(object.address() as u64, Ordering::Relaxed);
        head.store(self.unit_of(lock), Ordering::Release);
        Some(lock)
    }

    fn new_block(self, site: UnitId, family: u32) -> Option<&'static LockBlock> {
        let unit = self.allocate(|lock: *mut LockBlock| {
            // SAFETY: the block is new and zeroed, and only this thread knows it.
            let lock = unsafe { &mut *lock };
            *lock.family.get_mut() = family;
            *lock.site.get_mut() = site;
        })?;
        self.block(unit)
    }

    /// Notes that the lock at `address` was destroyed, so that its record can be used again.
    pub(crate) fn destroyed<O: Object>(self, object: O) {
        self.aside(|| {
            if let Some(_tables) = self.lock_tables() {
                self.retire(object.address(), O::FAMILY);
            }
        });
    }

    /// Notes that a lock was initialized. The object that was at its address before no longer
    /// exists.
    pub(crate) fn initialized<O: Object>(self, object: O) {
        self.aside(|| {
            // SAFETY: the place is null or lies in a lock object that was just initialized.
            if let Some(place) = unsafe { object.place().as_ref() } {
                place.record.store(0, Ordering::Relaxed);
                place.last_core.store(0, Ordering::Relaxed);
            } else if let Some(_tables) = self.lock_tables() {
                self.retire(object.address(), O::FAMILY);
            }
            self.create(object);
        });
    }

    /// Takes the record of `address` out of use. The tables must be locked.
    fn retire(self, address: usize, family: u32) {
        let mut link = head(self, address);
        for _ in 0..self.most_blocks() {
            let Some(lock) = self.block::<LockBlock>(link.load(Ordering::Relaxed)) else { return };
            let same = lock.address.load(Ordering::Relaxed) == address as u64;
            if !same || lock.family.load(Ordering::Relaxed) != family {
                link = &lock.next;
                continue;
            }
            link.store(lock.next.load(Ordering::Relaxed), Ordering::Release);
            lock.address.store(0, Ordering::Relaxed);
            if let Some(site) = self.block::<SiteBlock>(lock.site.load(Ordering::Relaxed)) {
                lock.next_free.store(site.free.load(Ordering::Relaxed), Ordering::Relaxed);
                site.free.store(self.unit_of(lock), Ordering::Relaxed);
            }
            return;
        }
    }
}
