//! Pages in somebody's hands.

use core::fmt;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use super::options::OutOfPages;
use super::pool::PagePool;
use super::{PAGE_BYTES, PageBytes};
use crate::frame::Contents;
use crate::policy::PagePolicy;

impl<A: PagePolicy> PagePool<A> {
    /// Allocates a page whose bytes are zero.
    ///
    /// # Errors
    /// If no page is free, other than those that others move between tiers at this moment.
    #[inline]
    pub fn allocate(&self) -> Result<Page<'_, A>, OutOfPages> {
        Ok(self.allocate_uninit()?.zero())
    }

    /// Allocates a page without initializing it, for who overwrites it anyway.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate).
    #[inline]
    pub fn allocate_uninit(&self) -> Result<UninitPage<'_, A>, OutOfPages> {
        let (address, contents) = self.allocate_raw()?;
        Ok(UninitPage::new(self, address.cast(), contents))
    }

    /// Allocates neighbouring pages whose bytes are zero: between 1 and 512. Zero pages are taken for one.
    ///
    /// Runs come from the cold tier. Only those pages are initialized that are not known to be zero. The
    /// first page lies at a multiple of the smallest power of two that is not less than the run.
    ///
    /// # Errors
    /// If no run of free pages is long enough, or 512 are not enough.
    pub fn allocate_run(&self, pages: u32) -> Result<PageRun<'_, A>, OutOfPages> {
        let first = self.allocate_run_raw(pages)?;
        // SAFETY: it was allocated above, and its bytes are zero.
        Ok(unsafe { PageRun::from_raw(self, first, pages.max(1)) })
    }
}

/// A page of a pool. Dropping it releases it.
pub struct Page<'a, A: PagePolicy> {
    pool: &'a PagePool<A>,
    bytes: NonNull<PageBytes>,
}

// SAFETY: a page is owned as a `Box` is, and the pool may be used by any thread.
unsafe impl<A: PagePolicy> Send for Page<'_, A> {}
// SAFETY: as above.
unsafe impl<A: PagePolicy> Sync for Page<'_, A> {}

impl<'a, A: PagePolicy> Page<'a, A> {
    /// Takes a page back that [`into_raw`](Self::into_raw) or the pool returned.
    ///
    /// # Safety
    /// The page is the caller's and was allocated from this pool, and its bytes are initialized.
    #[must_use]
    pub unsafe fn from_raw(pool: &'a PagePool<A>, page: NonNull<PageBytes>) -> Self {
        Self { pool, bytes: page }
    }

    /// Returns the address. The page stays allocated until it is released by that.
    #[must_use]
    pub fn into_raw(self) -> NonNull<PageBytes> {
        ManuallyDrop::new(self).bytes
    }

    /// Releases the page, of which the caller knows that it is zero. So it need not be initialized for
    /// its next owner.
    ///
    /// # Safety
    /// All bytes are zero. (Debug builds look.) Otherwise the next owner sees what is there.
    pub unsafe fn release_zero(self) {
        let page = ManuallyDrop::new(self);
        // SAFETY: the page is given up here, and zero by the caller's promise.
        unsafe { page.pool.release_raw(page.bytes.cast(), Contents::Zero) };
    }
}

impl<A: PagePolicy> Drop for Page<'_, A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the page is ours, and nobody can refer to it any more.
        unsafe { self.pool.release_raw(self.bytes.cast(), Contents::Unknown) };
    }
}

impl<A: PagePolicy> Deref for Page<'_, A> {
    type Target = PageBytes;
    #[inline]
    fn deref(&self) -> &PageBytes {
        // SAFETY: the page is ours, and its bytes are initialized.
        unsafe { self.bytes.as_ref() }
    }
}

impl<A: PagePolicy> DerefMut for Page<'_, A> {
    #[inline]
    fn deref_mut(&mut self) -> &mut PageBytes {
        // SAFETY: as above.
        unsafe { self.bytes.as_mut() }
    }
}

impl<A: PagePolicy> fmt::Debug for Page<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Page").field(&self.bytes).finish()
    }
}

/// A page whose bytes nobody has initialized. Dropping it releases it.
pub struct UninitPage<'a, A: PagePolicy> {
    page: ManuallyDrop<Page<'a, A>>,
    /// What is known of the bytes: nothing any more once somebody may have written to them.
    contents: Contents,
}

impl<'a, A: PagePolicy> UninitPage<'a, A> {
    pub(crate) fn new(pool: &'a PagePool<A>, page: NonNull<PageBytes>, contents: Contents) -> Self {
        Self { page: ManuallyDrop::new(Page { pool, bytes: page }), contents }
    }

    /// Makes all bytes zero.
    #[inline]
    #[must_use]
    pub fn zero(self) -> Page<'a, A> {
        if self.contents == Contents::Unknown {
            // SAFETY: the page is ours.
            unsafe { self.page.bytes.write_bytes(0, 1) };
        }
        // SAFETY: zero by now, or before.
        unsafe { self.assume_init() }
    }

    /// Copies bytes to the begin of the page. The rest is zero.
    ///
    /// # Panics
    /// If there are more bytes than a page has.
    #[must_use]
    pub fn copy(mut self, bytes: &[u8]) -> Page<'a, A> {
        let zero = self.contents == Contents::Zero; // what is behind the copy stays so
        let (start, rest) = self.as_uninit().split_at_mut(bytes.len());
        // SAFETY: `start` is as long as `bytes`, and nobody else has the page, so they lie apart.
        unsafe {
            start.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
        if !zero {
            rest.fill(MaybeUninit::new(0));
        }
        // SAFETY: all bytes were written above, or are zero.
        unsafe { self.assume_init() }
    }

    /// Returns the bytes, to be written. From now on nothing is known of them: even if the page was zero,
    /// [`zero`](Self::zero) and [`copy`](Self::copy) write all of it.
    pub fn as_uninit(&mut self) -> &mut [MaybeUninit<u8>; PAGE_BYTES] {
        self.contents = Contents::Unknown;
        // SAFETY: the page is ours, and uninitialized bytes may be anything.
        unsafe { self.page.bytes.cast().as_mut() }
    }

    /// Says that all bytes are initialized.
    ///
    /// # Safety
    /// They are. Others than the caller's own may be those of the page's last owner.
    #[must_use]
    pub unsafe fn assume_init(self) -> Page<'a, A> {
        let mut page = ManuallyDrop::new(self);
        // SAFETY: `self` is not dropped, so that the page is taken once.
        unsafe { ManuallyDrop::take(&mut page.page) }
    }
}

impl<A: PagePolicy> Drop for UninitPage<'_, A> {
    fn drop(&mut self) {
        // SAFETY: the page is ours and given up here. Nothing is said of its bytes.
        unsafe { self.page.pool.release_raw(self.page.bytes.cast(), Contents::Unknown) };
    }
}

impl<A: PagePolicy> fmt::Debug for UninitPage<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UninitPage").field(&self.page.bytes).finish()
    }
}

/// Neighbouring pages of a pool. Dropping them releases them.
pub struct PageRun<'a, A: PagePolicy> {
    pool: &'a PagePool<A>,
    first: NonNull<u8>,
    pages: u32,
}

// SAFETY: as for `Page`.
unsafe impl<A: PagePolicy> Send for PageRun<'_, A> {}
// SAFETY: as above.
unsafe impl<A: PagePolicy> Sync for PageRun<'_, A> {}

impl<'a, A: PagePolicy> PageRun<'a, A> {
    /// Takes pages back that [`into_raw`](Self::into_raw) or the pool returned.
    ///
    /// # Safety
    /// All the pages are the caller's and were allocated from this pool, and their bytes are initialized.
    #[must_use]
    pub unsafe fn from_raw(pool: &'a PagePool<A>, first: NonNull<u8>, pages: u32) -> Self {
        Self { pool, first, pages }
    }

    /// Returns the address of the first page, and how many there are. They stay allocated.
    #[must_use]
    pub fn into_raw(self) -> (NonNull<u8>, u32) {
        let run = ManuallyDrop::new(self);
        (run.first, run.pages)
    }

    /// Returns how many pages there are.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }
}

impl<A: PagePolicy> Drop for PageRun<'_, A> {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and nobody can refer to them any more.
        unsafe { self.pool.release_run_raw(self.first, self.pages) };
    }
}

impl<A: PagePolicy> Deref for PageRun<'_, A> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the pages are ours and neighbours, and their bytes are initialized.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.pages as usize * PAGE_BYTES) }
    }
}

impl<A: PagePolicy> DerefMut for PageRun<'_, A> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.pages as usize * PAGE_BYTES) }
    }
}

impl<A: PagePolicy> fmt::Debug for PageRun<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageRun").field("first", &self.first).field("pages", &self.pages).finish()
    }
}
