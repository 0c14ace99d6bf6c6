//! Using memory as a program does, and measuring how long it takes.

use core::ptr::NonNull;

use kilocore_pages::PAGE_BYTES;
use kilocore_platform::Cycles;

const WORDS_PER_PAGE: usize = PAGE_BYTES / 8;
const WORDS_PER_LINE: usize = 8;

/// Returns the time when all stores before have reached the cache. Nothing after it has begun.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn fenced_now() -> Cycles {
    use core::arch::x86_64::{_mm_lfence, _mm_mfence, _rdtsc};
    // SAFETY: every x86-64 has these instructions, and Linux lets programs read the time-stamp counter.
    let now = unsafe {
        _mm_mfence();
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    };
    Cycles(now)
}

/// Returns the time when all stores before have reached the cache. Nothing after it has begun.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn fenced_now() -> Cycles {
    use kilocore_platform::{Native, Platform};
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    Native::now()
}

/// Reads a word of each line of a page. Returns their sum, so that it is done.
///
/// # Safety
/// The page is initialized, and nobody writes to it meanwhile.
pub(crate) unsafe fn read(page: NonNull<u8>) -> u64 {
    // SAFETY: the caller's promise.
    let words = unsafe { page.cast::<[u64; WORDS_PER_PAGE]>().as_ref() };
    words.iter().step_by(WORDS_PER_LINE).fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Memory that a thread goes through again and again: so much that none of it is in a cache when its turn
/// comes.
#[derive(Debug)]
pub(crate) struct OtherMemory {
    words: Vec<u64>,
    next: usize,
    due: f64,
}

impl OtherMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        let pages = bytes.div_ceil(PAGE_BYTES).max(1);
        Self { words: vec![1; pages * WORDS_PER_PAGE], next: 0, due: 0.0 }
    }

    /// Goes on by so many pages. What is left over of a page counts the next time.
    pub(crate) fn walk(&mut self, pages: f64) {
        self.due += pages;
        while self.due >= 1.0 {
            self.due -= 1.0;
            let page = &mut self.words[self.next..self.next + WORDS_PER_PAGE];
            for word in page.iter_mut().step_by(WORDS_PER_LINE) {
                *word = word.wrapping_mul(3);
            }
            self.next = (self.next + WORDS_PER_PAGE) % self.words.len();
        }
    }
}
