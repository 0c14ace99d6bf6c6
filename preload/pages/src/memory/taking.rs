//! Pages at addresses that the program names.
//!
//! All addresses of the pool are mapped, also those that the program has unmapped. What it puts there gets the
//! pages from the pool first, so that the pool gives them to nobody else.

use crate::bits::Run;
use crate::memory::Memory;
use crate::system;

/// Who looks for certain pages tries so often, since others may be moving them.
const TRIES: u32 = 5;

/// So many gaps are remembered. A range of 2 MiB has no more, unless the program holds every other page of it.
const GAPS: usize = 16;

/// Below its limit a stack keeps this distance to what is mapped there (`stack_guard_gap`).
const GUARD_PAGES: u32 = 256;

/// A stack is not expected to grow to more pages than this if nothing limits it: 64 MiB.
const MOST_STACK: u64 = 64 << 20;

/// The pages that the program did not hold before they were taken for it.
#[derive(Debug)]
pub(crate) struct Taken {
    gaps: [Run; GAPS],
    count: usize,
}

impl Taken {
    const NONE: Taken = Taken { gaps: [Run { first: 0, pages: 0 }; GAPS], count: 0 };

    fn add(&mut self, gap: Run) {
        if let Some(last) = self.count.checked_sub(1).map(|last| &mut self.gaps[last])
            && last.first + last.pages == gap.first
        {
            last.pages += gap.pages;
        } else if self.count < GAPS {
            self.gaps[self.count] = gap;
            self.count += 1;
        }
        // What is not remembered stays with the program if it must be undone: it has these addresses for good.
    }
}

impl Memory {
    /// Prepares for a mapping that the program is about to put in the place of pages. Those that it does not
    /// hold it gets now: it may have unmapped them a moment ago to learn of a free address. Returns which
    /// these are; or nothing, and then it has none of them, if they cannot all be had.
    pub(crate) fn take_over(&self, run: Run) -> Option<Taken> {
        let mut taken = Taken::NONE;
        while let Some(gap) = self.held.gap(run) {
            let got = self.pointer_to(gap.first).is_some_and(|first| {
                (0..TRIES).any(|_| self.pool.allocate_these(first, gap.pages))
            });
            if !got {
                self.undo(&taken);
                return None;
            }
            self.held.set(gap);
            self.altered.set(gap);
            taken.add(gap);
        }
        self.altered.set(run);
        Some(taken)
    }

    /// Takes back what was taken for a mapping that was not made.
    pub(crate) fn undo(&self, taken: &Taken) {
        self.undo_from(taken, 0);
    }

    /// Takes those pages back that were taken, from the page with this number on. They get a new mapping. Where
    /// that is impossible, since they are a part of a huge page, they stay with the program: what it has mapped
    /// there reaches as far.
    pub(crate) fn undo_from(&self, taken: &Taken, from: u32) {
        for gap in &taken.gaps[..taken.count] {
            let first = gap.first.max(from);
            let end = gap.first + gap.pages;
            let rest = Run { first, pages: end.saturating_sub(first) };
            if rest.pages == 0 {
                continue;
            }
            // SAFETY: the pages were taken by this library, and the program does not know that it has them.
            let replaced = unsafe { system::replace(self.address_of(first), self.bytes_of(rest)) };
            if replaced {
                self.release(rest);
            }
        }
    }

    /// Makes room for a stack that begins at a page and grows down from there: what is free below it is unmapped,
    /// as far as the stack may grow. To the program that memory is its own from then on, so that it comes back
    /// when the program unmaps it.
    pub(crate) fn make_room_below(&self, page: u32) {
        let stack = system::stack().unwrap_or(MOST_STACK).min(MOST_STACK);
        let wanted = (stack / kilocore_pages::PAGE_BYTES as u64) as u32 + GUARD_PAGES;
        let (mut first, mut chunk) = (page, 512);
        while chunk > 0 {
            let least = page.saturating_sub(wanted);
            let got = first >= least + chunk
                && self
                    .pointer_to(first - chunk)
                    .is_some_and(|at| self.pool.allocate_these(at, chunk));
            if !got {
                chunk /= 2;
                continue;
            }
            first -= chunk;
            let run = Run { first, pages: chunk };
            self.held.set(run);
            self.altered.set(run);
            // SAFETY: the pages were free, and are this library's now.
            unsafe { system::unmap(self.address_of(first), self.bytes_of(run)) };
        }
    }
}
