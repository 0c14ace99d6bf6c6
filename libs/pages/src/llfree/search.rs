//! From tokens to frames.

use kilocore_platform::{Atomic, CpuId, Ordering, Platform};

use super::LlFree;
use super::bits::{self, WORD_BITS};
use super::counters::Preferred;
use crate::frame::FrameId;

impl<P: Platform> LlFree<P> {
    /// Takes between one and `most` frames of one tree. Returns how many; 0 if none is free.
    pub(super) fn take_some(&self, core: CpuId, most: u32, each: &mut impl FnMut(FrameId)) -> u32 {
        let Some((tree, count)) = self.tokens_for(core, most) else { return 0 };
        let mut left = count;
        // A token is good for a frame, but while this thread looks through the children, others may
        // take the frames it has not come to and put back those it has passed. Then it looks again,
        // and the others have got on.
        while left > 0 {
            for child in self.children_of(tree) {
                let units = self.take_units(child, 1, left);
                if units > 0 {
                    self.take_of_child(child, units, each);
                    left -= units;
                }
                if left == 0 {
                    break;
                }
            }
        }
        count
    }

    /// Takes an aligned run of frames of one child.
    pub(super) fn take_run(&self, core: CpuId, frames: u32) -> Option<FrameId> {
        let preferred = self.preferred_of(core).get();
        preferred.into_iter().chain(0..self.trees.len() as u32).find_map(|tree| {
            let tokens = &self.trees[tree as usize];
            if tokens.take(frames, frames) == 0 {
                return None;
            }
            let run = self.run_of(tree, frames);
            if run.is_none() {
                tokens.give(frames);
            }
            run
        })
    }

    /// Takes free frames of one word, wherever their tokens are. Returns their bits.
    pub(super) fn take_of_word(&self, word: u32) -> u64 {
        let Some(bits) = self.bits.get(word as usize) else { return 0 };
        // Relaxed: how many there are now decides only for how many this asks.
        let wanted = bits.load(Ordering::Relaxed).count_zeros();
        let first = FrameId(word * WORD_BITS);
        let (tree, child) = (self.tree_of(first), first.0 / self.geometry.child_frames());
        let tokens = if wanted > 0 { self.trees[tree as usize].take(1, wanted) } else { 0 };
        let units = if tokens > 0 { self.take_units(child, 1, tokens) } else { 0 };
        let taken = if units > 0 { bits::take_lowest::<P>(bits, units) } else { 0 };
        // Others were faster at some of the frames, but they have left as many in the child or the tree.
        let count = taken.count_ones();
        if units > count {
            self.give_child(first, units - count);
        }
        if tokens > count {
            self.trees[tree as usize].give(tokens - count);
        }
        taken
    }

    /// Takes tokens of one tree: of the one that the core prefers, of one that it prefers from now on,
    /// or of any other.
    fn tokens_for(&self, core: CpuId, most: u32) -> Option<(u32, u32)> {
        let preferred = self.preferred_of(core).get();
        let own = preferred.and_then(|tree| {
            let count = self.trees[tree as usize].take(1, most);
            (count > 0).then_some((tree, count))
        });
        own.or_else(|| self.reserve(core, most)).or_else(|| self.steal(most))
    }

    /// Reserves another tree for a core, and takes tokens of it.
    fn reserve(&self, core: CpuId, most: u32) -> Option<(u32, u32)> {
        let trees = self.trees.len() as u32;
        let cores = self.preferred.len() as u32;
        // Cores begin at different trees, so that they do not all try the same.
        let begin = core.0 % cores * (trees / cores);
        let (tree, count) = (begin..trees).chain(0..begin).find_map(|tree| {
            let count = self.trees[tree as usize].reserve(most);
            (count > 0).then_some((tree, count))
        })?;
        if let Some(before) = self.preferred_of(core).replace(tree) {
            self.trees[before as usize].leave();
        }
        Some((tree, count))
    }

    /// Takes tokens of any tree: the last that there are.
    fn steal(&self, most: u32) -> Option<(u32, u32)> {
        (0..self.trees.len() as u32).find_map(|tree| {
            let count = self.trees[tree as usize].take(1, most);
            (count > 0).then_some((tree, count))
        })
    }

    fn preferred_of(&self, core: CpuId) -> &Preferred<P> {
        &self.preferred[core.0 as usize % self.preferred.len()]
    }

    fn children_of(&self, tree: u32) -> core::ops::Range<u32> {
        let first = tree * self.geometry.children_per_tree;
        first..(first + self.geometry.children_per_tree).min(self.children.len() as u32)
    }

    /// Takes up to `most` units of a child, if it has at least `least`. Returns how many.
    fn take_units(&self, child: u32, least: u32, most: u32) -> u32 {
        let units = &self.children[child as usize];
        // Relaxed: a stale number makes the exchange fail, or this child be passed by.
        let mut seen = units.load(Ordering::Relaxed);
        while seen >= least && seen > 0 {
            let taken = seen.min(most);
            // Acquire: pairs with the release in `give_child`, so that the clear bits are seen. Argued:
            // there.
            let exchanged = units.compare_exchange_weak(
                seen,
                seen - taken,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return taken,
                Err(now) => seen = now,
            }
        }
        0
    }

    /// Takes as many frames of a child as the caller has units of it.
    fn take_of_child(&self, child: u32, units: u32, each: &mut impl FnMut(FrameId)) {
        let mut left = units;
        // As in `take_some`: a unit is good for a bit, but perhaps for one that was passed.
        while left > 0 {
            for word in self.words_of(child) {
                let mut taken = bits::take_lowest::<P>(&self.bits[word as usize], left);
                left -= taken.count_ones();
                while taken != 0 {
                    each(FrameId(word * WORD_BITS + taken.trailing_zeros()));
                    taken &= taken - 1;
                }
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Takes a run of a tree, of which the caller has tokens for it.
    fn run_of(&self, tree: u32, frames: u32) -> Option<FrameId> {
        self.children_of(tree).find_map(|child| {
            if self.take_units(child, frames, frames) == 0 {
                return None;
            }
            let run = if frames <= WORD_BITS {
                self.run_in_words(child, frames)
            } else {
                self.run_of_words(child, frames / WORD_BITS)
            };
            if run.is_none() {
                self.give_child(FrameId(child * self.geometry.child_frames()), frames);
            }
            run
        })
    }

    fn run_in_words(&self, child: u32, frames: u32) -> Option<FrameId> {
        self.words_of(child).find_map(|word| {
            let run = bits::take_run::<P>(&self.bits[word as usize], frames);
            (run != 0).then(|| FrameId(word * WORD_BITS + run.trailing_zeros()))
        })
    }

    /// Takes a run of several whole words, one after the other, and gives back what it has if the next
    /// one is not free.
    fn run_of_words(&self, child: u32, words: u32) -> Option<FrameId> {
        self.words_of(child).step_by(words as usize).find_map(|first| {
            let took = (first..first + words)
                .take_while(|&word| bits::take_run::<P>(&self.bits[word as usize], WORD_BITS) != 0)
                .count() as u32;
            let frame = FrameId(first * WORD_BITS);
            if took == words {
                return Some(frame);
            }
            self.clear(frame, took * WORD_BITS);
            None
        })
    }

    fn words_of(&self, child: u32) -> core::ops::Range<u32> {
        let first = child * self.geometry.words_per_child;
        first..first + self.geometry.words_per_child
    }

    /// Returns all frames whose bits are clear.
    pub(super) fn free_frames(&self) -> impl Iterator<Item = FrameId> + '_ {
        (0..self.frames).map(FrameId).filter(|frame| {
            // Relaxed: nobody else is there.
            let word = self.bits[(frame.0 / WORD_BITS) as usize].load(Ordering::Relaxed);
            word >> (frame.0 % WORD_BITS) & 1 == 0
        })
    }

    /// Checks the counters against the bits, while nobody else is there.
    pub(super) fn validate_counters(&self) {
        let mut by_child = alloc::vec![0; self.children.len()];
        for frame in self.free_frames() {
            by_child[(frame.0 / self.geometry.child_frames()) as usize] += 1;
        }
        for (child, free) in by_child.iter().enumerate() {
            // Relaxed: nobody else is there.
            let units = self.children[child].load(Ordering::Relaxed);
            assert_eq!(units, *free, "child {child} counts its free frames");
        }
        for tree in 0..self.trees.len() as u32 {
            let children = self.children_of(tree);
            let free: u32 = by_child[children.start as usize..children.end as usize].iter().sum();
            let cores = self.preferred.iter().filter(|core| core.get() == Some(tree)).count();
            let (tokens, reserved) = self.trees[tree as usize].state();
            assert_eq!(cores, usize::from(reserved), "tree {tree} is reserved by one core at most");
            assert_eq!(tokens, free, "tree {tree} has a token for each free frame");
        }
    }
}
