//! Who called whom, by where the stack has the return addresses.
//!
//! QEMU's interface gives no registers, so the stack cannot be walked. But a call stores the return address,
//! and a return loads it, and the plugin sees both with their places on the stack. A call that stores at a
//! place has everything below it behind it: so functions that were left by `longjmp`, or by an exception,
//! are gone at the next call. Places that are far apart are on several stacks. Whoever switches stacks comes
//! back to a place that is known.
//!
//! A function that another one jumps to instead of calling it, at its own end, takes the place of that one. A handler
//! of a signal that the kernel calls on the same stack has whoever was interrupted for its caller.

/// So many calls are remembered. Deeper ones push out the outermost.
const MOST: usize = 64;

/// Places that are further apart are not on the same stack.
const LARGEST_STACK: u64 = 8 << 20;

/// A call that has not returned.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    /// Where the stack has the return address.
    place: u64,
    /// Where it came from, or goes back to.
    code: u64,
}

/// The calls of a thread.
#[derive(Debug)]
pub struct Frames {
    frames: [Frame; MOST],
    /// How many calls there are.
    depth: usize,
    /// How many of them, the outermost, are not remembered.
    pushed_out: usize,
}

impl Default for Frames {
    fn default() -> Self {
        Self { frames: [Frame::default(); MOST], depth: 0, pushed_out: 0 }
    }
}

impl Frames {
    /// A call stores where it returns to, at this place. `code` is an address by which it is remembered.
    #[inline(always)]
    pub fn call(&mut self, place: u64, code: u64) {
        if self.last().is_some_and(|last| is_below(last, place)) {
            self.leave_below(place);
        }
        self.frames[self.depth % MOST] = Frame { place, code };
        self.depth += 1;
        self.pushed_out = self.pushed_out.max(self.depth.saturating_sub(MOST));
    }

    /// A return loads from this place.
    #[inline(always)]
    pub fn end(&mut self, place: u64) {
        match self.last() {
            Some(last) if last == place => self.depth -= 1,
            _ => self.leave_for(place),
        }
    }

    /// The place of the innermost call, if it is remembered.
    #[inline(always)]
    fn last(&self) -> Option<u64> {
        (self.depth > self.pushed_out).then(|| self.frames[(self.depth - 1) % MOST].place)
    }

    /// What is below a place on its stack has been left.
    #[cold]
    fn leave_below(&mut self, place: u64) {
        while self.last().is_some_and(|last| is_below(last, place)) {
            self.depth -= 1;
        }
        self.forget_if_empty();
    }

    /// A function returns that is not the innermost.
    #[cold]
    fn leave_for(&mut self, place: u64) {
        let mut remembered = (self.pushed_out..self.depth).rev();
        match remembered.find(|index| self.frames[index % MOST].place == place) {
            Some(index) => self.depth = index,
            None => self.leave_below(place),
        }
        self.forget_if_empty();
    }

    /// If only calls are left that are not remembered, they need not be counted.
    fn forget_if_empty(&mut self) {
        if self.depth == self.pushed_out {
            (self.depth, self.pushed_out) = (0, 0);
        }
    }

    /// The addresses by which the calls are remembered that have not returned, the innermost first.
    pub fn calls(&self) -> impl Iterator<Item = u64> + '_ {
        (self.pushed_out..self.depth).rev().map(|index| self.frames[index % MOST].code)
    }

    /// Whether there are more calls than are remembered.
    #[must_use]
    pub fn are_cut(&self) -> bool {
        self.pushed_out > 0
    }
}

/// Whether a place is on the same stack as another one, and at it or below it.
#[inline(always)]
fn is_below(place: u64, other: u64) -> bool {
    other.wrapping_sub(place) < LARGEST_STACK
}
