//! A cache of one thread over page lists: what a program with too little memory would do.
//!
//! Each page that is not in memory takes a free frame, or the frame of the one page that the lists give up
//! for it. So the cache is as full as that of exact LRU. A page that waits in a batch is in memory.

use kilocore_lru::{Class, Fate, FrameId, PageHash, PageLists};
use kilocore_platform::Native;

use crate::hit_ratios::trace::PageNumber;

const NONE: u32 = u32::MAX;

/// A cache with as many frames as its lists.
#[derive(Debug)]
pub struct Cache<'a, T: PageLists<Native>> {
    lists: &'a T,
    /// By page, its frame or [`NONE`].
    frame_of: Vec<u32>,
    /// By frame, its page.
    page_in: Vec<PageNumber>,
    used: u32,
}

impl<'a, T: PageLists<Native>> Cache<'a, T> {
    /// Returns an empty cache over empty lists, for pages whose numbers are less than `pages`.
    #[must_use]
    pub fn new(lists: &'a T, pages: u32) -> Self {
        Self {
            frame_of: vec![NONE; pages as usize],
            page_in: vec![PageNumber(0); lists.frames() as usize],
            used: 0,
            lists,
        }
    }

    /// Uses a page. Returns whether it was in memory.
    pub fn access(&mut self, page: PageNumber) -> bool {
        let frame = self.frame_of[page.0 as usize];
        if frame != NONE {
            self.lists.touch(FrameId(frame));
            return true;
        }
        let frame = self.free_frame();
        self.frame_of[page.0 as usize] = frame.0;
        self.page_in[frame.0 as usize] = page;
        let hash = PageHash(page.0.into());
        self.lists.add_page(frame, Class::File, hash).expect("a free frame is no member");
        self.lists.touch(frame);
        false
    }

    fn free_frame(&mut self) -> FrameId {
        if self.used < self.lists.frames() {
            self.used += 1;
            return FrameId(self.used - 1);
        }
        let mut free = None;
        let mut take = |frame| {
            free = Some(frame);
            Fate::Reclaim
        };
        if self.lists.reclaim(Class::File, 1, &mut take) == 0 {
            self.lists.drain();
            self.lists.reclaim(Class::File, 1, &mut take);
        }
        let frame = free.expect("all pages can be given up");
        let page = self.page_in[frame.0 as usize];
        self.frame_of[page.0 as usize] = NONE;
        frame
    }
}
