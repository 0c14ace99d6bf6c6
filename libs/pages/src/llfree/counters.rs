//! Tokens: the counters of trees, and which tree a core prefers.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Some core prefers the tree. The other bits are its tokens.
const RESERVED: u32 = 1 << 31;

/// The tokens of a tree. They are never more than the units of its children.
pub(super) struct Tree<P: Platform>(P::U32);

impl<P: Platform> Tree<P> {
    pub(super) fn new(tokens: u32) -> Self {
        Self(P::U32::new(tokens))
    }

    /// Puts `count` tokens back.
    pub(super) fn give(&self, count: u32) {
        // Release: whoever takes the token sees the unit of the child that was given before it. Argued:
        // without that, it could look for a unit in vain for some time. loom gives up on such a search.
        self.0.fetch_add(count, Ordering::Release);
    }

    /// Takes up to `most` tokens, if there are at least `least`, which is positive. Returns how many it
    /// took.
    pub(super) fn take(&self, least: u32, most: u32) -> u32 {
        self.change(least, most, |word, taken| Some(word - taken))
    }

    /// Takes up to `most` tokens and reserves the tree, if it has any and is not reserved yet.
    pub(super) fn reserve(&self, most: u32) -> u32 {
        self.change(1, most, |word, taken| {
            (word & RESERVED == 0).then_some((word - taken) | RESERVED)
        })
    }

    /// Ends a reservation, and leaves the tokens as they are.
    pub(super) fn leave(&self) {
        // Relaxed: it hands over nothing.
        self.0.fetch_and(!RESERVED, Ordering::Relaxed);
    }

    /// Takes between `least` and `most` tokens, if `next` returns a new word.
    fn change(&self, least: u32, most: u32, next: impl Fn(u32, u32) -> Option<u32>) -> u32 {
        // Relaxed: a stale word makes the exchange fail, or this tree be passed by.
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let taken = (seen & !RESERVED).min(most);
            if taken < least {
                return 0;
            }
            let Some(new) = next(seen, taken) else { return 0 };
            // Acquire: pairs with the release in `give`. Argued: there.
            match self.0.compare_exchange_weak(seen, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return taken,
                Err(now) => seen = now,
            }
        }
    }

    /// Returns the tokens, and whether some core prefers the tree, while nobody else is there.
    pub(super) fn state(&self) -> (u32, bool) {
        let word = self.0.load(Ordering::Relaxed); // Relaxed: nobody else is there.
        (word & !RESERVED, word & RESERVED != 0)
    }
}

/// Which tree a core prefers: it has reserved it.
pub(super) struct Preferred<P: Platform>(P::U32);

impl<P: Platform> Preferred<P> {
    pub(super) fn none() -> Self {
        Self(P::U32::new(0))
    }

    pub(super) fn get(&self) -> Option<u32> {
        self.0.load(Ordering::Relaxed).checked_sub(1) // Relaxed: a hint.
    }

    /// Prefers another tree, and returns the one before.
    pub(super) fn replace(&self, tree: u32) -> Option<u32> {
        // Relaxed: it hands over nothing.
        self.0.swap(tree + 1, Ordering::Relaxed).checked_sub(1)
    }
}
