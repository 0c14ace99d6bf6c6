//! Processes, as their areas of memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use kilocore_ldu::{Attached, Scheme};
use kilocore_platform::Platform;

use crate::mapping::{Entry, Page, ProcessId};
use crate::shared::{Family, File};

/// An area that is to be mapped.
#[derive(Debug)]
pub struct Region<P: Platform, F: Scheme<P>> {
    /// Where it begins in the address space.
    pub start: Page,
    /// How many pages it has; not none.
    pub pages: u64,
    /// What is mapped, from which page on; nothing for anonymous memory.
    pub file: Option<(Arc<File<P, F>>, Page)>,
    /// Whether pages of it are written that the process does not share, so that there are
    /// anonymous ones among them.
    pub written: bool,
}

/// The areas of a program after its start.
pub type Layout<P, F> = Vec<Region<P, F>>;

/// A mapped area.
pub struct Area<P: Platform, F: Scheme<P>, A: Scheme<P>> {
    pub(crate) start: Page,
    pub(crate) pages: u64,
    pub(crate) file: Option<FileLink<P, F>>,
    /// The `anon_vma`s that pages of this area may have been born in, the oldest first. The last
    /// one is the area's own.
    pub(crate) anonymous: Vec<AnonymousLink<P, A>>,
}

/// An area's place in a file's tree.
pub(crate) struct FileLink<P: Platform, F: Scheme<P>> {
    pub(crate) file: Arc<File<P, F>>,
    pub(crate) offset: Page,
    pub(crate) entry: Attached<F::Hook, Entry<P>>,
}

/// An area's place in the tree of a family: Linux's `anon_vma_chain`.
pub(crate) struct AnonymousLink<P: Platform, A: Scheme<P>> {
    pub(crate) family: Arc<Family<P, A>>,
    /// The `anon_vma`, by the process that it was made for.
    pub(crate) anon_vma: ProcessId,
    pub(crate) entry: Attached<A::Hook, Entry<P>>,
}

/// A process. Ends by [`Memory::exit`](crate::Memory::exit): one that is dropped stays mapped.
#[must_use = "a process that is dropped stays in every tree"]
pub struct Process<P: Platform, F: Scheme<P>, A: Scheme<P>> {
    pub(crate) id: ProcessId,
    pub(crate) areas: Vec<Area<P, F, A>>,
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> Process<P, F, A> {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> ProcessId {
        self.id
    }

    /// Its areas, in the order in which they were mapped.
    #[must_use]
    pub fn areas(&self) -> &[Area<P, F, A>] {
        &self.areas
    }
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> Area<P, F, A> {
    /// Where it begins.
    #[must_use]
    pub fn start(&self) -> Page {
        self.start
    }

    /// How many pages it has.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The file that it maps, and from which page on.
    #[must_use]
    pub fn file(&self) -> Option<(&Arc<File<P, F>>, Page)> {
        self.file.as_ref().map(|link| (&link.file, link.offset))
    }

    /// The families and `anon_vma`s in which it is, the oldest first.
    pub fn anon_vmas(&self) -> impl ExactSizeIterator<Item = (&Arc<Family<P, A>>, ProcessId)> {
        self.anonymous.iter().map(|link| (&link.family, link.anon_vma))
    }
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> fmt::Debug for Area<P, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Area")
            .field("start", &self.start)
            .field("pages", &self.pages)
            .field("maps_file", &self.file.is_some())
            .field("anon_vmas", &self.anonymous.len())
            .finish()
    }
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> fmt::Debug for Process<P, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.id).field("areas", &self.areas).finish()
    }
}
