//! Numbers that lie in the platform's memory.
//!
//! A program of these keeps its data in words: what a C program would load is a
//! [`get`](Word::get), and what it would store is a [`set`](Word::set). Each is one access to an
//! atomic of the platform, so the simulator sees every reference, and a race of the algorithm is not
//! one of Rust. Natively a relaxed access is an ordinary instruction.

use kilocore_platform::{Atomic, Ordering, Platform};

/// A number that fits into an atomic of the platform.
pub(crate) trait Datum<P: Platform>: Copy + 'static {
    /// The atomic of the platform that holds the number's bits.
    type Cell: Atomic;

    fn encode(self) -> <Self::Cell as Atomic>::Value;
    fn decode(bits: <Self::Cell as Atomic>::Value) -> Self;
}

impl<P: Platform> Datum<P> for u32 {
    type Cell = P::U32;

    #[inline(always)]
    fn encode(self) -> u32 {
        self
    }
    #[inline(always)]
    fn decode(bits: u32) -> Self {
        bits
    }
}

impl<P: Platform> Datum<P> for f32 {
    type Cell = P::U32;

    #[inline(always)]
    fn encode(self) -> u32 {
        self.to_bits()
    }
    #[inline(always)]
    fn decode(bits: u32) -> Self {
        Self::from_bits(bits)
    }
}

impl<P: Platform> Datum<P> for f64 {
    type Cell = P::U64;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn decode(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

/// A number in memory, as large as the number itself.
#[repr(transparent)]
pub(crate) struct Word<P: Platform, T: Datum<P>>(T::Cell);

impl<P: Platform, T: Datum<P>> Word<P, T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Atomic::new(value.encode()))
    }

    /// Loads the number, with relaxed ordering.
    #[inline(always)]
    pub(crate) fn get(&self) -> T {
        T::decode(self.0.load(Ordering::Relaxed))
    }

    /// Stores the number, with relaxed ordering.
    #[inline(always)]
    pub(crate) fn set(&self, value: T) {
        self.0.store(value.encode(), Ordering::Relaxed);
    }

    /// Loads it, and with it what was written before its [`publish`](Self::publish).
    #[inline(always)]
    pub(crate) fn follow(&self) -> T {
        T::decode(self.0.load(Ordering::Acquire))
    }

    /// Stores it, for whoever [follows](Self::follow) it to see what was written before.
    #[inline(always)]
    pub(crate) fn publish(&self, value: T) {
        self.0.store(value.encode(), Ordering::Release);
    }

    /// The atomic, to wait for it or to change it in one step.
    #[inline(always)]
    pub(crate) fn cell(&self) -> &T::Cell {
        &self.0
    }
}

impl<P: Platform, T: Datum<P> + core::ops::Add<Output = T>> Word<P, T> {
    /// Loads it and stores the sum. Additions by others in between are lost.
    #[inline(always)]
    pub(crate) fn add(&self, more: T) {
        self.set(self.get() + more);
    }
}

/// So many words of one value.
pub(crate) fn words<P: Platform, T: Datum<P>, const N: usize>(value: T) -> [Word<P, T>; N] {
    core::array::from_fn(|_| Word::new(value))
}

/// Loads a vector, component by component.
#[inline(always)]
pub(crate) fn vector<P: Platform, T: Datum<P>, const N: usize>(words: &[Word<P, T>; N]) -> [T; N] {
    core::array::from_fn(|axis| words[axis].get())
}

/// Stores a vector, component by component.
#[inline(always)]
pub(crate) fn set_vector<P: Platform, T: Datum<P>, const N: usize>(
    words: &[Word<P, T>; N],
    values: [T; N],
) {
    for (word, value) in words.iter().zip(values) {
        word.set(value);
    }
}
