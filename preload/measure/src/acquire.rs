//! Acquiring a lock of any family.
//!
//! # Order of events
//! At an acquisition, the clock is read before the lock is tried, and again after everything has
//! been counted. At a [release](crate::release), the clock is read first. So neither a hold nor a
//! think time contains the cost of taking the lock, which is mainly its cache misses. A simulation
//! of another lock in its place then adds the cost of that lock. The time that the recorder itself
//! takes between two readings is measured once and subtracted
//! ([`calibration`](crate::calibration)).

use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::Ordering;

use kilocore_lock_recording::{MET, family};

use crate::callers::{Event, Taker};
use crate::clock;
use crate::counters::Count;
use crate::mode::Mode;
use crate::object::{Object, Peekable};
use crate::recorder::Recorder;
use crate::thread::Held;

/// Returns whether a result of the C library means that the lock was acquired.
#[inline(always)]
pub(crate) const fn is_acquired(result: c_int) -> bool {
    // A robust mutex whose owner has died is acquired, too.
    result == 0 || result == libc::EOWNERDEAD
}

impl Recorder {
    /// Returns the time of the request for a lock, in cycles. If the time will not be needed, it is
    /// 0.
    #[inline(always)]
    fn request(self) -> u64 {
        let thread = self.thread;
        let timed = if thread.depth.get() == 0 { thread.times_next() } else { thread.timed.get() };
        if timed { self.request_timed() } else { 0 }
    }

    /// Does what may take long before the lock is taken, and returns the time of the request.
    #[inline(never)]
    fn request_timed(self) -> u64 {
        let now = clock::now().cycles;
        let absent = self.thread.depth.get() == 0 && self.look_back(now);
        let looked = self.look_at_taker(now);
        // Both exclude their own time from what is measured for the thread.
        if absent || looked { clock::now().cycles } else { now }
    }

    /// Acquires a lock: calls `try_lock` first and, only if the lock is held, `lock`. This is for
    /// locks and calls where the program cannot notice that the lock was tried; see
    /// [`Mutex::is_tried_unseen`](crate::object::Mutex::is_tried_unseen).
    #[inline(always)]
    pub(crate) fn acquire<O: Object>(
        self,
        object: O,
        mode: Mode,
        try_lock: impl FnOnce() -> c_int,
        lock: impl FnOnce() -> c_int,
    ) -> c_int {
        let request = self.request();
        self.prefetch(object);
        let result = try_lock();
        if is_acquired(result) {
            self.acquired(object, mode, request);
            result
        } else {
            self.acquire_slowly(object, mode, lock)
        }
    }

    /// Acquires a lock by `take`, which is exactly what the program called, and calls nothing else.
    /// A look at the lock object tells beforehand whether the acquisition has to wait. This look
    /// misses a thread that acquires the lock just after it.
    #[inline(never)]
    pub(crate) fn acquire_at_once<O: Peekable>(
        self,
        object: O,
        mode: Mode,
        take: impl FnOnce() -> c_int,
    ) -> c_int {
        if object.looks_busy(mode) && !self.is_holding(object.address()) {
            return self.acquire_slowly(object, mode, take);
        }
        let request = self.request();
        let result = take();
        if is_acquired(result) {
            self.acquired(object, mode, request);
        } else if result == libc::ETIMEDOUT {
            self.failed(object, mode);
        }
        result
    }

    /// Tries to acquire a lock.
    #[inline(always)]
    pub(crate) fn attempt<O: Object>(
        self,
        object: O,
        mode: Mode,
        try_lock: impl FnOnce() -> c_int,
    ) -> c_int {
        let request = self.request();
        let result = try_lock();
        if is_acquired(result) {
            self.acquired(object, mode, request);
        } else if result == libc::EBUSY {
            self.failed(object, mode);
        }
        result
    }

    #[cold]
    #[inline(never)]
    fn failed<O: Object>(self, object: O, mode: Mode) {
        if let Some(lock) = self.lock(object) {
            lock.failed[mode.index()].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[cold]
    #[inline(never)]
    fn acquire_slowly<O: Object>(
        self,
        object: O,
        mode: Mode,
        take: impl FnOnce() -> c_int,
    ) -> c_int {
        let lock = self.lock(object);
        let taker = lock.and_then(|_| self.look_at_waiter());
        let met = lock.map_or(0, |lock| lock.waiters.fetch_add(1, Ordering::Relaxed));
        let request = clock::now().cycles;
        let result = take();
        let now = clock::now().cycles;
        let waited = now.saturating_sub(request);
        if let Some(lock) = lock {
            lock.waiters.fetch_sub(1, Ordering::Relaxed);
        }
        if O::FAMILY == family::SPIN {
            self.note_spin(waited, now);
        } else {
            self.thread.note_wait(waited);
        }
        if is_acquired(result) {
            if let (Some(lock), Some(taker)) = (lock, taker) {
                self.count_taker(lock, taker, Event::Wait(waited));
            }
            if let Some(block) = lock.and_then(|lock| self.contention(lock, mode)) {
                block.wait.count(waited, 1, true);
                block.met[(met as usize).min(MET - 1)].fetch_add(1, Ordering::Relaxed);
            }
            self.acquired(object, mode, request);
            return result;
        }
        self.discount(waited);
        if let (libc::ETIMEDOUT, Some(lock)) = (result, lock) {
            lock.failed[mode.index()].fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    /// Records that the calling thread holds `object`. `request` is the time of the request in
    /// cycles, or 0 if it is unknown.
    #[inline(always)]
    pub(crate) fn acquired<O: Object>(self, object: O, mode: Mode, request: u64) {
        let address = object.address();
        let depth = self.thread.depth.get();
        if depth != 0 && mode == Mode::Exclusive && self.is_held_again(object) {
            return;
        }
        let Some(lock) = self.lock(object) else { return };
        let (shard, atomic) = self.shard(lock, mode);
        if let Some(shard) = shard {
            self.count_acquisition(object, lock, shard, mode, atomic);
        }
        let timed = if depth == 0 { self.thread.begin_section() } else { self.thread.timed.get() };
        let entry = Held {
            object: address,
            lock,
            shard: shard.map_or(ptr::null(), ptr::from_ref),
            request,
            start: 0,
            inner: 0,
            again: 0,
            atomic,
            mode,
        };
        if timed {
            self.acquired_timed(entry);
        } else {
            self.push(entry);
        }
    }

    /// Does the rest for a lock in a section that is timed.
    #[inline(never)]
    fn acquired_timed(self, mut entry: Held) {
        // SAFETY: the pointer is null or points to a block of the recording, which is never
        // unmapped.
        let shard = unsafe { entry.shard.as_ref() };
        if let (Some(shard), Some(outer)) = (shard, self.innermost()) {
            self.count_nesting(shard, self.unit_of(outer.lock), entry.atomic);
        }
        let taker = self.thread.taker.replace(0);
        if taker != 0 {
            // SAFETY: the record lies in the recording, which is never unmapped.
            let lock = unsafe { &*entry.lock };
            let weight = self.thread.taker_weight.get();
            self.count_taker(lock, Taker { site: taker, weight }, Event::Take);
        }
        let moment = clock::now();
        self.thread.core.set(moment.core);
        entry.start = moment.cycles;
        if entry.request == 0 {
            entry.request = moment.cycles;
        }
        if self.thread.depth.get() == 0 {
            self.end_think(entry.request);
        }
        self.push(entry);
    }
}
