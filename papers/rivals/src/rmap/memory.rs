//! The operations that update the reverse mapping, and those that walk it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

use kilocore_ldu::adapters::Overlap;
use kilocore_ldu::{Detached, Scheme};
use kilocore_platform::Platform;

use crate::rmap::mapping::{Entry, Mapping, Page, ProcessId, one};
use crate::rmap::process::{AnonymousLink, Area, FileLink, Process, Region};
use crate::rmap::shared::{Family, File};

/// The memory of a machine. Scheme `F` shares its reverse mapping of files, and scheme `A` that of
/// anonymous memory.
#[derive(Debug)]
pub struct Memory<P, F, A> {
    files: F,
    anonymous: A,
    platform: PhantomData<P>,
}

/// The state that a thread needs to work on a [`Memory`].
#[derive(Debug)]
pub struct Context<P: Platform, F: Scheme<P>, A: Scheme<P>> {
    files: F::Thread,
    anonymous: A::Thread,
}

impl<P: Platform, F: Scheme<P>, A: Scheme<P>> Memory<P, F, A> {
    /// Creates the memory of a machine with this many cores.
    pub fn new(cores: u32) -> Self {
        Self { files: F::new(cores), anonymous: A::new(cores), platform: PhantomData }
    }

    /// Returns the state that the calling thread needs.
    pub fn context(&self) -> Context<P, F, A> {
        Context { files: self.files.thread(), anonymous: self.anonymous.thread() }
    }

    /// Creates a file that no process maps yet.
    pub fn file(&self) -> Arc<File<P, F>> {
        Arc::new(File::new(&self.files))
    }

    /// Starts a program, as `execve` does in a process that has no memory yet.
    pub fn exec(
        &self,
        id: ProcessId,
        layout: &[Region<P, F>],
        context: &mut Context<P, F, A>,
    ) -> Process<P, F, A> {
        let mut process = Process { id, areas: Vec::with_capacity(layout.len()) };
        for region in layout {
            self.mmap(&mut process, region, context);
        }
        process
    }

    /// Maps one more area.
    pub fn mmap(
        &self,
        process: &mut Process<P, F, A>,
        region: &Region<P, F>,
        context: &mut Context<P, F, A>,
    ) {
        let &Region { start, pages, ref file, written } = region;
        let mapping = Mapping { process: process.id, area: start };
        let file = file.as_ref().map(|(file, offset)| {
            self.link_file(Arc::clone(file), *offset, pages, mapping, context)
        });
        let mut area = Area { start, pages, file, anonymous: Vec::new() };
        if written {
            let family = Arc::new(Family::new(&self.anonymous));
            self.add_anon_vma(&mut area, family, mapping, context);
        }
        process.areas.push(area);
    }

    /// Unmaps an area, given by its index among the process's areas.
    ///
    /// # Panics
    /// If the process has fewer areas.
    pub fn munmap(
        &self,
        process: &mut Process<P, F, A>,
        area: usize,
        context: &mut Context<P, F, A>,
    ) {
        let area = process.areas.remove(area);
        self.unlink(area, context);
    }

    /// Makes a copy of a process.
    pub fn fork(
        &self,
        parent: &Process<P, F, A>,
        id: ProcessId,
        context: &mut Context<P, F, A>,
    ) -> Process<P, F, A> {
        let mut child = Process { id, areas: Vec::with_capacity(parent.areas.len()) };
        for area in &parent.areas {
            child.areas.push(self.copy(area, id, context));
        }
        child
    }

    fn copy(
        &self,
        area: &Area<P, F, A>,
        id: ProcessId,
        context: &mut Context<P, F, A>,
    ) -> Area<P, F, A> {
        let &Area { start, pages, .. } = area;
        let mapping = Mapping { process: id, area: start };
        let mut copy = Area {
            start,
            pages,
            file: None,
            anonymous: Vec::with_capacity(area.anonymous.len() + 1),
        };
        // Pages of the parent may have been born in any of its `anon_vma`s, and the child maps them
        // as well now. All these `anon_vma`s are of one family, whose lock Linux takes once for all
        // of them.
        if let Some(AnonymousLink { family, .. }) = area.anonymous.first() {
            let anon_vmas: Vec<_> = area.anonymous.iter().map(|link| link.anon_vma).collect();
            self.link_anonymous(&mut copy, family, &anon_vmas, mapping, context);
        }
        if let Some(own) = area.anonymous.last() {
            self.add_anon_vma(&mut copy, Arc::clone(&own.family), mapping, context);
        }
        copy.file =
            area.file.as_ref().map(|link| self.copy_file_link(link, pages, mapping, context));
        copy
    }

    /// Ends a process: its areas leave the trees of their files and families.
    pub fn exit(&self, process: Process<P, F, A>, context: &mut Context<P, F, A>) {
        for area in process.areas {
            self.unlink(area, context);
        }
    }

    /// Calls `found` for each area that maps one of `pages` of a file. Migration and reclaim ask
    /// for one page; truncation asks for all pages from some page on.
    pub fn walk_file(
        &self,
        file: &File<P, F>,
        pages: core::ops::RangeInclusive<u64>,
        found: &mut dyn FnMut(Mapping),
        context: &mut Context<P, F, A>,
    ) {
        let query = Overlap { start: *pages.start(), last: *pages.end() };
        let mut show = |entry: &Entry<P>| found(entry.value);
        self.files.search(&file.0.mappings, &query, &mut show, &mut context.files);
    }

    /// Calls `found` for each area that may map an anonymous page that was born in an `anon_vma` of
    /// `family`.
    pub fn walk_anonymous(
        &self,
        family: &Family<P, A>,
        anon_vma: ProcessId,
        page: Page,
        found: &mut dyn FnMut(Mapping),
        context: &mut Context<P, F, A>,
    ) {
        let query = one(page.of(anon_vma));
        let mut show = |entry: &Entry<P>| found(entry.value);
        self.anonymous.search(&family.0.mappings, &query, &mut show, &mut context.anonymous);
    }

    /// Applies all deferred updates to a file's tree.
    pub fn synchronize_file(&self, file: &File<P, F>, context: &mut Context<P, F, A>) {
        self.files.synchronize(&file.0.mappings, &mut context.files);
    }

    /// Applies all deferred updates to the tree of a family of anonymous areas.
    pub fn synchronize_anonymous(&self, family: &Family<P, A>, context: &mut Context<P, F, A>) {
        self.anonymous.synchronize(&family.0.mappings, &mut context.anonymous);
    }

    fn link_file(
        &self,
        file: Arc<File<P, F>>,
        offset: Page,
        pages: u64,
        mapping: Mapping,
        context: &mut Context<P, F, A>,
    ) -> FileLink<P, F> {
        file.0.refer();
        let entry = Detached::new(Entry::new(offset.0, offset.0 + pages - 1, mapping));
        let entry = self.files.insert(&file.0.mappings, entry, &mut context.files);
        FileLink { file, offset, entry }
    }

    /// Links a copy of an area to the file, beside the original, like Linux's
    /// `vma_interval_tree_insert_after`.
    fn copy_file_link(
        &self,
        original: &FileLink<P, F>,
        pages: u64,
        mapping: Mapping,
        context: &mut Context<P, F, A>,
    ) -> FileLink<P, F> {
        let FileLink { file, offset, entry: near } = original;
        file.0.refer();
        let entry = Detached::new(Entry::new(offset.0, offset.0 + pages - 1, mapping));
        let entry = self.files.insert_near(&file.0.mappings, entry, near, &mut context.files);
        FileLink { file: Arc::clone(file), offset: *offset, entry }
    }

    /// Creates an `anon_vma` for an area in a family and links the area to it.
    fn add_anon_vma(
        &self,
        area: &mut Area<P, F, A>,
        family: Arc<Family<P, A>>,
        mapping: Mapping,
        context: &mut Context<P, F, A>,
    ) {
        family.0.refer();
        self.link_anonymous(area, &family, &[mapping.process], mapping, context);
    }

    /// Links an area to `anon_vma`s of a family.
    fn link_anonymous(
        &self,
        area: &mut Area<P, F, A>,
        family: &Arc<Family<P, A>>,
        anon_vmas: &[ProcessId],
        mapping: Mapping,
        context: &mut Context<P, F, A>,
    ) {
        let entry = |&anon_vma: &ProcessId| {
            let first = area.start.of(anon_vma);
            Detached::new(Entry::new(first, first + area.pages - 1, mapping))
        };
        let entries = anon_vmas.iter().map(entry).collect();
        let root = &family.0.mappings;
        let entries = self.anonymous.insert_all(root, entries, &mut context.anonymous);
        let link =
            |(&anon_vma, entry)| AnonymousLink { family: Arc::clone(family), anon_vma, entry };
        area.anonymous.extend(anon_vmas.iter().zip(entries).map(link));
    }

    fn unlink(&self, area: Area<P, F, A>, context: &mut Context<P, F, A>) {
        if let Some(own) = area.anonymous.last() {
            // All links are removed under one acquisition of their family's lock, as in Linux.
            let family = Arc::clone(&own.family);
            let entries = area.anonymous.into_iter().map(|link| link.entry).collect();
            let root = &family.0.mappings;
            let entries = self.anonymous.remove_all(root, entries, &mut context.anonymous);
            for entry in entries {
                self.anonymous.release(entry, &mut context.anonymous);
            }
            family.0.forget();
        }
        if let Some(link) = area.file {
            let root = &link.file.0.mappings;
            let entry = self.files.remove(root, link.entry, &mut context.files);
            self.files.release(entry, &mut context.files);
            link.file.0.forget();
        }
    }
}
