//! A thread's access to the recording of its process: how the thread joins and leaves the
//! recording, and how it finds and makes blocks.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{
    Block, BlockHeader, FileHeader, LARGEST_BLOCK, SHARED_SLOT, ThreadBlock, UNIT, UnitId,
};
use kilocore_preload_common::{ThreadKey, cancellation, errno};

use crate::environment;
use crate::patience::Patience;
use crate::state::State;
use crate::thread::Thread;
use crate::{clock, confined, file};

/// Notes the time of the end, if the program ends in the regular way.
extern "C" fn finish() {
    note_end();
}

/// Notes the time if the calling thread records.
pub(crate) fn note_end() {
    if let Some(recorder) = Recorder::joined(Thread::current()) {
        errno::preserved(|| recorder.stamp(true));
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = finish;

/// Access to the recording by a thread that has joined it.
///
/// It is one word, so that the wrappers can keep it in a register.
#[derive(Clone, Copy)]
pub(crate) struct Recorder {
    /// The state of the calling thread.
    pub(crate) thread: &'static Thread,
}

/// While this exists, no other thread changes the tables.
pub(crate) struct Tables(&'static AtomicU32);

impl Drop for Tables {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl Recorder {
    /// Returns the recorder, or `None` if nothing is recorded now, because there is no recording or
    /// because the recorder itself uses a lock.
    #[inline(always)]
    pub(crate) fn enter() -> Option<Self> {
        let thread = Thread::current();
        Self::joined(thread).or_else(|| Self::join(thread))
    }

    /// Returns the recorder if the thread has already joined this process's recording.
    #[inline(always)]
    fn joined(thread: &'static Thread) -> Option<Self> {
        let state = State::current();
        let base = thread.base.get();
        if base.is_null() || state.is_null() {
            return None;
        }
        // SAFETY: the state is not null, and its mapping is never unmapped.
        let current = unsafe { &(*state).base }.load(Ordering::Relaxed);
        (current == base).then_some(Self { thread })
    }

    #[cold]
    #[inline(never)]
    fn join(thread: &'static Thread) -> Option<Self> {
        if thread.busy.get() || environment::is_known_off() || confined::is_clockless() {
            return None;
        }
        let work = || {
            thread.busy.set(true);
            let recorder = errno::preserved(|| Self::join_now(thread));
            thread.busy.set(false);
            recorder
        };
        // SAFETY: exported functions own nothing when they enter the recorder.
        unsafe { cancellation::held(work) }
    }

    fn join_now(thread: &'static Thread) -> Option<Self> {
        let state = if environment::configure() { State::get()? } else { return None };
        let base = state.recording()?;
        thread.reset(base, state);
        let recorder = Self { thread };
        recorder.attach();
        if state.calibrated.swap(1, Ordering::Relaxed) == 0 {
            recorder.calibrate();
        }
        Some(recorder)
    }

    /// Calls `work`. Locks that the calling thread takes meanwhile are not recorded, and the time
    /// that this takes is excluded from what is measured for the thread.
    pub(crate) fn aside<R>(self, work: impl FnOnce() -> R) -> R {
        let work = || {
            let began = clock::now().cycles;
            self.thread.busy.set(true);
            self.thread.base.set(ptr::null_mut());
            let result = errno::preserved(work);
            self.thread.base.set(self.base());
            self.thread.busy.set(false);
            self.discount(clock::now().cycles.saturating_sub(began));
            result
        };
        // SAFETY: whoever works aside on a program's behalf owns nothing meanwhile.
        unsafe { cancellation::held(work) }
    }

    /// Returns the state of the process.
    #[inline(always)]
    pub(crate) fn state(self) -> &'static State {
        // SAFETY: a thread gets a state before there is a recorder for it, and the state's mapping
        // is never unmapped.
        unsafe { &*self.thread.state.get() }
    }

    /// Returns the start of the recording.
    #[inline(always)]
    fn base(self) -> *mut u8 {
        self.thread.joined.get()
    }

    /// Returns the header of the recording.
    pub(crate) fn header(self) -> &'static FileHeader {
        // SAFETY: a recording begins with its header and is never unmapped.
        unsafe { &*self.base().cast() }
    }

    /// Returns the block at `unit` if there is one of this type.
    #[inline(always)]
    pub(crate) fn block<B: Block>(self, unit: UnitId) -> Option<&'static B> {
        let at = unit as usize * UNIT;
        if unit == 0 || !at.is_multiple_of(align_of::<B>()) || !self.reaches(unit) {
            return None;
        }
        // SAFETY: the header lies inside the mapping and inside the file, and is aligned to a unit.
        let header = unsafe { &*self.base().add(at).cast::<BlockHeader>() };
        if header.kind.load(Ordering::Acquire) != B::KIND {
            return None;
        }
        // SAFETY: a block of this type begins here, and it is never freed.
        Some(unsafe { &*self.base().add(at).cast::<B>() })
    }

    /// Returns the block at `unit`, which the recorder has itself written into a block of this
    /// recording. The kind of the block is not looked at. Whatever `unit` is, the result lies in the
    /// recording, where there is nothing but numbers.
    #[inline(always)]
    pub(crate) fn own_block<B: Block>(self, unit: UnitId) -> Option<&'static B> {
        if !self.reaches(unit) {
            return None;
        }
        let at = (unit as usize * UNIT) & !(align_of::<B>() - 1);
        // SAFETY: these bytes lie inside the mapping and inside the file, and have the alignment of
        // the type. Any bytes are a valid value of atomics.
        Some(unsafe { &*self.base().add(at).cast::<B>() })
    }

    /// Whether a block that begins at `unit` ends inside the recording.
    #[inline(always)]
    fn reaches(self, unit: UnitId) -> bool {
        unit < self.thread.reach.get() || self.reaches_by_now(unit)
    }

    /// The same for a recording that may have grown since the thread last looked.
    #[cold]
    #[inline(never)]
    fn reaches_by_now(self, unit: UnitId) -> bool {
        let backed = self.state().backed.load(Ordering::Acquire) as usize;
        let last = backed.saturating_sub(LARGEST_BLOCK) / UNIT;
        self.thread.reach.set(last as UnitId + 1);
        unit <= last as UnitId
    }

    /// The largest number of blocks that the recording can have. A list has no more, so a walk along
    /// a list ends after so many steps.
    pub(crate) fn most_blocks(self) -> usize {
        self.state().backed.load(Ordering::Relaxed) as usize / UNIT
    }

    /// Returns the address that a block at `unit` has or would have.
    #[inline(always)]
    pub(crate) fn address_of(self, unit: UnitId) -> *const u8 {
        self.base().wrapping_add(unit as usize * UNIT)
    }

    /// Returns the number of a block.
    #[inline(always)]
    pub(crate) fn unit_of<B: Block>(self, block: *const B) -> UnitId {
        ((block as usize - self.base() as usize) / UNIT) as UnitId
    }

    /// Makes a block. Returns `None` if the recording is full.
    pub(crate) fn allocate<B: Block>(self, fill: impl FnOnce(*mut B)) -> Option<UnitId> {
        let grow = |seen: u64| self.state().grow(seen);
        let state = self.state();
        file::allocate(self.base(), &state.used, &state.backed, grow, fill)
    }

    /// Lets the recording grow, if it can, until about `bytes` bytes of it are unused.
    pub(crate) fn reserve(self, bytes: u64) {
        loop {
            let backed = self.state().backed.load(Ordering::Acquire);
            if backed.saturating_sub(self.state().used.load(Ordering::Relaxed)) >= bytes
                || self.state().grow(backed).is_none()
            {
                return;
            }
        }
    }

    /// Locks the tables. Returns `None` if this takes suspiciously long, as in a signal handler
    /// that has interrupted the holder.
    pub(crate) fn lock_tables(self) -> Option<Tables> {
        let word = &self.state().tables;
        let mut patience = Patience::new();
        loop {
            if word.load(Ordering::Relaxed) == 0 && word.swap(1, Ordering::Acquire) == 0 {
                return Some(Tables(word));
            }
            if !patience.wait() {
                return None;
            }
        }
    }

    /// Gives the thread a number, a slot and a block for its think times.
    fn attach(self) {
        let number = self.state().take_number();
        let slot = (number as usize).min(SHARED_SLOT);
        self.thread.number.set(number);
        self.thread.slot.set(slot as u32);
        let cell = &self.state().think[slot];
        if cell.load(Ordering::Acquire) == 0
            && let Some(unit) = self.allocate::<ThreadBlock>(|_| ())
        {
            // A thread that lost the race for the shared slot leaves an empty block behind.
            let _ = cell.compare_exchange(0, unit, Ordering::AcqRel, Ordering::Relaxed);
        }
        let think = self.block::<ThreadBlock>(cell.load(Ordering::Acquire));
        self.thread.think.set(think.map_or(ptr::null(), ptr::from_ref));
        let moment = clock::now();
        self.thread.core.set(moment.core);
        self.thread.mark_cycles.set(moment.cycles);
        if !confined::is_confined() {
            self.thread.mark_cpu_ns.set(clock::system_ns(libc::CLOCK_THREAD_CPUTIME_ID));
            self.thread.mark_switches.set(clock::voluntary_switches());
        }
        watch_end();
        self.thread.base.set(self.base());
    }

    /// Notes that the thread has ended, and makes it leave the recording.
    pub(crate) fn detach(self) {
        self.stamp(false);
        let header = self.header();
        if !self.thread.ended.replace(true) {
            header.threads_alive.fetch_sub(1, Ordering::Relaxed);
        }
        self.state().return_number(self.thread.number.get());
        self.thread.base.set(ptr::null_mut());
    }

    /// Writes the time and the processor time so far into the header, and computes the rate of the
    /// clock again. If this was done in the last ten milliseconds, it is not done again, unless
    /// `now_please` is set.
    pub(crate) fn stamp(self, now_please: bool) {
        if confined::is_confined() {
            return;
        }
        let header = self.header();
        let before = clock::now().cycles;
        let rate = self.state().rate.load(Ordering::Relaxed);
        let last = header.last_cycles.load(Ordering::Relaxed);
        let pause = if rate == 0 { 0 } else { rate.saturating_mul(10_000_000) >> 20 };
        if !now_please && last != 0 && before.saturating_sub(last) < pause {
            return;
        }
        let ns = clock::system_ns(libc::CLOCK_MONOTONIC);
        let cycles = clock::now().cycles;
        header.last_ns.store(ns, Ordering::Relaxed);
        header.last_cycles.store(cycles, Ordering::Relaxed);
        let cpu = clock::system_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
        // The larger number is kept, because a vfork child also writes here and has a processor
        // time of its own.
        header.cpu_ns.fetch_max(cpu, Ordering::Relaxed);
        let passed_ns = ns.saturating_sub(header.first_ns.load(Ordering::Relaxed));
        let passed = cycles.saturating_sub(header.first_cycles.load(Ordering::Relaxed));
        // A shorter time would not give a good rate.
        if passed_ns > 10_000 {
            let rate = ((u128::from(passed) << 20) / u128::from(passed_ns)) as u64;
            self.state().rate.store(rate, Ordering::Relaxed);
        }
    }
}

/// Makes the recorder notice the end of the calling thread.
///
/// The destructor of a thread-specific value sees it. That destructor runs however the thread ends:
/// it may return, call `pthread_exit` or be cancelled. If the program needs all keys for itself, the
/// ends of threads go unnoticed.
pub(crate) fn watch_end() {
    KEY.set(1, thread_ends);
}

static KEY: ThreadKey = ThreadKey::new();

kilocore_preload_common::export_key_functions!(super::KEY);

/// Runs at the end of each thread that took a lock or was created here.
unsafe extern "C" fn thread_ends(_: *mut c_void) {
    if let Some(recorder) = Recorder::enter() {
        recorder.detach();
    }
}
