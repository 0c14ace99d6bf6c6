//! How long it takes to initialize a page that was allocated on one core and is released on another.
//!
//! A producer allocates a page, makes it zero, and hands it over. A consumer on another core reads it and
//! releases it. In between each of the two walks on through a working set of its own, a page of it for each
//! page handed over. Measured is the time from before the first byte is written until all of them are in the
//! cache (a fence), in cycles of the time-stamp counter.

use std::hint::spin_loop;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use kilocore_hardware::CpuId;
use kilocore_page_trace::replay::fenced_now;
use kilocore_pages::PAGE_BYTES;
use kilocore_platform::Cycles;

use crate::page_pools::subjects::Pages;

/// The pages that are on their way to the consumer.
const QUEUE: usize = 64;

/// On which processors pages are handed over, beside which working set, and how many of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// The producer's and the consumer's processor.
    pub(crate) cpus: [CpuId; 2],
    /// The working set of both together, in bytes.
    pub(crate) working_set: usize,
    /// The pages that are handed over before measuring.
    pub(crate) before: usize,
    /// The pages that are measured.
    pub(crate) measured: usize,
}

/// What initializing pages cost the producer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    /// How long the initialization of each measured page took.
    pub(crate) cycles: Vec<Cycles>,
    /// Nanoseconds for a page, all in all.
    pub(crate) nanoseconds_per_page: f64,
}

impl Measured {
    pub(crate) fn mean(&self) -> f64 {
        self.cycles.iter().map(|cycles| cycles.0 as f64).sum::<f64>() / self.cycles.len() as f64
    }
}

/// A queue between two threads, which watch it.
struct Queue {
    slots: [AtomicUsize; QUEUE],
}

impl Queue {
    fn put(&self, at: usize, page: NonNull<u8>) {
        let slot = &self.slots[at % QUEUE];
        while slot.load(Ordering::Acquire) != 0 {
            spin_loop();
        }
        slot.store(page.as_ptr().expose_provenance(), Ordering::Release);
    }

    fn take(&self, at: usize) -> NonNull<u8> {
        let slot = &self.slots[at % QUEUE];
        loop {
            let address = slot.load(Ordering::Acquire);
            if let Some(page) = NonNull::new(std::ptr::with_exposed_provenance_mut(address)) {
                slot.store(0, Ordering::Release);
                return page;
            }
            spin_loop();
        }
    }
}

/// Memory that a thread walks through again and again.
struct WorkingSet {
    words: Vec<u64>,
    next: usize,
}

const WORDS_PER_PAGE: usize = PAGE_BYTES / 8;
const WORDS_PER_LINE: usize = 8;

impl WorkingSet {
    fn new(bytes: usize) -> Self {
        Self { words: vec![1; bytes / 8 / WORDS_PER_PAGE * WORDS_PER_PAGE], next: 0 }
    }

    /// Changes a word of each line of the next page.
    fn walk(&mut self) {
        let Some(page) = self.words.get_mut(self.next..self.next + WORDS_PER_PAGE) else { return };
        for word in page.iter_mut().step_by(WORDS_PER_LINE) {
            *word = word.wrapping_mul(3);
        }
        self.next += WORDS_PER_PAGE;
        if self.next == self.words.len() {
            self.next = 0;
        }
    }
}

/// Hands pages over and measures.
pub(crate) fn hand_over(pages: &dyn Pages, setting: Setting) -> Measured {
    let queue = Queue { slots: [const { AtomicUsize::new(0) }; QUEUE] };
    let all = setting.before + setting.measured;
    let ready = Barrier::new(2);
    let confine = |cpu: CpuId| {
        kilocore_hardware::confine([cpu]).expect("the process may use the processor");
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            confine(setting.cpus[1]);
            let mut own = WorkingSet::new(setting.working_set / 2);
            ready.wait();
            for at in 0..all {
                let page = queue.take(at);
                // SAFETY: the producer has initialized it and handed it over.
                let words = unsafe { page.cast::<[u64; WORDS_PER_PAGE]>().as_ref() };
                assert_eq!(words.iter().step_by(WORDS_PER_LINE).sum::<u64>(), 0);
                own.walk();
                // SAFETY: the producer took it, and nobody uses it any more.
                unsafe { pages.give(page) };
            }
        });
        let producer = scope.spawn(|| {
            confine(setting.cpus[0]);
            let mut own = WorkingSet::new(setting.working_set / 2);
            let mut measured = Measured::default();
            measured.cycles.reserve(setting.measured);
            ready.wait();
            let mut start = Instant::now();
            for at in 0..all {
                if at == setting.before {
                    start = Instant::now();
                }
                let page = pages.take();
                let before = fenced_now();
                // SAFETY: the page was taken above.
                unsafe { page.write_bytes(0, PAGE_BYTES) };
                let after = fenced_now();
                if at >= setting.before {
                    measured.cycles.push(after.since(before));
                }
                queue.put(at, page);
                own.walk();
            }
            measured.nanoseconds_per_page =
                start.elapsed().as_nanos() as f64 / setting.measured as f64;
            measured
        });
        producer.join().expect("no panic")
    })
}
