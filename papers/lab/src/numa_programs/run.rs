//! A program that is ready to run, and what it says afterwards.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::numa_programs::barnes::Summary as Bodies;
use crate::numa_programs::cholesky::Summary as Factor;
use crate::numa_programs::error::WrongResult;
use crate::numa_programs::mp3d::Summary as Gas;
use crate::numa_programs::radix::Summary as Keys;

/// A program with its data, ready to run once.
///
/// Whoever has it starts as many threads as it was prepared for. Each calls
/// [`thread`](Self::thread) with an index of its own. Threads wait for each other, so all of them
/// have to run at the same time.
pub trait Run: Send + Sync {
    /// How many threads it takes.
    fn threads(&self) -> usize;

    /// Does the part of one thread. It returns when that part is done, while others may go on.
    ///
    /// # Panics
    /// If there is no such thread, or its part has begun before. If a thread panics, those that wait for
    /// it do so for ever.
    fn thread(&self, index: usize);

    /// Checks the result, once all threads have returned.
    ///
    /// # Errors
    /// [`WrongResult`] if a thread has not returned, or something is wrong with the result.
    fn check(&self) -> Result<Summary, WrongResult>;

    /// What only one thread uses: the thread, and addresses of whole pages.
    fn private_memory(&self) -> Vec<(usize, Range<usize>)>;

    /// What all threads may use: addresses of whole pages.
    fn shared_memory(&self) -> Vec<Range<usize>>;
}

/// What a checked result says of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Summary {
    /// What MP3D says of the gas.
    Mp3d(Gas),
    /// What BARNES says of the bodies.
    Barnes(Bodies),
    /// What CHOLESKY says of the factor.
    Cholesky(Factor),
    /// What RADIX says of the keys.
    Radix(Keys),
}

/// An algorithm with its data. [`Once`] makes a run of it.
pub(crate) trait Algorithm: Send + Sync {
    fn thread(&self, index: usize);
    fn check(&self) -> Result<Summary, WrongResult>;
    fn private_memory(&self) -> Vec<(usize, Range<usize>)>;
    fn shared_memory(&self) -> Vec<Range<usize>>;
}

/// A run that can happen once. Its own words are not of the platform, so they cost nothing there.
pub(crate) struct Once<A> {
    algorithm: A,
    begun: Vec<AtomicBool>,
    finished: AtomicUsize,
}

impl<A> Once<A> {
    pub(crate) fn new(algorithm: A, threads: usize) -> Self {
        let begun = (0..threads).map(|_| AtomicBool::new(false)).collect();
        Self { algorithm, begun, finished: AtomicUsize::new(0) }
    }
}

impl<A: Algorithm> Run for Once<A> {
    fn threads(&self) -> usize {
        self.begun.len()
    }

    fn thread(&self, index: usize) {
        let begun = self.begun[index].swap(true, Ordering::Relaxed);
        assert!(!begun, "thread {index} has begun before");
        self.algorithm.thread(index);
        // Release: whoever counts all threads sees what they have written.
        self.finished.fetch_add(1, Ordering::Release);
    }

    fn check(&self) -> Result<Summary, WrongResult> {
        let finished = self.finished.load(Ordering::Acquire);
        if finished < self.threads() {
            return Err(WrongResult::Unfinished { finished, threads: self.threads() });
        }
        self.algorithm.check()
    }

    fn private_memory(&self) -> Vec<(usize, Range<usize>)> {
        self.algorithm.private_memory()
    }

    fn shared_memory(&self) -> Vec<Range<usize>> {
        self.algorithm.shared_memory()
    }
}
