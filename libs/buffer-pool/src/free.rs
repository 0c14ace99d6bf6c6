//! Free frames, on a stack for each core.
//!
//! A thread takes from its own core's stack first, and from all others after that: no page has to go while
//! any frame is free. A stack is one word with its first frame and a count that changes with each use, so
//! that a thread that was away does not take an old first frame for the present one.

use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use crate::frames::{Frames, NO_FRAME};
use crate::tables::table;

pub(crate) struct FreeStacks<P: Platform>(Box<[Padded<P::U64>]>);

/// The first frame of a stack, and the number of its uses.
#[derive(Clone, Copy)]
struct Head(u64);

impl Head {
    fn first(self) -> u32 {
        self.0 as u32
    }

    fn next(self, first: u32) -> Self {
        Head((self.0 >> 32).wrapping_add(1) << 32 | u64::from(first))
    }
}

impl<P: Platform> FreeStacks<P> {
    /// Returns empty stacks, or nothing if there is not so much memory.
    pub(crate) fn new(cores: u32) -> Option<Self> {
        table(cores as usize, |_| Padded(P::U64::new(u64::from(NO_FRAME)))).map(Self)
    }

    fn own(&self) -> usize {
        P::cpu().0 as usize % self.0.len()
    }

    /// Takes a free frame. It is the caller's then.
    pub(crate) fn pop(&self, frames: &Frames<P>) -> Option<FrameId> {
        let own = self.own();
        let in_turn = self.0[own..].iter().chain(&self.0[..own]);
        in_turn.filter_map(|stack| Self::pop_from(stack, frames)).next()
    }

    fn pop_from(stack: &P::U64, frames: &Frames<P>) -> Option<FrameId> {
        // Argued: acquire, here and if the exchange fails, so that the frame's next one is not older than the stack.
        // With an older one a frame is lost; the checks then wait for it until loom gives up.
        let mut head = Head(stack.load(Ordering::Acquire));
        while head.first() != NO_FRAME {
            let next = frames.at(FrameId(head.first())).next.load(Ordering::Relaxed);
            let new = head.next(next).0;
            // Argued: as above.
            match stack.compare_exchange(head.0, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(FrameId(head.first())),
                Err(now) => head = Head(now),
            }
        }
        None
    }

    /// Gives a frame that is the caller's to the stack of its core.
    pub(crate) fn push(&self, frames: &Frames<P>, frame: FrameId) {
        let stack = &self.0[self.own()];
        let mut head = Head(stack.load(Ordering::Relaxed));
        loop {
            frames.at(frame).next.store(head.first(), Ordering::Relaxed);
            let new = head.next(frame.0).0;
            // Argued: release, for the acquire in `pop_from`.
            match stack.compare_exchange(head.0, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = Head(now),
            }
        }
    }
}
