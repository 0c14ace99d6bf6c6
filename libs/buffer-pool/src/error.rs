//! What can go wrong.

use std::error::Error;
use std::fmt;
use std::io;

use kilocore_lru::OptionsError as ListOptionsError;

use crate::page::PageId;

/// Why a pool cannot do what it was asked for.
#[derive(Debug)]
pub enum PoolError {
    /// The capacity is 0: there is no frame for any page.
    NoCapacity,
    /// Every frame has a page that is pinned. Somebody has to drop a guard first.
    AllPinned,
    /// The store could not read the page.
    Read(PageId, io::Error),
    /// The store could not write the page, or there was no memory for the copy from which that is done. The pool
    /// keeps it, dirty.
    Write(PageId, io::Error),
    /// The store could not make the pages durable.
    Sync(io::Error),
    /// An earlier [`sync`](crate::BufferPool::sync) failed, so nobody knows which of the pages that were
    /// written before it are durable.
    SyncFailedBefore,
    /// The page is pinned, or is being read or written, so it cannot be discarded.
    Pinned(PageId),
    /// The largest number names no page.
    NoSuchPage,
    /// There cannot be so many pages: the pool was made for at most so many.
    BeyondMost {
        /// How many were asked for.
        asked: u32,
        /// How many there can be.
        most: u32,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::NoCapacity => f.write_str("the pool has no capacity"),
            PoolError::AllPinned => f.write_str("all pages of the pool are pinned"),
            PoolError::Read(page, _) => write!(f, "page {} could not be read", page.0),
            PoolError::Write(page, _) => {
                write!(f, "page {} could not be written, and stays in the pool", page.0)
            }
            PoolError::Sync(_) => f.write_str("the pages that were written may not be durable"),
            PoolError::SyncFailedBefore => f.write_str(
                "an earlier sync failed: which of the pages written before it are durable is unknown",
            ),
            PoolError::Pinned(page) => write!(f, "page {} is pinned", page.0),
            PoolError::NoSuchPage => write!(f, "{} is no page's number", PageId::NONE.0),
            PoolError::BeyondMost { asked, most } => {
                write!(f, "a capacity of {asked} pages: the pool was made for at most {most}")
            }
        }
    }
}

impl Error for PoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PoolError::Read(_, error) | PoolError::Write(_, error) | PoolError::Sync(error) => {
                Some(error)
            }
            _ => None,
        }
    }
}

/// Why a pool cannot be made.
#[derive(Debug)]
pub enum OptionsError {
    /// A page has at least one byte.
    NoPageBytes,
    /// The capacity is more than the most that there may ever be.
    CapacityBeyondMost,
    /// There are more frames than numbers for them, or fewer in the lists than in the pool.
    Frames(u32),
    /// There has to be a core.
    NoCores,
    /// There is not so much memory. A system that promises more than it has (Linux does, within limits) may
    /// say so only when the memory is used, by ending the program.
    NoMemory,
    /// The lists cannot be made as they were asked for.
    Lists(ListOptionsError),
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::NoPageBytes => f.write_str("a page has at least one byte"),
            OptionsError::CapacityBeyondMost => {
                f.write_str("the capacity is more than the most that there may be")
            }
            OptionsError::Frames(frames) => {
                write!(
                    f,
                    "{frames} frames: there are not so many numbers, or not so many in the lists"
                )
            }
            OptionsError::NoCores => f.write_str("a machine has at least one core"),
            OptionsError::NoMemory => f.write_str("there is not so much memory"),
            OptionsError::Lists(_) => f.write_str("the lists cannot be made"),
        }
    }
}

impl Error for OptionsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            OptionsError::Lists(error) => Some(error),
            _ => None,
        }
    }
}
