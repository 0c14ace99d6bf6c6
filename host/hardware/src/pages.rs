//! What the kernel takes for pages: the first touch of one, one more of a file around it, and giving them back.
//!
//! In the first round, a virtual machine may have to be given the memory that it gives; that round does not count.

use std::fs::File;
use std::io::{Error, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::time::Instant;

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::pinned::Pinned;

/// What pages cost, in ns each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageCosts {
    /// The first touch, besides zeroing it.
    pub(crate) fault: f64,
    /// One more page of a file, of those around the one that is touched.
    pub(crate) file_page: f64,
    /// Giving it back.
    pub(crate) unmap: f64,
}

const PAGE: usize = 4096;
/// Pages that are touched in a round: some ten milliseconds.
const PAGES: usize = 8192;
const ROUNDS: usize = 7;
/// Pages of a file that Linux maps at a fault, where nobody has changed that.
const AROUND: f64 = 16.0;
/// The least that a figure may be.
const LEAST: f64 = 1.0;

/// Measures them on a processor. None if the system gives no memory, or is too busy to tell.
pub(crate) fn page_costs(cpu: u32) -> Result<Option<PageCosts>, MeasureError> {
    let _here = Pinned::to(cpu)?;
    let (Some(anonymous), Some(of_file)) =
        (rounds(None), in_memory().and_then(|file| rounds(Some(&file))))
    else {
        return Ok(None);
    };
    let fault = anonymous.touch - anonymous.zero;
    let file_page = of_file.touch - fault / AROUND;
    let unmap = f64::midpoint(anonymous.unmap, of_file.unmap);
    // One that is nothing or less was disturbed.
    let costs = PageCosts { fault, file_page, unmap };
    Ok([fault, file_page, unmap].iter().all(|ns| *ns >= LEAST).then_some(costs))
}

/// What a page took in a round, in ns.
#[derive(Debug, Clone, Copy)]
struct Round {
    touch: f64,
    /// Writing zeros to it, as the kernel does before.
    zero: f64,
    unmap: f64,
}

/// The median of some rounds: of a file's pages, which are read, or of others, which are written.
fn rounds(file: Option<&File>) -> Option<Round> {
    let rounds: Vec<Round> = (0..=ROUNDS).map_while(|_| round(file)).skip(1).collect();
    let median = |of: fn(&Round) -> f64| lower_median(rounds.iter().map(of));
    Some(Round {
        touch: median(|round| round.touch)?,
        zero: median(|round| round.zero)?,
        unmap: median(|round| round.unmap)?,
    })
}

fn round(file: Option<&File>) -> Option<Round> {
    let pages = Pages::map(file)?;
    let each = |since: Instant| since.elapsed().as_nanos() as f64 / PAGES as f64;
    let start = Instant::now();
    for page in pages.all() {
        match file {
            // SAFETY: the page is mapped, and readable.
            Some(_) => _ = unsafe { page.read_volatile() },
            // SAFETY: the page is mapped and writable, and nobody else has it.
            None => unsafe { page.write_volatile(1) },
        }
    }
    let touch = each(start);
    let start = Instant::now();
    if file.is_none() {
        // SAFETY: as above; all of the page is.
        pages.all().for_each(|page| unsafe { page.write_bytes(0, PAGE) });
    }
    let zero = each(start);
    let start = Instant::now();
    drop(pages);
    Some(Round { touch, zero, unmap: each(start) })
}

/// A file of so many pages that is in memory.
fn in_memory() -> Option<File> {
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::memfd_create(c"kilocore-pages".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: a descriptor that the system has just given, and nobody else has.
    let mut file = (descriptor >= 0).then(|| unsafe { File::from_raw_fd(descriptor) })?;
    (0..PAGES).try_for_each(|_| file.write_all(&[1; PAGE])).ok()?;
    Some(file)
}

/// Pages that nobody has touched yet.
#[derive(Debug)]
struct Pages(*mut u8);

impl Pages {
    fn map(file: Option<&File>) -> Option<Self> {
        let (access, kind, descriptor) = match file {
            Some(file) => (libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd()),
            None => {
                let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                (libc::PROT_READ | libc::PROT_WRITE, kind, -1)
            }
        };
        // SAFETY: a fresh mapping that replaces nothing.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), PAGES * PAGE, access, kind, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: advice on our own mapping. A kernel without huge pages refuses it, and gives none.
        unsafe { libc::madvise(start, PAGES * PAGE, libc::MADV_NOHUGEPAGE) };
        Some(Self(start.cast()))
    }

    /// The first byte of each page.
    fn all(&self) -> impl Iterator<Item = *mut u8> {
        let start = self.0;
        // SAFETY: all are inside of the mapping.
        (0..PAGES).map(move |page| unsafe { start.add(page * PAGE) })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody uses it any more.
        let unmapped = unsafe { libc::munmap(self.0.cast(), PAGES * PAGE) };
        debug_assert_eq!(unmapped, 0, "{}", Error::last_os_error());
    }
}

#[cfg(test)]
mod tests {
    use super::page_costs;
    use crate::pinned::allowed;

    #[test]
    fn pages_take_some_time() {
        let cpu = *allowed().first().expect("it runs somewhere");
        // A host may be too busy to tell.
        let Some(costs) = page_costs(cpu).expect("it may run there") else { return };
        for ns in [costs.fault, costs.file_page, costs.unmap] {
            assert!((1.0..1e6).contains(&ns), "{costs:?}");
        }
    }
}
