//! Does what a trace says.

use core::hint::{black_box, spin_loop};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Action, Script, Step, Trace};
use kilocore_hardware::{CpuId, affinity, confine};
use kilocore_locks::Ttas;
use kilocore_pages::{
    Contents, OutOfPages, PAGE_BYTES, PagePolicy, PagePool, Policy, PoolError, PoolOptions,
    TieredOptions,
};
use kilocore_platform::{Cycles, Native, Platform};
use thiserror::Error;

use crate::replay::measured::Measured;
use crate::replay::memory::{OtherMemory, fenced_now, read};
use crate::replay::sizes::sizes_here;

/// What the program does with its memory, which no trace says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Program {
    /// The pages of other memory that it goes through for each page that it allocates.
    pub other_pages: f64,
    /// The share of released pages that it has used right before, from 0 to 1.
    pub used_before_release: f64,
}

/// Why a trace cannot be replayed here.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The pool cannot be made.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The pool has no page left, although it has several times what the trace holds.
    #[error(transparent)]
    OutOfPages(#[from] OutOfPages),
    /// The processors that this process may use cannot be found out.
    #[error("cannot find out which processors this process may use: {0}")]
    Cpus(io::Error),
}

/// A trace, dealt to the processors of this host.
#[derive(Debug)]
pub struct Replay {
    script: Script,
    cpus: Vec<CpuId>,
    frames: u32,
    program: Program,
    /// The bytes of other memory of each thread.
    other_bytes: usize,
}

/// The pool has several times what the trace holds, and at least 256 MiB.
const FRAMES_TIMES_HELD: u64 = 4;
const LEAST_FRAMES: u64 = 1 << 16;
/// Other memory of all threads together, in sizes of a last-level cache.
const OTHER_TIMES_CACHE: usize = 4;
/// For so long a thread that finds no page waits for one.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first eighth of each thread's steps is not measured: no list has anything at first.
const WARM_PARTS: usize = 8;

impl Replay {
    /// Deals a trace to the processors that this process may use.
    ///
    /// # Errors
    /// [`ReplayError::Cpus`].
    pub fn new(trace: &Trace, program: Program) -> Result<Self, ReplayError> {
        let cpus: Vec<_> = affinity(0).map_err(ReplayError::Cpus)?.iter().collect();
        let held = trace.header.contents.held_at_most;
        let frames = (held * FRAMES_TIMES_HELD).max(LEAST_FRAMES);
        let cache = TieredOptions::of_this_machine().shared_frames as usize * PAGE_BYTES;
        Ok(Self {
            script: Script::new(trace, cpus.len() as u32),
            frames: u32::try_from(frames).unwrap_or(u32::MAX),
            program,
            other_bytes: OTHER_TIMES_CACHE * cache / cpus.len().max(1),
            cpus,
        })
    }

    /// Returns how many processors do what the trace says.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.cpus.len()
    }

    /// Replays the trace under a policy.
    ///
    /// # Errors
    /// [`ReplayError`] if there is no memory for the pool.
    ///
    /// # Panics
    /// If a thread panics.
    pub fn run(&self, policy: Policy) -> Result<Measured, ReplayError> {
        let options = PoolOptions { guarded: false, ..PoolOptions::new(self.frames) };
        let pool = PagePool::with_policy(&options, |frames| {
            policy.make::<Native, Ttas<Native>>(&sizes_here(frames))
        })?;
        use_all(&pool)?;
        let run = Run {
            replay: self,
            pool: &pool,
            pages: (0..self.script.pages).map(|_| AtomicU64::new(0)).collect(),
            failed: AtomicU32::new(0),
            ready: Barrier::new(self.cpus.len()),
        };
        let measured = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.cpus.len())
                .map(|cpu| {
                    scope.spawn({
                        let run = &run;
                        move || run.work(cpu)
                    })
                })
                .collect();
            let mut all = Measured::default();
            for thread in threads {
                all.add(thread.join().expect("the thread does not panic"));
            }
            all
        });
        if run.failed.into_inner() > 0 {
            return Err(OutOfPages.into());
        }
        Ok(measured)
    }
}

/// Uses each page of a pool once, so that the system has given memory for it, and releases it again.
fn use_all<A: PagePolicy>(pool: &PagePool<A>) -> Result<(), OutOfPages> {
    let mut pages = Vec::new();
    for _ in 0..pool.pages() {
        let (page, _) = pool.allocate_raw()?;
        // SAFETY: the page is ours.
        unsafe { page.write_bytes(1, PAGE_BYTES) };
        pages.push(page.cast::<u8>());
    }
    for page in pages {
        // SAFETY: it was allocated above and is released once.
        unsafe { pool.release_raw(page, Contents::Unknown) };
    }
    pool.tick();
    Ok(())
}

/// One run of a trace.
struct Run<'a, A: PagePolicy> {
    replay: &'a Replay,
    pool: &'a PagePool<A>,
    /// For each page that is ever allocated, its address while it is held, 0 before and [`GONE`] after.
    pages: Vec<AtomicU64>,
    /// Pages that could not be had.
    failed: AtomicU32,
    ready: Barrier,
}

/// The address of a page that could not be had.
const GONE: u64 = u64::MAX;

impl<A: PagePolicy> Run<'_, A> {
    fn work(&self, thread: usize) -> Measured {
        let Replay { script, cpus, other_bytes, .. } = self.replay;
        // A thread that cannot be confined measures all the same.
        let _ = confine([cpus[thread]]);
        let mut other = OtherMemory::new(*other_bytes);
        let mut measured = Measured::default();
        let mut released = 0.0;
        let steps = &script.steps[thread];
        measured.initializations.reserve(steps.len());
        self.ready.wait();
        for (at, step) in steps.iter().enumerate() {
            if at == steps.len() / WARM_PARTS {
                measured = Measured {
                    initializations: Vec::with_capacity(steps.len()),
                    ..Measured::default()
                };
            }
            match step.action {
                Action::Allocate { zeroed } => {
                    self.allocate(step, zeroed, &mut measured);
                    other.walk(self.replay.program.other_pages * f64::from(step.pages));
                }
                Action::Release => self.release(step, &mut released, &mut measured),
            }
        }
        measured.initializations.sort_unstable();
        measured
    }

    fn allocate(&self, step: &Step, zeroed: bool, measured: &mut Measured) {
        let (first, took) = self.take(step.pages);
        measured.allocations.0 += took;
        measured.allocations.1 += 1;
        for at in 0..step.pages {
            let place = &self.pages[(step.first + at) as usize];
            let Ok(first) = first else {
                self.failed.fetch_add(1, Ordering::Relaxed);
                place.store(GONE, Ordering::Release);
                continue;
            };
            // SAFETY: the run has so many pages.
            let page = unsafe { first.add(at as usize * PAGE_BYTES) };
            let took = fill(page.cast());
            if zeroed {
                measured.initializations.push(took);
            }
            // Release: who releases the page sees what is in it.
            place.store(page.as_ptr().expose_provenance() as u64, Ordering::Release);
        }
    }

    /// Takes neighbouring pages, and says how long it took. The pool has several times as many pages as the trace
    /// holds. So if it has none, all are on a list that a thread holds which has lost its processor. Then this
    /// tries again; what is measured is the last try.
    fn take(&self, pages: u32) -> (Result<NonNull<MaybeUninit<u8>>, OutOfPages>, Cycles) {
        let mut deadline = None;
        loop {
            let start = Native::now();
            let first = match pages {
                1 => self.pool.allocate_raw().map(|(page, _)| page),
                pages => self.pool.allocate_run_uninit_raw(pages),
            };
            let took = Native::now().since(start);
            if first.is_ok() {
                return (first, took);
            }
            let now = Instant::now();
            if now > *deadline.get_or_insert(now + PATIENCE) {
                return (first, took);
            }
            thread::yield_now();
        }
    }

    fn release(&self, step: &Step, used: &mut f64, measured: &mut Measured) {
        let mut run: Option<(NonNull<u8>, u32)> = None;
        for at in 0..step.pages {
            let Some(page) = self.wait_for((step.first + at) as usize) else { continue };
            *used += self.replay.program.used_before_release;
            if *used >= 1.0 {
                *used -= 1.0;
                // SAFETY: the page is initialized, and only this thread has it.
                black_box(unsafe { read(page) });
            }
            run = match run {
                Some((first, pages))
                    if first.addr().get() + pages as usize * PAGE_BYTES == page.addr().get() =>
                {
                    Some((first, pages + 1))
                }
                _ => {
                    self.give_back(run, measured);
                    Some((page, 1))
                }
            };
        }
        self.give_back(run, measured);
    }

    /// Waits until a page has been allocated, and takes it. Returns `None` if it could not be had.
    fn wait_for(&self, page: usize) -> Option<NonNull<u8>> {
        let place = &self.pages[page];
        loop {
            // Acquire: pairs with the release of who has allocated it.
            match place.load(Ordering::Acquire) {
                0 if self.replay.cpus.len() == 1 => thread::yield_now(),
                0 => spin_loop(),
                GONE => return None,
                address => {
                    place.store(GONE, Ordering::Relaxed);
                    return NonNull::new(core::ptr::with_exposed_provenance_mut(address as usize));
                }
            }
        }
    }

    fn give_back(&self, run: Option<(NonNull<u8>, u32)>, measured: &mut Measured) {
        let Some((first, pages)) = run else { return };
        let start = Native::now();
        // SAFETY: the pages were allocated, and were taken out of the table by this thread.
        unsafe {
            match pages {
                1 => self.pool.release_raw(first, Contents::Unknown),
                _ => self.pool.release_run_raw(first, pages),
            }
        }
        measured.releases.0 += Native::now().since(start);
        measured.releases.1 += 1;
    }
}

/// Makes a page zero, and returns how long that took.
fn fill(page: NonNull<u8>) -> Cycles {
    let start = fenced_now();
    // SAFETY: the page is the caller's.
    unsafe { page.write_bytes(0, PAGE_BYTES) };
    fenced_now().since(start)
}
