//! How much of the memory that they ask for do programs touch?
//!
//! The kernel gives memory page by page as a program touches it. The pool clears a range that was used
//! before as a whole. That is faster as long as most of the range is touched, and a waste if a program
//! asks for a megabyte and touches a page of it. So for each size of ranges the share that is touched is
//! estimated, and ranges of sizes of which little is touched go back to the kernel as they are unmapped:
//! the next owner then finds pages that are zero, and which get memory one by one.
//!
//! The kernel can tell which pages of a range have memory. That says what was touched only if none had
//! at the beginning. So ranges that were *fresh* are measured when they are unmapped, and of a size whose
//! ranges are used again and again, one in some is made fresh for that. That costs as much as the kernel's
//! own way, so it is done ever more rarely as long as it says what was known.
//!
//! Pages that the kernel has swapped out count as untouched. So what it says is only good for an estimate,
//! and never for taking a page for zero.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::bits::Run;
use crate::shares::{SIZES, Share};

/// Ranges of fewer pages are cleared before anything else could be found out.
pub(crate) const LEAST: u32 = 8;

/// One in so many ranges is measured at first, and where the last measurement was a surprise.
const OFTEN: u32 = 16;

/// One in so many is measured where none was for long.
const RARELY: u32 = 1024;

/// A share of one, in the units of the estimate.
const ALL: u32 = 256;

/// Clearing a page costs about a third of what the kernel takes to bring one in. So it pays to keep what
/// is touched to more than this share.
const DENSE: u32 = ALL / 3;

/// What is taken for known before anything is: so much that one range of which nothing was touched changes
/// it.
const AT_FIRST: u32 = 2 * DENSE - 10;

/// What is known of ranges of one size.
#[derive(Debug)]
struct Size {
    /// The share that is touched: an average in which the last two count most.
    share: AtomicU32,
    /// One in so many is measured. Each core counts by itself.
    interval: AtomicU32,
}

impl Size {
    const fn new() -> Self {
        Self { share: AtomicU32::new(AT_FIRST), interval: AtomicU32::new(OFTEN) }
    }
}

/// What is known of ranges of each size, of up to 1, 2, 4 … 512 pages.
#[derive(Debug)]
pub(crate) struct Touched([Size; SIZES]);

impl Touched {
    pub(crate) const fn new() -> Self {
        Self([const { Size::new() }; SIZES])
    }

    /// Returns the number of a size.
    fn number(pages: u32) -> usize {
        (pages.next_power_of_two().trailing_zeros() as usize).min(SIZES - 1)
    }

    fn size(&self, pages: u32) -> &Size {
        &self.0[Self::number(pages)]
    }

    /// Returns whether most of such a range is touched, so that it pays to keep it.
    pub(crate) fn is_dense(&self, pages: u32) -> bool {
        pages < LEAST || self.size(pages).share.load(Ordering::Relaxed) > DENSE // Relaxed: a hint.
    }

    /// Returns whether it is this range's turn to be measured.
    pub(crate) fn is_due(&self, share: &Share, pages: u32) -> bool {
        if pages < LEAST {
            return false;
        }
        let place = &share.left[Self::number(pages)];
        // Relaxed: a count. Where two threads count at once, a step is lost.
        let left = place.load(Ordering::Relaxed);
        let interval = || self.size(pages).interval.load(Ordering::Relaxed);
        place.store(left.checked_sub(1).unwrap_or_else(interval), Ordering::Relaxed);
        left == 0
    }

    /// Notes how many pages of a range were touched, which was fresh when it was handed out.
    pub(crate) fn note(&self, share: &Share, run: Run, touched: u32) {
        let size = self.size(run.pages);
        let part = touched * ALL / run.pages;
        // Relaxed: a hint. A note that another thread's overtakes is lost.
        let before = size.share.load(Ordering::Relaxed);
        size.share.store(u32::midpoint(before, part), Ordering::Relaxed);
        let interval = size.interval.load(Ordering::Relaxed);
        let as_known = (part > DENSE) == (before > DENSE);
        let next = if as_known { (2 * interval).min(RARELY) } else { OFTEN };
        size.interval.store(next, Ordering::Relaxed);
        share.left[Self::number(run.pages)].fetch_min(next, Ordering::Relaxed);
    }
}
