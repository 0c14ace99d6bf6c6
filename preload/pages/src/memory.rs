//! The pool and what is known of its pages.
//!
//! Each page of the pool is in one of three places: free in the pool, held by the program, or with this
//! library, on its way from one to the other. A bit says whether the program holds it. Unmapping takes the
//! bits, so a page that is unmapped twice goes back once, and one that the program does not hold goes
//! nowhere.
//!
//! A second bit says that the program has *altered* the page's mapping: its protection, its advice, its
//! policy, or that it is locked. Such a page gets a new mapping before it goes back to the pool. So nothing
//! that one owner did to a page ever reaches the next.

mod taking;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use kilocore_pages::{Contents, PAGE_BYTES, PagePool};
use kilocore_preload_common::errno;

use crate::bits::{Bits, Run};
use crate::shares::{Count, Share, Shares};
use crate::system;
use crate::tables::zeros;
use crate::touched::{self, Touched};

/// So many bytes that were used may lie idle. What is more goes back to the system at once; it would not be
/// in any cache any more.
const IDLE_BYTES: usize = 64 << 20;

/// The system gets the memory of pages that were idle for so long, or twice as long.
const DECAY_SECONDS: u64 = 5;

/// One in so many calls looks at the clock.
const CLOCK_CALLS: u32 = 64;

/// After the pool had no room, so many requests go to the kernel without being tried.
const AFTER_FULL: u32 = 16;

/// What the bytes of a range must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Zero, as those of a mapping.
    Zero,
    /// Anything, as those of a block of `malloc`.
    Anything,
}

/// The part of a range of addresses that lies in the pool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inside {
    /// The whole range: these pages.
    All(Run),
    /// These pages, and what is before and behind them.
    Part(Run),
}

impl Inside {
    pub(crate) fn run(self) -> Run {
        match self {
            Inside::All(run) | Inside::Part(run) => run,
        }
    }
}

/// A pool with its notes.
#[derive(Debug)]
pub(crate) struct Memory {
    pool: PagePool,
    least: usize,
    most: usize,
    base: usize,
    bytes: usize,
    held: Bits,
    altered: Bits,
    /// Of the first page of a range: none of its pages had memory when it was handed out.
    fresh: Bits,
    /// Of the first page of a block of `malloc`: how many pages it has.
    blocks: &'static [AtomicU32],
    touched: Touched,
    shares: Shares,
    /// Whether more lies idle than should.
    too_idle: AtomicBool,
    decayed_at: AtomicU64,
    full: AtomicU32,
    retired: AtomicBool,
}

impl Memory {
    /// Takes a pool, of which requests for `least` to `most` bytes are served.
    pub(crate) fn new(pool: PagePool, (least, most): (usize, usize)) -> Self {
        let pages = pool.pages();
        Self {
            least,
            most,
            base: pool.first_page().addr().get(),
            bytes: pages as usize * PAGE_BYTES,
            held: Bits::new(pages),
            altered: Bits::new(pages),
            fresh: Bits::new(pages),
            blocks: zeros(pages as usize),
            touched: Touched::new(),
            shares: Shares::new(system::cores()),
            too_idle: AtomicBool::new(false),
            decayed_at: AtomicU64::new(system::seconds()),
            full: AtomicU32::new(0),
            retired: AtomicBool::new(false),
            pool,
        }
    }

    /// Returns whether requests for so many bytes are served.
    #[inline]
    pub(crate) fn serves(&self, bytes: usize) -> bool {
        self.least <= bytes && bytes <= self.most
    }

    /// Returns what is counted.
    pub(crate) fn shares(&self) -> &Shares {
        &self.shares
    }

    pub(crate) fn pool(&self) -> &PagePool {
        &self.pool
    }

    /// Returns the page that begins at an address, if it is one of the pool.
    #[inline]
    pub(crate) fn page_at(&self, address: usize) -> Option<u32> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes && offset.is_multiple_of(PAGE_BYTES))
            .then_some((offset / PAGE_BYTES) as u32)
    }

    pub(crate) fn address_of(&self, page: u32) -> usize {
        self.base + page as usize * PAGE_BYTES
    }

    fn bytes_of(&self, run: Run) -> usize {
        run.pages as usize * PAGE_BYTES
    }

    fn pointer_to(&self, page: u32) -> Option<NonNull<u8>> {
        NonNull::new(core::ptr::with_exposed_provenance_mut(self.address_of(page)))
    }

    /// Returns the pages of the pool that a range of addresses touches.
    #[inline]
    pub(crate) fn touched_by(&self, address: usize, bytes: usize) -> Option<Run> {
        let end = address.checked_add(bytes)?;
        let first = address.saturating_sub(self.base);
        let behind = end.saturating_sub(self.base).min(self.bytes);
        if first >= behind {
            return None;
        }
        let page = (first / PAGE_BYTES) as u32;
        Some(Run { first: page, pages: behind.div_ceil(PAGE_BYTES) as u32 - page })
    }

    /// The same, and says whether that is all of the range.
    #[inline]
    pub(crate) fn inside(&self, address: usize, bytes: usize) -> Option<Inside> {
        let run = self.touched_by(address, bytes)?;
        let whole = self.base <= address && address + bytes <= self.base + self.bytes;
        Some(if whole { Inside::All(run) } else { Inside::Part(run) })
    }

    /// Returns the parts of a range before and behind what is of the pool. Either may be empty.
    pub(crate) fn outside(
        &self,
        start: usize,
        bytes: usize,
        inside: Inside,
    ) -> [(usize, usize); 2] {
        let run = inside.run();
        let (first, behind) = (self.address_of(run.first), self.address_of(run.first + run.pages));
        [(start, first), (behind, start + bytes)]
    }

    /// Returns whether the program holds all pages of a run.
    pub(crate) fn is_held(&self, run: Run) -> bool {
        self.held.all(run)
    }

    /// Returns whether the program holds any page of a run.
    pub(crate) fn holds_any(&self, run: Run) -> bool {
        self.held.any(run)
    }

    /// Calls `each` with the longest runs of pages that the program holds, of a run.
    pub(crate) fn each_held(&self, run: Run, each: impl FnMut(Run)) {
        self.held.each(run, each);
    }

    /// Notes that the program is about to alter the mapping of pages. Returns whether it holds them all.
    /// If it does not, it must not alter anything.
    pub(crate) fn alter(&self, run: Run) -> bool {
        let held = self.held.all(run);
        if held {
            self.altered.set(run);
        }
        held
    }

    /// Returns whether pages are unmapped as they are given up, because the pool serves nobody any more.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed) // Relaxed: who comes too late leaves pages mapped.
    }

    /// Hands out a run of pages, at a multiple of its size rounded up to a power of two.
    pub(crate) fn allocate(&self, pages: u32, want: Want) -> Option<Run> {
        if self.is_retired() || self.is_full() {
            return None;
        }
        // One bit for each page that somebody has used.
        let mut used = [0_u64; 8];
        let first = if pages == 1 {
            self.pool.allocate_raw().map(|(page, contents)| {
                used[0] = u64::from(contents == Contents::Unknown);
                page.cast()
            })
        } else {
            let mut at = 0;
            self.pool.allocate_run_with(pages, |_, contents| {
                used[at / 64] |= u64::from(contents == Contents::Unknown) << (at % 64);
                at += 1;
            })
        };
        let Ok(first) = first else {
            // Relaxed: a hint.
            self.full.store(AFTER_FULL, Ordering::Relaxed);
            self.shares.own().add(Count::Full, 1);
            return None;
        };
        let run = Run { first: self.page_at(first.addr().get())?, pages };
        self.held.set(run);
        let used_pages: u32 = used.iter().map(|word| word.count_ones()).sum();
        let share = self.shares.own();
        share.take_idle(used_pages);
        if want == Want::Zero {
            share.add(Count::Zero, run.pages - used_pages);
            self.make_zero(share, run, &used, used_pages);
        }
        Some(run)
    }

    /// Returns whether the pool had no room a short while ago.
    fn is_full(&self) -> bool {
        // Relaxed: a hint. Where two threads count down at once, one step is lost.
        let full = self.full.load(Ordering::Relaxed);
        if full > 0 {
            self.full.store(full - 1, Ordering::Relaxed);
        }
        full > 0
    }

    /// Makes those pages of a run zero that somebody has used.
    fn make_zero(&self, share: &Share, run: Run, used: &[u64; 8], used_pages: u32) {
        if used_pages == 0 || self.touched.is_due(share, run.pages) && self.discard(share, run) {
            if run.pages >= touched::LEAST {
                self.fresh.set(Run { first: run.first, pages: 1 });
            }
            return;
        }
        share.add(Count::Cleared, used_pages);
        let is_used = |at: u32| used[(at / 64) as usize] >> (at % 64) & 1 != 0;
        let mut at = 0;
        while at < run.pages {
            let begin = at;
            while at < run.pages && is_used(at) == is_used(begin) {
                at += 1;
            }
            if is_used(begin) {
                let address = self.address_of(run.first + begin) as *mut u8;
                // SAFETY: the pages are ours, and nobody has their address yet.
                unsafe { address.write_bytes(0, (at - begin) as usize * PAGE_BYTES) };
            }
        }
    }

    /// Gives the memory of a run that this library has back to the system. Returns whether it is zero
    /// afterwards; otherwise it is what it was.
    fn discard(&self, share: &Share, run: Run) -> bool {
        let Some(first) = self.pointer_to(run.first) else { return false };
        // SAFETY: the pages are with this library.
        let zero = errno::preserved(|| unsafe { self.pool.give_back(first, run.pages) });
        if zero {
            share.add(Count::Discarded, run.pages);
        }
        zero
    }

    /// Takes pages back from the program. Those that it does not hold are left alone.
    pub(crate) fn release(&self, run: Run) {
        self.held.take(run, |held| {
            if self.is_retired() {
                // SAFETY: the pages were the program's, which has given them up.
                unsafe {
                    system::unmap(self.address_of(held.first), held.pages as usize * PAGE_BYTES);
                }
                return;
            }
            let mut rest = held;
            self.altered.take(held, |altered| {
                let clean = Run { first: rest.first, pages: altered.first - rest.first };
                self.put_back(clean);
                self.replace(altered);
                let end = altered.first + altered.pages;
                rest = Run { first: end, pages: held.first + held.pages - end };
            });
            self.put_back(rest);
        });
        self.let_time_pass();
    }

    /// Takes pages back from whose addresses the kernel has moved all memory.
    pub(crate) fn give_up_moved(&self, run: Run) {
        // What was left behind is empty. With a new mapping it is known to be zero, and as plain as any.
        self.altered.set(run);
        self.release(run);
    }

    /// Puts a new mapping in the place of pages, and returns them to the pool.
    fn replace(&self, run: Run) {
        self.fresh.take(run, |_| {});
        let share = self.shares.own();
        // SAFETY: the program has given the pages up.
        if unsafe { system::replace(self.address_of(run.first), run.pages as usize * PAGE_BYTES) } {
            share.add(Count::Replaced, run.pages);
            self.give(run, Contents::Zero);
        } else {
            // The process has as many mappings as it may have. The pages keep what was done to them, so
            // nobody gets them again.
            share.add(Count::Lost, run.pages);
            self.discard(share, run);
        }
    }

    /// Returns pages to the pool whose mapping is as it was.
    fn put_back(&self, run: Run) {
        if run.pages == 0 {
            return;
        }
        let share = self.shares.own();
        let mut fresh = false;
        if run.pages >= touched::LEAST {
            fresh = self.fresh.take_one(run.first);
            let dense = self.touched.is_dense(run.pages);
            // Of sizes of which little is touched, all are fresh, and one in some is measured.
            if fresh
                && (dense || self.touched.is_due(share, run.pages))
                && let Some(touched) = system::resident(self.address_of(run.first), run.pages)
            {
                self.touched.note(share, run, touched);
            }
        }
        let too_many = self.too_idle.load(Ordering::Relaxed); // Relaxed: a hint.
        let sparse = fresh && !self.touched.is_dense(run.pages);
        if (too_many || sparse) && self.discard(share, run) {
            self.give(run, Contents::Zero);
        } else {
            self.give(run, Contents::Unknown);
            if share.add_idle(run.pages) {
                self.look_at_idle();
            }
        }
    }

    /// Returns pages to the pool.
    fn give(&self, run: Run, contents: Contents) {
        let Some(first) = self.pointer_to(run.first) else { return };
        // SAFETY: the pages are with this library, which has taken the program's bits, and their bytes
        // are as they are said to be.
        unsafe {
            match run.pages {
                1 => self.pool.release_raw(first, contents),
                pages => self.pool.release_run_as(first, pages, contents),
            }
        }
    }

    /// Notes that a block of `malloc` begins at a page.
    pub(crate) fn begin_block(&self, run: Run) {
        // Relaxed: the program orders an allocation before its release.
        self.blocks[run.first as usize].store(run.pages, Ordering::Relaxed);
    }

    /// Returns the pages of the block that begins at a page, or 0.
    pub(crate) fn block_pages(&self, first: u32) -> u32 {
        self.blocks[first as usize].load(Ordering::Relaxed) // Relaxed: as above.
    }

    /// Takes the note of a block back. Where two threads free a block, just one gets its pages.
    pub(crate) fn end_block(&self, first: u32) -> Option<Run> {
        let pages = self.blocks[first as usize].swap(0, Ordering::Relaxed); // Relaxed: as above.
        (pages > 0).then_some(Run { first, pages })
    }

    /// Finds out whether too much lies idle.
    fn look_at_idle(&self) {
        let too_idle = self.shares.idle() >= (IDLE_BYTES / PAGE_BYTES) as i64;
        // Relaxed: a hint. It is written only where it changes, as all cores read it.
        if self.too_idle.load(Ordering::Relaxed) != too_idle {
            self.too_idle.store(too_idle, Ordering::Relaxed);
        }
    }

    /// Lets idle memory go from time to time.
    fn let_time_pass(&self) {
        if !self.shares.own().is_turn(CLOCK_CALLS) {
            return;
        }
        self.look_at_idle();
        let now = system::seconds();
        let last = self.decayed_at.load(Ordering::Relaxed); // Relaxed: who changes it does it.
        if now < last + DECAY_SECONDS
            || self
                .decayed_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        let decayed = errno::preserved(|| self.pool.decay());
        let share = self.shares.own();
        share.take_idle(decayed.frames);
        share.add(Count::Decayed, decayed.frames);
    }

    /// Serves nobody from now on, and unmaps all that is free. The program keeps what it has. So limits
    /// on the address space and locks on all memory are not met by what the pool keeps in store.
    pub(crate) fn retire(&self) {
        if self.retired.swap(true, Ordering::Relaxed) {
            return;
        }
        for pages in (0..10).rev().map(|order| 1_u32 << order) {
            loop {
                let taken = match pages {
                    1 => self.pool.allocate_raw().map(|(page, _)| page.cast()),
                    _ => self.pool.allocate_run_with(pages, |_, _| {}),
                };
                let Ok(first) = taken else { break };
                // SAFETY: the pages are ours, and never go back to the pool.
                unsafe { system::unmap(first.addr().get(), pages as usize * PAGE_BYTES) };
            }
        }
    }
}
