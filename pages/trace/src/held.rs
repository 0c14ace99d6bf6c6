//! Which pages are held, a bit each.
//!
//! Bits rather than blocks, because the kernel splits blocks: what was allocated as one may go back
//! in parts. A gigabyte of memory takes less than 40 KB here.

use std::collections::HashMap;

use crate::{Event, EventKind, Order, Page};

const WORDS: usize = Page::GROUP as usize / 64;

/// The pages that are held.
#[derive(Debug, Clone, Default)]
pub struct Held {
    groups: HashMap<u32, [u64; WORDS]>,
    pages: u64,
}

/// What cannot happen to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// It is allocated while some of it is held.
    #[error("allocates pages that are held")]
    Held,
    /// It is released while some of it is not held.
    #[error("releases pages that are not held")]
    NotHeld,
    /// It does not begin where a block of its size can.
    #[error("has a block that does not begin at a multiple of its size")]
    Unaligned,
    /// Its number is too large.
    #[error("has a page beyond the last that there can be")]
    Beyond,
}

impl Held {
    /// Lets an event happen. If it cannot, nothing changes.
    ///
    /// # Errors
    /// If the event breaks a promise of traces.
    pub fn apply(&mut self, event: &Event) -> Result<(), Misuse> {
        match event.kind {
            EventKind::Allocate { page, order, .. } => self.allocate(page, order),
            EventKind::Release { page, order } => self.release(page, order),
        }
    }

    /// Takes a block that is free.
    ///
    /// # Errors
    /// If it is no block, or not wholly free.
    pub fn allocate(&mut self, page: Page, order: Order) -> Result<(), Misuse> {
        check(page, order)?;
        let group = self.groups.entry(page.0 / Page::GROUP).or_insert([0; WORDS]);
        if words(page, order).any(|(word, mask)| group[word] & mask != 0) {
            return Err(Misuse::Held);
        }
        words(page, order).for_each(|(word, mask)| group[word] |= mask);
        self.pages += u64::from(order.pages());
        Ok(())
    }

    /// Gives a block back that is wholly held.
    ///
    /// # Errors
    /// If it is no block, or not wholly held.
    pub fn release(&mut self, page: Page, order: Order) -> Result<(), Misuse> {
        check(page, order)?;
        let group = self.groups.get_mut(&(page.0 / Page::GROUP)).ok_or(Misuse::NotHeld)?;
        if words(page, order).any(|(word, mask)| group[word] & mask != mask) {
            return Err(Misuse::NotHeld);
        }
        words(page, order).for_each(|(word, mask)| group[word] &= !mask);
        self.pages -= u64::from(order.pages());
        Ok(())
    }

    /// How many pages of a block are held.
    #[must_use]
    pub fn of(&self, page: Page, order: Order) -> u32 {
        let Some(group) = self.groups.get(&(page.0 / Page::GROUP)) else { return 0 };
        words(page, order).map(|(word, mask)| (group[word] & mask).count_ones()).sum()
    }

    /// How many pages are held.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }
}

fn check(page: Page, order: Order) -> Result<(), Misuse> {
    if page.0 >= Page::MOST {
        Err(Misuse::Beyond)
    } else if !page.0.is_multiple_of(order.pages()) {
        Err(Misuse::Unaligned)
    } else {
        Ok(())
    }
}

/// The words of a group in which a block has its bits, and these bits.
fn words(page: Page, order: Order) -> impl Iterator<Item = (usize, u64)> {
    let first = (page.0 % Page::GROUP) as usize;
    let (count, mask) = match order.pages() {
        few @ ..64 => (1, ((1 << few) - 1) << (first % 64)),
        many => (many as usize / 64, u64::MAX),
    };
    // A block that is not aligned would reach beyond its group. It is refused elsewhere.
    (first / 64..(first / 64 + count).min(WORDS)).map(move |word| (word, mask))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn order(number: u8) -> Order {
        Order::new(number).expect("it is one")
    }

    #[test]
    fn a_block_may_go_back_in_parts_and_no_more_than_that() {
        let mut held = Held::default();
        held.allocate(Page(512), order(9)).expect("it is free");
        assert_eq!(held.allocate(Page(1023), order(0)), Err(Misuse::Held));
        held.release(Page(1023), order(0)).expect("it is held");
        assert_eq!(held.release(Page(512), order(9)), Err(Misuse::NotHeld));
        assert_eq!((held.of(Page(512), order(9)), held.pages()), (511, 511));
        held.release(Page(512), order(8)).expect("it is held");
        assert_eq!(held.pages(), 255);
    }

    #[test]
    fn blocks_that_cannot_be_are_refused() {
        let mut held = Held::default();
        assert_eq!(held.allocate(Page(3), order(1)), Err(Misuse::Unaligned));
        assert_eq!(held.allocate(Page(Page::MOST), order(0)), Err(Misuse::Beyond));
        assert_eq!(held.release(Page(8), order(3)), Err(Misuse::NotHeld));
    }

    proptest! {
        #[test]
        fn bits_do_as_a_set_of_pages_does(
            steps in proptest::collection::vec((any::<bool>(), 0u32..3000, 0u8..=10), 0..200),
        ) {
            let (mut held, mut model) = (Held::default(), HashSet::new());
            for (takes, page, number) in steps {
                let order = order(number);
                let page = Page(page / order.pages() * order.pages());
                let block: Vec<u32> = (page.0..page.0 + order.pages()).collect();
                let there = block.iter().filter(|page| model.contains(*page)).count();
                prop_assert_eq!(held.of(page, order) as usize, there);
                if takes {
                    let expected = if there == 0 { Ok(()) } else { Err(Misuse::Held) };
                    prop_assert_eq!(held.allocate(page, order), expected);
                    if expected.is_ok() { model.extend(block); }
                } else {
                    let expected = if there == block.len() { Ok(()) } else { Err(Misuse::NotHeld) };
                    prop_assert_eq!(held.release(page, order), expected);
                    if expected.is_ok() { block.iter().for_each(|page| { model.remove(page); }); }
                }
                prop_assert_eq!(held.pages() as usize, model.len());
            }
        }
    }
}
