//! How long a waiter keeps its core before it gives it up, and how it measures that time.

use kilocore_platform::Platform;

/// A bounded spin: a few looks at a word, with pauses between them. The pauses double up to
/// [`LONGEST_PAUSE`], so that the waiter seldom reads a line that others want.
///
/// It is bounded by a number of turns and not by time, because reading the clock costs about as
/// much as the look that it would limit.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Turns of a spin loop that are left.
    left: u32,
    /// Turns that the next pause takes.
    pause: u32,
}

/// The longest single pause in turns of a spin loop.
const LONGEST_PAUSE: u32 = 64;

impl Patience {
    /// A spin of `turns` turns. Under a checker, it has one turn.
    #[inline]
    pub(crate) fn new<P: Platform>(turns: u32) -> Self {
        Self { left: if P::CHECKED { 1 } else { turns }, pause: 1 }
    }

    /// Pauses and returns true, or returns false if no turns are left.
    #[inline]
    pub(crate) fn pause<P: Platform>(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        let pause = self.pause.min(self.left);
        P::pause(pause);
        self.left -= pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        true
    }
}
