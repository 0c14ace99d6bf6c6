//! A pool of real pages.

use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;

use kilocore_platform::Native;

use super::guard::Guard;
use super::options::{OutOfPages, PoolError, PoolOptions};
use super::region::Region;
use super::{PAGE_BYTES, PageBytes};
use crate::frame::{Contents, Entry, FrameId, MOST_FRAMES};
use crate::llfree::{Geometry, LlFree};
use crate::policy::PagePolicy;
use crate::statistics::Statistics;
use crate::tier::Decayed;
use crate::tiered::Tiered;

/// Pages of 4 KiB, handed out by a policy.
///
/// All operations may be called at any time by any thread. With the default policy nobody waits in
/// them: not for a thread that lost its core, nor in a signal handler. They allocate nothing from the
/// program's allocator.
///
/// # After `fork`
/// The child has a copy of the pool, and of the pages that its parent held. It can use both. Pages
/// that other threads were moving between tiers at that moment are lost to the child's pool.
#[derive(Debug)]
pub struct PagePool<A: PagePolicy = Tiered<Native>> {
    policy: A,
    region: Region,
    guard: Option<Guard>,
}

impl PagePool {
    /// Makes a pool with private-hot, shared-hot and cold tiers.
    ///
    /// # Errors
    /// If there is not enough address space, or the system lacks what the options ask for.
    pub fn new(options: &PoolOptions) -> Result<Self, PoolError> {
        let cores = options.tiers.cores();
        PagePool::with_policy(options, |pages| {
            let free = LlFree::new(pages, cores, Geometry::for_frames(pages, cores));
            Tiered::tiered(&options.tiers, free, Contents::Zero)
        })
    }
}

impl<A: PagePolicy> PagePool<A> {
    /// Makes a pool with a policy. `make` gets the number of pages, and returns a policy with so many free
    /// frames. All of them are zero, which the policy may know or not. The sizes of the tiers in the options mean nothing here.
    ///
    /// # Errors
    /// If there is not enough address space, or the system lacks what the options ask for.
    ///
    /// # Panics
    /// If the policy has another number of frames.
    pub fn with_policy(
        options: &PoolOptions,
        make: impl FnOnce(u32) -> A,
    ) -> Result<Self, PoolError> {
        let pages = options.pages;
        if pages > MOST_FRAMES {
            return Err(PoolError::TooManyPages { pages });
        }
        // SAFETY: sysconf only reads.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        if bytes > PAGE_BYTES {
            return Err(PoolError::PageSize { bytes });
        }
        let region = Region::new(pages, options.backing, options.node)?;
        let policy = make(pages);
        assert_eq!(policy.frames(), pages, "a frame for each page");
        Ok(Self { policy, region, guard: options.guarded.then(|| Guard::new(pages)) })
    }

    /// Returns how many pages the pool has, free or not.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.policy.frames()
    }

    /// Allocates a page and returns its address, with what is known of its bytes. They may be those of
    /// the page's last owner.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate).
    #[inline]
    pub fn allocate_raw(&self) -> Result<(NonNull<MaybeUninit<u8>>, Contents), OutOfPages> {
        let entry = self.policy.allocate().ok_or(OutOfPages)?.entry;
        let frame = entry.frame().0;
        if let Some(guard) = &self.guard {
            guard.allocated(frame);
        }
        Ok((self.region.page(frame).cast(), entry.contents()))
    }

    /// Releases a page by its address.
    ///
    /// # Panics
    /// If the address is not that of a page of this pool; and in a guarded pool if the page is not
    /// allocated.
    ///
    /// # Safety
    /// The page is the caller's, from this pool, and nobody uses its bytes any more. If the contents are
    /// said to be zero, all of them are.
    #[inline]
    pub unsafe fn release_raw(&self, page: NonNull<u8>, contents: Contents) {
        let frame = self.number_of(page);
        debug_assert!(
            // SAFETY: the caller's promise.
            contents == Contents::Unknown || unsafe { all_zero(page) },
            "the page is said to be zero"
        );
        if let Some(guard) = &self.guard {
            guard.released(frame);
        }
        // SAFETY: the caller's promise.
        unsafe { self.policy.release(Entry::new(FrameId(frame), contents)) };
    }

    /// Returns whether an address is that of a page of this pool, allocated or not.
    #[must_use]
    pub fn owns(&self, address: NonNull<u8>) -> bool {
        self.region.number(address).is_some_and(|number| number < self.pages())
    }

    /// Returns the address of the first page. Those of the others follow in the order of their
    /// numbers, without gaps. With it, who keeps notes of pages can number them.
    #[must_use]
    pub fn first_page(&self) -> NonNull<u8> {
        self.region.first()
    }

    /// Allocates neighbouring pages whose bytes are zero, and returns the address of the first. Zero pages
    /// are taken for one.
    ///
    /// # Errors
    /// As for [`allocate_run`](Self::allocate_run).
    pub fn allocate_run_raw(&self, pages: u32) -> Result<NonNull<u8>, OutOfPages> {
        self.take_run(pages, |entry| {
            if entry.contents() == Contents::Unknown {
                // SAFETY: the frame is ours now.
                unsafe { self.region.page(entry.frame().0).write_bytes(0, PAGE_BYTES) };
            }
        })
        .map(NonNull::cast)
    }

    /// The same without initializing any page.
    ///
    /// # Errors
    /// As for [`allocate_run`](Self::allocate_run).
    pub fn allocate_run_uninit_raw(
        &self,
        pages: u32,
    ) -> Result<NonNull<MaybeUninit<u8>>, OutOfPages> {
        self.take_run(pages, |_| {})
    }

    /// Allocates neighbouring pages without initializing them. It calls `each` with every page, in
    /// order, and with what is known of its bytes. They may be those of the page's last owner.
    ///
    /// # Errors
    /// As for [`allocate_run`](Self::allocate_run).
    pub fn allocate_run_with(
        &self,
        pages: u32,
        mut each: impl FnMut(NonNull<u8>, Contents),
    ) -> Result<NonNull<u8>, OutOfPages> {
        let each = |entry: Entry| each(self.region.page(entry.frame().0), entry.contents());
        self.take_run(pages, each).map(NonNull::cast)
    }

    /// Allocates a run, and calls `each` with its pages.
    fn take_run(
        &self,
        pages: u32,
        mut each: impl FnMut(Entry),
    ) -> Result<NonNull<MaybeUninit<u8>>, OutOfPages> {
        let first = self.policy.allocate_run(pages, &mut each).ok_or(OutOfPages)?;
        if let Some(guard) = &self.guard {
            (0..pages.max(1)).for_each(|at| guard.allocated(first.0 + at));
        }
        Ok(self.region.page(first.0).cast())
    }

    /// Allocates just these neighbouring pages without initializing them, if all of them are free. Returns
    /// whether that was so. Pages that others move at this moment are not found; so it may be tried again.
    ///
    /// # Panics
    /// If not all are pages of this pool.
    pub fn allocate_these(&self, first: NonNull<u8>, pages: u32) -> bool {
        let run = self.numbers_of(first, pages);
        let taken = self.policy.allocate_these(FrameId(run.start), pages);
        if let (true, Some(guard)) = (taken, &self.guard) {
            run.for_each(|page| guard.allocated(page));
        }
        taken
    }

    /// Releases neighbouring pages, which may be a part of a run, or of several.
    ///
    /// # Panics
    /// As for [`release_raw`](Self::release_raw).
    ///
    /// # Safety
    /// As for [`release_raw`](Self::release_raw), for all pages.
    pub unsafe fn release_run_raw(&self, first: NonNull<u8>, pages: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.release_run_as(first, pages, Contents::Unknown) };
    }

    /// Releases neighbouring pages of which the same is known: their bytes are zero, or whatever.
    ///
    /// # Panics
    /// As for [`release_raw`](Self::release_raw).
    ///
    /// # Safety
    /// As for [`release_raw`](Self::release_raw), for all pages.
    pub unsafe fn release_run_as(&self, first: NonNull<u8>, pages: u32, contents: Contents) {
        if pages == 0 {
            return;
        }
        let run = self.numbers_of(first, pages);
        let first = FrameId(run.start);
        if let Some(guard) = &self.guard {
            run.for_each(|page| guard.released(page));
        }
        // SAFETY: the caller's promise.
        unsafe { self.policy.release_run(first, pages, contents) };
    }

    fn number_of(&self, page: NonNull<u8>) -> u32 {
        let number = self.region.number(page).filter(|number| *number < self.pages());
        number.unwrap_or_else(|| panic!("{page:p} is not the address of a page of this pool"))
    }

    fn numbers_of(&self, first: NonNull<u8>, pages: u32) -> Range<u32> {
        let first = self.number_of(first);
        assert!(pages <= self.pages() - first, "all pages are of this pool");
        first..first + pages
    }

    /// Gives the memory of pages back to the system that the caller holds and goes on holding. Returns whether
    /// the system has taken it: then all of their bytes are zero. Otherwise their bytes are what they were,
    /// as those of locked memory or of huge pages that were set aside.
    ///
    /// # Panics
    /// If not all are pages of this pool.
    ///
    /// # Safety
    /// The pages are the caller's, from this pool, and nobody uses their bytes meanwhile.
    pub unsafe fn give_back(&self, first: NonNull<u8>, pages: u32) -> bool {
        self.region.give_back(self.numbers_of(first, pages).start, pages)
    }

    /// Gives the memory of pages back to the system that have lain idle in the cold tier since the last
    /// call. They are zero afterwards, and the system counts them no more. What is in the hot tiers stays.
    /// What the system does not take, as it takes no part of a huge page that was set aside, is cleared.
    ///
    /// Call it some times in a minute, from any thread.
    pub fn decay(&self) -> Decayed {
        self.policy.decay(&mut |first, count| self.region.discard(first.0, count))
    }

    /// Moves all free pages into the cold tier, and gives all of their memory back to the system, as
    /// [`decay`](Self::decay) does.
    pub fn trim(&self) -> Decayed {
        self.policy.drain();
        self.decay(); // What was put back just now counts as recent once.
        self.decay()
    }

    /// Lets time pass, for policies that size their lists by it: Linux does it each second.
    pub fn tick(&self) {
        self.policy.tick();
    }

    /// Returns what has happened so far and where free pages are now.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.policy.statistics()
    }

    /// Checks that each page is free or in somebody's hands, and returns how many are free.
    ///
    /// # Panics
    /// If a page is free twice, or a page that is said to be zero is not.
    pub fn validate(&mut self) -> u32 {
        let mut seen = vec![false; self.pages() as usize];
        let region = &self.region;
        self.policy.validate(&mut |entry| {
            let frame = entry.frame().0;
            assert!(
                !std::mem::replace(&mut seen[frame as usize], true),
                "page {frame} is free twice"
            );
            if entry.contents() == Contents::Zero {
                // SAFETY: the page is free, and nobody else uses the pool.
                assert!(unsafe { all_zero(region.page(frame)) }, "page {frame} is said to be zero");
            }
        });
        seen.into_iter().filter(|free| *free).count() as u32
    }
}

/// # Safety
/// It is a page, whose bytes are initialized and change no more.
unsafe fn all_zero(page: NonNull<u8>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { page.cast::<PageBytes>().as_ref() }.iter().all(|byte| *byte == 0)
}
