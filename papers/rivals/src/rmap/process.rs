//! Processes, which consist of areas of memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use kilocore_ldu::{Attached, Scheme};
use kilocore_platform::Platform;

use crate::rmap::mapping::{Entry, Page, ProcessId};
use crate::rmap::shared::{Family, File};

/// An area that is about to be mapped.
#[derive(Debug)]
pub struct Region<P: Platform, F: Scheme<P>> {
    /// Where it begins in the address space.
    pub start: Page,
    /// How many pages it has, at least one.
    pub pages: u64,
    /// The file that is mapped and the page of it with which the area begins. `None` for anonymous
    /// memory.
    pub file: Option<(Arc<File<P, F>>, Page)>,
    /// Whether the process writes pages of the area that it does not share. Such pages are
    /// anonymous, even if the area maps a file.
    pub written: bool,
}

/// The areas of a program after its start.
pub type Layout<P, F> = Vec<Region<P, F>>;

/// A mapped area of a process: pages that follow one another, and the links by which a page's
/// mappings are found.
pub struct Area<P: Platform, F: Scheme<P>, A: Scheme<P>> {
    pub(crate) start: Page,
    pub(crate) pages: u64,
    pub(crate) file: Option<FileLink<P, F>>,
    /// The `anon_vma`s in which pages of this area may have been born, the oldest first. The last
    /// one is the area's own.
    pub(crate) anonymous: Vec<AnonymousLink<P, A>>,
}

/// An area's entry in a file's tree.
pub(crate) struct FileLink<P: Platform, F: Scheme<P>> {
    pub(crate) file: Arc<File<P, F>>,
    pub(crate) offset: Page,
    pub(crate) entry: Attached<F::Hook, Entry<P>>,
}

/// An area's entry in the tree of a family: Linux's `anon_vma_chain`.
pub(crate) struct AnonymousLink<P: Platform, A: Scheme<P>> {
    pub(crate) family: Arc<Family<P, A>>,
    /// The `anon_vma`, named by the process for which it was made.
    pub(crate) anon_vma: ProcessId,
    pub(crate) entry: Attached<A::Hook, Entry<P>>,
}

/// A process. [`Memory::exit`](crate::rmap::Memory::exit) ends it. A process that is dropped instead
/// stays mapped.
#[must_use = "a process that is dropped stays in every tree"]
pub struct Process<P: Platform, F: Scheme<P>, A: Scheme<P>> {
    pub(crate) id: ProcessId,
    pub(crate) areas: Vec<Area<P, F, A>>,
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> Process<P, F, A> {
    /// Returns the number of the process.
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
    /// The first page of the area in the address space.
    #[must_use]
    pub fn start(&self) -> Page {
        self.start
    }

    /// How many pages it has.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The file that it maps, and the page of it with which the area begins.
    #[must_use]
    pub fn file(&self) -> Option<(&Arc<File<P, F>>, Page)> {
        self.file.as_ref().map(|link| (&link.file, link.offset))
    }

    /// The families and `anon_vma`s to which it is linked, the oldest first.
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
