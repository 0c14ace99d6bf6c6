//! What hands out pages: the pool with its policies, and other people's allocators.

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use kilocore_locks::Ttas;
use kilocore_page_trace::replay::kernel_lists;
use kilocore_pages::{
    Buddy, Cold, Contents, Direct, Geometry, Linux4_18, Linux6_12, LlFree, PAGE_BYTES, PagePolicy,
    PagePool, PerCore, PoolOptions, TieredOptions,
};
use kilocore_platform::Native;

/// Something that hands out pages.
pub(crate) trait Pages: Sync {
    /// Allocates a page, of unknown contents.
    fn take(&self) -> NonNull<u8>;

    /// # Safety
    /// The page was taken here, and nobody uses it any more.
    unsafe fn give(&self, page: NonNull<u8>);
}

impl<A: PagePolicy> Pages for PagePool<A> {
    #[inline(always)]
    fn take(&self) -> NonNull<u8> {
        self.allocate_raw().expect("the pool has more pages than are in use").0.cast()
    }

    #[inline(always)]
    unsafe fn give(&self, page: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { self.release_raw(page, Contents::Unknown) };
    }
}

/// The pages of a pool: 2 GiB, more than any of the experiments has in use.
const POOL_PAGES: u32 = 1 << 19;

fn options() -> PoolOptions {
    PoolOptions { guarded: false, ..PoolOptions::new(POOL_PAGES) }
}

fn cores() -> u32 {
    TieredOptions::of_this_machine().cores()
}

/// Kilocore's pool as it ships: lists for each core and last-level cache.
pub(crate) fn tiered() -> PagePool {
    PagePool::new(&options()).expect("there are addresses for it")
}

fn with<A: PagePolicy>(make: impl FnOnce(u32) -> A) -> PagePool<A> {
    PagePool::with_policy(&options(), make).expect("there are addresses for it")
}

type BuddyCold = Cold<Native, Buddy<Native, Ttas<Native>>>;

/// The lists of Linux 4.18.
pub(crate) fn linux_4_18() -> PagePool<PerCore<Native, Linux4_18, BuddyCold>> {
    with(|pages| {
        let cold = Cold::new(Buddy::new(pages), Contents::Zero);
        PerCore::new(cores(), Linux4_18::STANDARD, cold)
    })
}

/// The lists of Linux 6.12, as long as this machine's kernel makes its own, if it says how long these are.
pub(crate) fn linux_6_12() -> PagePool<PerCore<Native, Linux6_12, BuddyCold>> {
    with(|pages| {
        let cold = Cold::new(Buddy::new(pages), Contents::Zero);
        PerCore::new(cores(), kernel_lists(cores()), cold)
    })
}

/// LLFree alone: each allocation and each release goes to its bit fields, as there are no lists of
/// pages before it.
pub(crate) fn llfree() -> PagePool<Direct<Native, Cold<Native, LlFree<Native>>>> {
    with(|pages| {
        let free = LlFree::new(pages, cores(), Geometry::for_frames(pages, cores()));
        Direct::new(cores(), Cold::new(free, Contents::Zero))
    })
}

/// An allocator of a shared library.
pub(crate) struct Library {
    allocate: unsafe extern "C" fn(usize, usize) -> *mut u8,
    free: unsafe extern "C" fn(*mut u8),
}

impl Library {
    /// Loads mimalloc, if it is there.
    pub(crate) fn mimalloc() -> Option<Self> {
        Self::load(c"libmimalloc.so.2", c"mi_malloc_aligned", c"mi_free")
    }

    /// Loads jemalloc, if it is there.
    pub(crate) fn jemalloc() -> Option<Self> {
        Self::load(c"libjemalloc.so.2", c"aligned_alloc", c"free")
    }

    fn load(library: &CStr, allocate: &CStr, free: &CStr) -> Option<Self> {
        // SAFETY: the libraries are allocators that do nothing but set themselves up when they are loaded.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: the handle is that of a library, which is never unloaded.
        let symbol = |name: &CStr| unsafe { libc::dlsym(handle, name.as_ptr()) };
        let (allocate, free) = (symbol(allocate), symbol(free));
        if allocate.is_null() || free.is_null() {
            return None;
        }
        // SAFETY: these are the functions' types, by the libraries' headers.
        let (allocate, free) = unsafe {
            (
                std::mem::transmute::<
                    *mut libc::c_void,
                    unsafe extern "C" fn(usize, usize) -> *mut u8,
                >(allocate),
                std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut u8)>(free),
            )
        };
        Some(Self { allocate, free })
    }
}

impl Pages for Library {
    #[inline(always)]
    fn take(&self) -> NonNull<u8> {
        // SAFETY: a page, aligned as one, may be asked for. One library has the size first and the other the
        // alignment, and both are a page.
        let page = unsafe { (self.allocate)(PAGE_BYTES, PAGE_BYTES) };
        NonNull::new(page).expect("there is memory")
    }

    #[inline(always)]
    unsafe fn give(&self, page: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { (self.free)(page.as_ptr()) };
    }
}

/// The kernel itself: each page is mapped, touched and unmapped.
pub(crate) struct Kernel;

impl Pages for Kernel {
    fn take(&self) -> NonNull<u8> {
        // SAFETY: a new anonymous mapping harms nobody.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED, "there is memory");
        let page = NonNull::new(page.cast::<u8>()).expect("the kernel maps nothing at zero");
        // SAFETY: it was mapped above.
        unsafe { page.write_volatile(1) };
        page
    }

    unsafe fn give(&self, page: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(page.as_ptr().cast(), PAGE_BYTES) };
    }
}
