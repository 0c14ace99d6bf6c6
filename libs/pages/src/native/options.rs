//! What a pool is made with, and why it cannot be made.

use core::fmt;
use std::io;

use kilocore_platform::NodeId;

use crate::frame::MOST_FRAMES;
use crate::tiered::TieredOptions;

/// What is behind the pages of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backing {
    /// Whatever the system does by itself.
    #[default]
    Pages,
    /// Huge pages of 2 MiB where the system has some (`MADV_HUGEPAGE`). They need fewer entries of the
    /// address-translation cache. Giving a part of one back splits it.
    Transparent,
    /// Huge pages of 2 MiB that the administrator has set aside (`MAP_HUGETLB`). Their memory is not given
    /// back while the pool exists: what goes idle is cleared instead. After a `fork`, who writes to one
    /// needs another, and the kernel ends the child with `SIGBUS` if none is left.
    HugeTlb,
}

/// What a pool is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// The most pages of 4 KiB that the pool hands out at a time. They take addresses, and memory only
    /// when they are used.
    pub pages: u32,
    /// The sizes of the tiers.
    pub tiers: TieredOptions,
    /// What is behind the pages.
    pub backing: Backing,
    /// The NUMA node whose memory the pages are to be from. `None` leaves it to the system, which takes
    /// the node of whoever uses a page first.
    pub node: Option<NodeId>,
    /// Whether to watch for pages that are released twice, or are not the pool's. It costs an atomic
    /// operation for each allocation and release. Debug builds do it if not told otherwise.
    pub guarded: bool,
}

impl PoolOptions {
    /// Returns options for so many pages, with tiers as large as the caches of this machine.
    #[must_use]
    pub fn new(pages: u32) -> Self {
        Self {
            pages,
            tiers: TieredOptions::of_this_machine(),
            backing: Backing::default(),
            node: None,
            guarded: cfg!(debug_assertions),
        }
    }
}

/// Why a pool cannot be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// More pages than a pool can have.
    TooManyPages {
        /// The pages that were asked for.
        pages: u32,
    },
    /// The system's pages are larger than those of a pool.
    PageSize {
        /// The system's, in bytes.
        bytes: usize,
    },
    /// There is not so much address space: a limit of the process (`RLIMIT_AS`), or of the system.
    Map {
        /// The bytes that were asked for.
        bytes: usize,
        /// What the system says.
        source: io::Error,
    },
    /// Not so many huge pages are set aside and free, or the system has none of 2 MiB.
    HugeTlb {
        /// The huge pages that were asked for.
        huge_pages: usize,
        /// What the system says.
        source: io::Error,
    },
    /// The system has no transparent huge pages.
    Transparent(io::Error),
    /// There is no such NUMA node, or it may not be used.
    Node {
        /// The node that was asked for.
        node: NodeId,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::TooManyPages { pages } => {
                write!(f, "{pages} pages are too many: a pool has at most {MOST_FRAMES}")
            }
            PoolError::PageSize { bytes } => {
                write!(f, "the system's pages have {bytes} bytes, those of a pool 4096")
            }
            PoolError::Map { bytes, source } => write!(
                f,
                "cannot map {bytes} bytes ({source}): ask for fewer pages, or raise the limit on \
                 address space (ulimit -v)"
            ),
            PoolError::HugeTlb { huge_pages, source } => write!(
                f,
                "cannot get {huge_pages} huge pages of 2 MiB ({source}): set more aside (sysctl \
                 vm.nr_hugepages), or ask for fewer pages"
            ),
            PoolError::Transparent(source) => {
                write!(f, "the system has no transparent huge pages ({source})")
            }
            PoolError::Node { node, source } => {
                write!(f, "cannot use the memory of NUMA node {} ({source})", node.0)
            }
        }
    }
}

impl std::error::Error for PoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PoolError::TooManyPages { .. } | PoolError::PageSize { .. } => None,
            PoolError::Map { source, .. }
            | PoolError::HugeTlb { source, .. }
            | PoolError::Transparent(source)
            | PoolError::Node { source, .. } => Some(source),
        }
    }
}

/// No page is free, or no run of pages that is long enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfPages;

impl fmt::Display for OutOfPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool has no free page, or no run of free pages that is long enough")
    }
}

impl std::error::Error for OutOfPages {}
