//! From a lock object to its record.
//!
//! # Which record
//! A lock object with room for it holds the number of its record; the record names the address,
//! and only if the two agree is the number believed, because objects are copied, and memory is
//! reused without `pthread_mutex_destroy` (C++ destroys a `std::mutex` without calling anything).
//! Objects without room are found through a table of lists by address. Its readers take no lock:
//! records are never freed, so a list that changes under a reader can only lead it astray, and
//! then it looks again with the table locked.
//!
//! # Short-lived locks
//! The record of a destroyed lock is used again by the next lock of the same site, so that a
//! program may create locks by the million. A site with more than [`BLOCKS_PER_SITE`] locks
//! alive (or never destroyed) gets one more record for all further ones together, which several
//! threads write to at once and therefore like readers do.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{LockBlock, SiteBlock, UnitId};

use crate::object::{Object, Place, UNRECORDED, unit, word};
use crate::recorder::Recorder;
use crate::state::OBJECT_BUCKETS;

/// Locks of one site that are told apart.
const BLOCKS_PER_SITE: u32 = 2048;

/// Steps after which a reader of a list suspects that it was led astray.
const STEPS: usize = 64;

/// The head of the list that objects at `address` are in.
fn head(recorder: Recorder, address: usize) -> &'static AtomicU32 {
    let hash = (address as u64 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    &recorder.state().objects[hash as usize % OBJECT_BUCKETS]
}

/// A lock's record in the list from `unit` on.
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
    /// The record of `object`, created if it has none; `None` if it is not to be recorded.
    #[inline(always)]
    pub(crate) fn lock<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        let place = object.place();
        if place.is_null() {
            return self.lock_without_place(object);
        }
        // SAFETY: the place lies in a lock object that the program just used.
        let known = unsafe { &(*place).record }.load(Ordering::Relaxed);
        if known == UNRECORDED {
            return None;
        }
        if let Some(lock) = self.believed(known, object) {
            return Some(lock);
        }
        self.aside(|| self.find_or_create(object))
    }

    /// Lets the record of `object` come into the cache while the lock is being taken.
    #[inline(always)]
    pub(crate) fn prefetch<O: Object>(self, object: O) {
        let place = object.place();
        #[cfg(target_arch = "x86_64")]
        if !place.is_null() {
            // SAFETY: the place lies in a lock object that the program is about to use.
            let known = unsafe { &(*place).record }.load(Ordering::Relaxed);
            let record = self.address_of(unit(known));
            // SAFETY: a hint, which never faults.
            unsafe {
                use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(record.cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = place;
    }

    /// The record that `known`, found in `object`, stands for, unless that is not `object`'s.
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

    /// Finds a record that others may have created meanwhile. The tables must be locked.
    fn find<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        let address = object.address();
        let listed = || {
            let first = head(self, address).load(Ordering::Acquire);
            in_list(self, first, address, O::FAMILY, usize::MAX)
        };
        // SAFETY: null or the place in a lock object that the program just used.
        let Some(place) = (unsafe { object.place().as_ref() }) else { return listed() };
        let known = place.record.load(Ordering::Acquire);
        if let Some(lock) = self.believed(known, object) {
            return Some(lock);
        }
        // Zero: freshly initialized, so a record of this address is one of an earlier object.
        let lock = if known == 0 { None } else { listed() }?;
        place.record.store(word(self.unit_of(lock), address), Ordering::Release);
        Some(lock)
    }

    /// Makes a record for `object`, whose creator or first user is the caller of this library.
    fn create<O: Object>(self, object: O) -> Option<&'static LockBlock> {
        // SAFETY: null or the place in a lock object that the program just used.
        let place = unsafe { object.place().as_ref() };
        if self.state().full.load(Ordering::Relaxed) != 0 {
            // Not even looked at any more: that would cost a stack walk at each use.
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

    /// Notes that a lock is not recorded: in the lock too if it has a place for that. A lock
    /// without one is counted when it is initialized, as it must be, or else at each use.
    fn not_recorded(self, place: Option<&Place>) {
        self.header().locks_not_recorded.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = place {
            place.record.store(UNRECORDED, Ordering::Relaxed);
        }
    }

    /// A block for a new lock of `site`. The tables must be locked.
    fn block_of_site<O: Object>(
        self,
        site_unit: UnitId,
        object: O,
        place: Option<&Place>,
    ) -> Option<&'static LockBlock> {
        let site = self.block::<SiteBlock>(site_unit)?;
        let freed = self.block::<LockBlock>(site.free.load(Ordering::Relaxed));
        let lock = if let Some(freed) = freed {
            site.free.store(freed.next_free.load(Ordering::Relaxed), Ordering::Relaxed);
            freed.waiters.store(0, Ordering::Relaxed);
            freed.last_core.store(0, Ordering::Relaxed);
            freed
        } else if place.is_none() || site.blocks.load(Ordering::Relaxed) < BLOCKS_PER_SITE {
            // A lock without a place needs its own: it would look new at each use.
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
            // SAFETY: a fresh block of zeros, known to this thread only.
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

    /// Notes that a lock was initialized: whatever was at its address before is gone.
    pub(crate) fn initialized<O: Object>(self, object: O) {
        self.aside(|| {
            // SAFETY: null or the place in a lock object that was just initialized.
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
        while let Some(lock) = self.block::<LockBlock>(link.load(Ordering::Relaxed)) {
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
