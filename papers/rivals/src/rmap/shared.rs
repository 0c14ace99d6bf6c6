//! The objects that processes share: files, and families of anonymous areas.

use core::fmt;

use kilocore_ldu::Scheme;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

use crate::rmap::mapping::Tree;

/// The tree of a file or family, and how many refer to it. All of them write the word of this
/// count.
pub(crate) struct Shared<P: Platform, S: Scheme<P>> {
    pub(crate) mappings: S::Root<Tree<P>>,
    references: Padded<P::U64>,
}

impl<P: Platform, S: Scheme<P>> Shared<P, S> {
    fn new(scheme: &S) -> Self {
        let mappings = scheme.root(Tree::new());
        Self { mappings, references: Padded(P::U64::new(0)) }
    }

    /// Counts one more reference.
    pub(crate) fn refer(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one reference less.
    pub(crate) fn forget(&self) {
        self.references.fetch_sub(1, Ordering::Release);
    }
}

/// A file that is mapped, such as a program or a library. Areas refer to it.
pub struct File<P: Platform, F: Scheme<P>>(pub(crate) Shared<P, F>);

/// All anonymous areas that forks have derived from one area. Each `anon_vma` refers to it.
pub struct Family<P: Platform, A: Scheme<P>>(pub(crate) Shared<P, A>);

impl<P: Platform, F: Scheme<P>> File<P, F> {
    pub(crate) fn new(scheme: &F) -> Self {
        Self(Shared::new(scheme))
    }

    /// How many areas map the file.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.0.references.load(Ordering::Acquire)
    }
}

impl<P: Platform, A: Scheme<P>> Family<P, A> {
    pub(crate) fn new(scheme: &A) -> Self {
        Self(Shared::new(scheme))
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
