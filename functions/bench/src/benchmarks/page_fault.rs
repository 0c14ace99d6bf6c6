//! `page-fault` and `page-fault-file`: touching pages for the first time.
//!
//! The first touches private memory: for each page the kernel has to find a free page, clear it and
//! enter it into its lists. The second touches pages of a file in memory that all tasks map: the
//! kernel only has to look up the page and count a reference. Threads share the address space in
//! which the faults occur.

use std::fs::File;
use std::ops::Range;

use crate::environment::page_bytes;
use crate::sys::{self, Mapping};
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

/// Faults in private memory.
pub(super) struct Private;

const PRIVATE: Info = Info {
    name: "page-fault",
    title: "memory: first touches of private pages",
    operation: "a page of private memory touched first; each 1,024, mapping and unmapping them",
    source: "will-it-scale: page_fault1",
    default: Kind::Threads,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// Faults in a file that all tasks map.
pub(super) struct OfFile;

const OF_FILE: Info = Info {
    name: "page-fault-file",
    title: "memory: first touches of pages of a shared file",
    operation: "a page of a shared file written first; each 1,024, mapping and unmapping them",
    source: "after will-it-scale: page_fault3, which has a file for each task",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// How many pages a mapping has.
const PAGES: usize = 1024;
/// The distance in bytes from the byte that one task writes to that of the next task. It is two
/// cache lines, because some processors fetch lines in pairs. A page of 4 KiB has room for 32 such
/// bytes, so with more tasks some write to the same one.
const LINES_APART: usize = 128;

impl Benchmark for Private {
    fn info(&self) -> &'static Info {
        &PRIVATE
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Faulting::boxed(None, 0)
    }
}

impl Benchmark for OfFile {
    fn info(&self) -> &'static Info {
        &OF_FILE
    }

    fn prepare(&self, _resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        let bytes = PAGES * page_bytes();
        let file = sys::memory_file(bytes as u64)?;
        // Allocate the pages of the file now, so that this is not measured.
        let mapping = Mapping::shared(&file, bytes)?;
        touch(&mapping, page_bytes(), 0, 0..PAGES);
        Ok(Shared { files: vec![file], ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let page = page_bytes();
        let file = shared.file((PAGES * page) as u64)?;
        // All tasks write to the same pages, but to different cache lines.
        Faulting::boxed(Some(file), seat.index as usize * LINES_APART % page)
    }
}

struct Faulting {
    file: Option<File>,
    /// `None` as long as no mapping was made.
    mapping: Option<Mapping>,
    page: usize,
    /// The byte of each page that this task writes, as an offset into the page.
    offset: usize,
    /// How many pages were touched since the mapping was made.
    touched: usize,
}

impl Faulting {
    fn boxed(file: Option<File>, offset: usize) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Self { file, mapping: None, page: page_bytes(), offset, touched: 0 }))
    }

    /// Returns a mapping with pages left to touch. If a new one is needed, the old one is unmapped
    /// first: two at a time would take up twice the memory.
    fn mapping(&mut self) -> Result<&Mapping, Refusal> {
        if self.touched == PAGES {
            self.mapping = None;
            self.touched = 0;
        }
        match &mut self.mapping {
            Some(mapping) => Ok(mapping),
            none => Ok(none.insert(map(self.file.as_ref(), self.page)?)),
        }
    }
}

/// Makes a mapping, none of whose pages has been touched.
fn map(file: Option<&File>, page: usize) -> Result<Mapping, Refusal> {
    let bytes = PAGES * page;
    let Some(file) = file else {
        let mapping = Mapping::private(bytes)?;
        // Otherwise the first fault could map a huge page, and the others would not happen.
        // SAFETY: the advice is for exactly the memory that was just mapped.
        unsafe { libc::madvise(mapping.start().cast(), bytes, libc::MADV_NOHUGEPAGE) };
        return Ok(mapping);
    };
    Mapping::shared(file, bytes)
}

/// Writes one byte of each of these pages.
fn touch(mapping: &Mapping, page: usize, offset: usize, pages: Range<usize>) {
    assert!(offset < page && pages.end * page <= mapping.bytes());
    for index in pages {
        // SAFETY: the byte is inside the mapping, as was just checked. The mapping is writable, and
        // nobody reads the byte.
        unsafe { mapping.start().add(index * page + offset).write_volatile(1) };
    }
}

impl Task for Faulting {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let mut left = usize::try_from(operations).unwrap_or(usize::MAX);
        while left > 0 {
            let (page, offset) = (self.page, self.offset);
            let first = self.touched % PAGES;
            let count = left.min(PAGES - first);
            touch(self.mapping()?, page, offset, first..first + count);
            self.touched = first + count;
            left -= count;
        }
        Ok(())
    }
}
