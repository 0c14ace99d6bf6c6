//! What processes share: files, and families of anonymous areas.

use core::fmt;

use kilocore_ldu::Scheme;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

use crate::mapping::Tree;

/// A file that is mapped, such as a program or a library.
pub struct File<P: Platform, F: Scheme<P>> {
    pub(crate) mappings: F::Root<Tree<P>>,
    references: Padded<P::U64>,
}

/// The anonymous areas that forks have derived from one.
pub struct Family<P: Platform, A: Scheme<P>> {
    pub(crate) mappings: A::Root<Tree<P>>,
    references: Padded<P::U64>,
}

impl<P: Platform, F: Scheme<P>> File<P, F> {
    pub(crate) fn new(scheme: &F) -> Self {
        let mappings = scheme.root(Tree::new());
        Self { mappings, references: Padded(P::U64::new(0)) }
    }

    /// One more area refers to it.
    pub(crate) fn refer(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// One area less does.
    pub(crate) fn forget(&self) {
        self.references.fetch_sub(1, Ordering::Release);
    }

    /// How many areas map it.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.references.load(Ordering::Acquire)
    }
}

impl<P: Platform, A: Scheme<P>> Family<P, A> {
    pub(crate) fn new(scheme: &A) -> Self {
        let mappings = scheme.root(Tree::new());
        Self { mappings, references: Padded(P::U64::new(0)) }
    }

    /// It has one more `anon_vma`.
    pub(crate) fn refer(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// It has one less.
    pub(crate) fn forget(&self) {
        self.references.fetch_sub(1, Ordering::Release);
    }
}

impl<P: Platform, F: Scheme<P>> fmt::Debug for File<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("references", &self.references()).finish_non_exhaustive()
    }
}

impl<P: Platform, A: Scheme<P>> fmt::Debug for Family<P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family").finish_non_exhaustive()
    }
}
