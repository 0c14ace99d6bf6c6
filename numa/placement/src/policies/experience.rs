//! What has been learned from how something that was done for pages turned out.
//!
//! Each time it paid or it did not. What it did for one page tells most about that page, and what it did
//! for all pages counts as long as little is known of this one. Earlier times count for less.

use crate::units::Page;

/// How the times that it was done for a page turned out, the earlier ones for less than 1 each.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    paid: f64,
    all: f64,
}

/// How often something paid.
#[derive(Debug)]
pub(super) struct Experience {
    pages: Vec<Times>,
    /// The share of the times, for all pages, that paid; at first a half.
    paid: f64,
}

/// How experience is weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// How much the latest time counts among those of all pages. Over 0 to 1.
    pub learning: f64,
    /// As how many times for this page all pages' times count. Over 0.
    pub all_pages: f64,
    /// How much less an earlier time for a page counts than the next one. Over 0 to 1; at 1 as much.
    pub fading: f64,
}

impl Experience {
    pub(super) fn none() -> Self {
        Self { pages: Vec::new(), paid: 0.5 }
    }

    pub(super) fn make_room(&mut self, pages: usize) {
        self.pages.resize(pages, Times::default());
    }

    /// It was done for a page and has turned out.
    pub(super) fn learn(&mut self, weights: &Weights, page: Page, paid: bool) {
        let paid = f64::from(u8::from(paid));
        self.paid += (paid - self.paid) * weights.learning;
        let times = &mut self.pages[page.index()];
        times.paid = times.paid * weights.fading + paid;
        times.all = times.all * weights.fading + 1.0;
    }

    /// The share of times that can be expected to pay for a page, from 0 to 1.
    pub(super) fn expected(&self, weights: &Weights, page: Page) -> f64 {
        let times = self.pages[page.index()];
        (self.paid * weights.all_pages + times.paid) / (weights.all_pages + times.all)
    }

    /// The page's number stands for another one.
    pub(super) fn forget(&mut self, page: Page) {
        if let Some(times) = self.pages.get_mut(page.index()) {
            *times = Times::default();
        }
    }
}
