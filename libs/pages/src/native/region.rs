//! The memory of a pool: one range of addresses, of which only pages that were used take memory.

use core::ptr::NonNull;
use std::io;

use kilocore_platform::NodeId;

use super::PAGE_BYTES;
use super::giving_back;
use super::options::{Backing, PoolError};

const HUGE_BYTES: usize = 2 << 20;

/// A range of anonymous memory of this process.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    bytes: usize,
    /// What was mapped, which is more where the range had to be aligned.
    mapped: (NonNull<u8>, usize),
    /// Whether the system takes the memory of single pages back, and makes them zero by that.
    gives_back: bool,
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
        let used = pages as usize * PAGE_BYTES;
        // The slack is for the begin, which has to be aligned. Huge pages are, and each of them is precious.
        let (bytes, slack, flags) = match backing {
            Backing::Pages | Backing::Transparent => {
                (used.max(PAGE_BYTES), HUGE_BYTES, libc::MAP_NORESERVE)
            }
            // Reserved, so that a use does not fail later for want of a huge page. Their size is named, since
            // the system may prefer another.
            Backing::HugeTlb => {
                let bytes = used.max(PAGE_BYTES).next_multiple_of(HUGE_BYTES);
                (bytes, 0, libc::MAP_HUGETLB | libc::MAP_HUGE_2MB)
            }
        };
        let whole = bytes + slack;
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
            let source = io::Error::last_os_error();
            return Err(match backing {
                Backing::HugeTlb => PoolError::HugeTlb { huge_pages: bytes / HUGE_BYTES, source },
                Backing::Pages | Backing::Transparent => PoolError::Map { bytes: whole, source },
            });
        }
        let start = NonNull::new(address.cast::<u8>()).expect("the kernel maps nothing at zero");
        let skip = start.addr().get().next_multiple_of(HUGE_BYTES) - start.addr().get();
        // SAFETY: `skip` is less than 2 MiB, which the mapping has more than is needed; or it is zero, as the
        // mapping consists of huge pages.
        let base = unsafe { start.add(skip) };
        // No part of a huge page that was set aside goes back, whatever the system says.
        let gives_back = backing != Backing::HugeTlb && giving_back::makes_zero();
        let region = Self { base, bytes, mapped: (start, whole), gives_back };
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

    /// Gives the memory of pages back whose owner the caller is. They are zero afterwards. Returns whether that
    /// was possible; otherwise their bytes are what they were.
    pub(crate) fn give_back(&self, first: u32, pages: u32) -> bool {
        let start = self.page(first);
        // SAFETY: the pages are the caller's and nobody refers to their bytes.
        self.gives_back && unsafe { giving_back::give_back(start, pages as usize * PAGE_BYTES) }
    }

    /// Makes pages zero whose owner the caller is, and gives their memory back if that is possible.
    pub(crate) fn discard(&self, first: u32, pages: u32) {
        if !self.give_back(first, pages) {
            // Huge pages that were set aside, or locked memory.
            // SAFETY: the pages are the caller's and nobody refers to their bytes.
            unsafe { self.page(first).write_bytes(0, pages as usize * PAGE_BYTES) };
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
