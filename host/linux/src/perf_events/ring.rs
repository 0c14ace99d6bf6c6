//! A buffer that the kernel fills with records and we empty.
//!
//! Its first page has two positions that only grow: the kernel writes up to the head, we have
//! read up to the tail. What lies between is ours, and the kernel loses records rather than write
//! over it. Positions are taken modulo the size, a power of two, so a record may begin at the end
//! of the buffer and go on at its beginning.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use perf_event_open_sys::bindings::perf_event_mmap_page;

use crate::perf_events::Event;

/// The buffer of an event.
#[derive(Debug)]
pub struct Ring {
    event: Event,
    map: MmapRaw,
    page: usize,
    size: usize,
}

/// The size of a page, in bytes.
#[must_use]
pub fn page_size() -> usize {
    // SAFETY: asks for a constant.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl Ring {
    /// Gives an event a buffer of so many pages, a power of two.
    ///
    /// # Errors
    /// Those of `mmap`, with the event: `EPERM` if that many bytes may not be locked in memory.
    pub fn new(event: Event, pages: usize) -> Result<Self, (Event, io::Error)> {
        let page = page_size();
        let size = pages * page;
        match MmapOptions::new().len(page + size).map_raw(event.fd()) {
            Ok(map) => Ok(Self { event, map, page, size }),
            Err(error) => Err((event, error)),
        }
    }

    /// Gives an event a buffer of so many pages, a power of two, or of fewer if that many may not be
    /// locked in memory.
    ///
    /// # Errors
    /// As [`Ring::new`], if not even one page may be.
    pub fn at_most(event: Event, pages: usize) -> Result<Self, (Event, io::Error)> {
        match Self::new(event, pages) {
            Err((event, error)) if pages > 1 && error.raw_os_error() == Some(libc::EPERM) => {
                Self::at_most(event, pages / 2)
            }
            result => result,
        }
    }

    /// How many pages the buffer has.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.size / self.page
    }

    /// The event, without its buffer.
    pub fn into_event(self) -> Event {
        self.event
    }

    /// The event, to be waited for.
    pub fn fd(&self) -> RawFd {
        self.event.fd()
    }

    /// The event whose records come through this buffer.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// How many records the kernel says were lost, of an event that counts them.
    pub fn lost(&self) -> io::Result<u64> {
        self.event.lost()
    }

    /// Appends what is in the buffer to `records`, whole records all, and empties it.
    pub fn drain(&mut self, records: &mut Vec<u8>) {
        let (head, tail) = self.positions();
        let head_now = head.load(Ordering::Acquire);
        let tail_now = tail.load(Ordering::Relaxed);
        // The kernel keeps it below the size; no copy depends on that it does.
        let length = usize::try_from(head_now.wrapping_sub(tail_now)).unwrap_or(0).min(self.size);
        let from = tail_now as usize & (self.size - 1);
        let before_end = length.min(self.size - from);
        self.copy(from, before_end, records);
        self.copy(0, length - before_end, records);
        tail.store(head_now, Ordering::Release);
    }

    fn positions(&self) -> (&AtomicU64, &AtomicU64) {
        let control = self.map.as_mut_ptr().cast::<perf_event_mmap_page>();
        // SAFETY: the map begins with this structure, page-aligned, and lives as long as `self`.
        // Both positions are aligned words that kernel and we access atomically only: the kernel
        // writes the head and we the tail.
        unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*control).data_head),
                AtomicU64::from_ptr(&raw mut (*control).data_tail),
            )
        }
    }

    fn copy(&self, from: usize, length: usize, records: &mut Vec<u8>) {
        debug_assert!(from + length <= self.size);
        // SAFETY: after the first page come `size` bytes of buffer, and the range is within them.
        // It lies between tail and head, where the kernel does not write: the acquire load of the
        // head saw all of it written, and the tail is moved after this.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(self.page + from), length) };
        records.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;
    use proptest::prelude::*;

    use super::*;
    use crate::perf_events::records::{record, records};

    /// A file in the place of an event: the test is the kernel.
    struct Played {
        file: File,
        head: u64,
    }

    impl Played {
        fn new() -> (Self, Ring) {
            let file = tempfile::tempfile().unwrap();
            file.set_len(2 * page_size() as u64).unwrap();
            // SAFETY: a file of ours, which keeps its length, and only this test writes it.
            let event = unsafe { Event::of(file.try_clone().unwrap().into()) };
            let ring = Ring::new(event, 1).unwrap();
            (Self { file, head: 0 }, ring)
        }

        /// Writes where the kernel would, a byte at a time.
        fn write(&mut self, bytes: &[u8]) {
            let page = page_size() as u64;
            for byte in bytes {
                self.file.write_all_at(&[*byte], page + self.head % page).unwrap();
                self.head += 1;
            }
            let offset = std::mem::offset_of!(perf_event_mmap_page, data_head) as u64;
            self.file.write_all_at(&self.head.to_ne_bytes(), offset).unwrap();
        }
    }

    proptest! {
        #[test]
        fn records_come_out_as_they_went_in(sizes in proptest::collection::vec(0usize..1500, 1..40)) {
            let (mut kernel, mut ring) = Played::new();
            let (mut written, mut read) = (Vec::new(), Vec::new());
            let mut filled = 0;
            for (index, size) in sizes.into_iter().enumerate() {
                let record = record(PERF_RECORD_SAMPLE, 0, &[&vec![index as u8; size]]);
                if filled + record.len() > page_size() {
                    ring.drain(&mut read);
                    filled = 0;
                }
                filled += record.len();
                kernel.write(&record);
                written.extend_from_slice(&record);
            }
            ring.drain(&mut read);
            prop_assert!(records(&read).all(|record| record.is_ok()));
            prop_assert!(read == written);
            ring.drain(&mut read);
            prop_assert!(read == written, "nothing comes twice");
        }
    }
}
