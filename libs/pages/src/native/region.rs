//! The memory of a pool: one range of addresses, of which only pages that were used take memory.

use core::ptr::NonNull;
use std::io;

use kilocore_platform::NodeId;

use super::PAGE_BYTES;
use super::options::{Backing, PoolError};

const HUGE_BYTES: usize = 2 << 20;

/// A range of anonymous memory of this process.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    bytes: usize,
    /// What was mapped, which is more where the range had to be aligned.
    mapped: (NonNull<u8>, usize),
}

// SAFETY: it is memory of the process, which any thread may use. Who may use which page, the pool says.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Maps so many pages, all zero, at a multiple of 2 MiB.
    pub(crate) fn new(
        pages: u32,
        backing: Backing,
        node: Option<NodeId>,
    ) -> Result<Self, PoolError> {
        let bytes = (pages as usize * PAGE_BYTES).next_multiple_of(match backing {
            Backing::Pages | Backing::Transparent => PAGE_BYTES,
            Backing::HugeTlb => HUGE_BYTES,
        });
        let whole = bytes.max(PAGE_BYTES) + HUGE_BYTES;
        let flags = match backing {
            Backing::Pages | Backing::Transparent => libc::MAP_NORESERVE,
            // Reserved, so that a use does not fail later for want of a huge page.
            Backing::HugeTlb => libc::MAP_HUGETLB,
        };
        // SAFETY: a new anonymous mapping at an address that the kernel chooses harms nobody.
        let address = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                whole,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(PoolError::Map { bytes: whole, source: io::Error::last_os_error() });
        }
        let start = NonNull::new(address.cast::<u8>()).expect("the kernel maps nothing at zero");
        let skip = start.addr().get().next_multiple_of(HUGE_BYTES) - start.addr().get();
        // SAFETY: `skip` is less than 2 MiB, which the mapping has more than is needed.
        let base = unsafe { start.add(skip) };
        let region = Self { base, bytes, mapped: (start, whole) };
        if backing == Backing::Transparent {
            region.advise(libc::MADV_HUGEPAGE).map_err(PoolError::Transparent)?;
        }
        if let Some(node) = node {
            region.bind(node).map_err(|source| PoolError::Node { node, source })?;
        }
        Ok(region)
    }

    fn advise(&self, advice: libc::c_int) -> io::Result<()> {
        // SAFETY: the range is this mapping's, and the advice changes no bytes.
        match unsafe { libc::madvise(self.base.as_ptr().cast(), self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Prefers the memory of a NUMA node.
    fn bind(&self, node: NodeId) -> io::Result<()> {
        const MPOL_PREFERRED: libc::c_long = 1;
        let bits = u64::BITS as usize;
        let mut mask = vec![0_u64; node.0 as usize / bits + 1];
        mask[node.0 as usize / bits] = 1 << (node.0 as usize % bits);
        // SAFETY: the range is this mapping's, and the mask has as many bits as are named, and one more
        // is never read (the kernel takes one off).
        let result = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.base.as_ptr(),
                self.bytes,
                MPOL_PREFERRED,
                mask.as_ptr(),
                mask.len() * bits + 1,
                0,
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Returns the address of the first page.
    pub(crate) fn first(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the address of a page.
    #[inline]
    pub(crate) fn page(&self, number: u32) -> NonNull<u8> {
        debug_assert!((number as usize) < self.bytes / PAGE_BYTES, "the region has fewer pages");
        // SAFETY: the policy has as many frames as the region has pages, so that the sum stays inside.
        unsafe { self.base.add(number as usize * PAGE_BYTES) }
    }

    /// Returns the number of the page that begins at an address, if one does.
    #[inline]
    pub(crate) fn number(&self, address: NonNull<u8>) -> Option<u32> {
        let offset = address.addr().get().wrapping_sub(self.base.addr().get());
        (offset < self.bytes && offset.is_multiple_of(PAGE_BYTES))
            .then_some((offset / PAGE_BYTES) as u32)
    }

    /// Makes pages zero whose owner the caller is, and gives their memory back if that is possible.
    pub(crate) fn discard(&self, first: u32, pages: u32) {
        let start = self.page(first);
        let bytes = pages as usize * PAGE_BYTES;
        // SAFETY: the pages are the caller's and nobody refers to their bytes; anonymous private memory
        // reads as zero afterwards.
        let result = unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
        if result != 0 {
            // Locked memory, or a part of a huge page.
            // SAFETY: as above.
            unsafe { start.write_bytes(0, bytes) };
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let (start, bytes) = self.mapped;
        // SAFETY: the mapping is ours, and all that borrowed from it has ended.
        unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    }
}
