//! Who called whom: the return addresses of a thread's innermost calls.
//!
//! QEMU's interface gives no registers, so the stack cannot be walked. Calls and returns are seen instead.
//! A jump out of several functions, as of `longjmp`, leaves too many addresses, which are below those of
//! later calls.

/// So many calls are remembered. Deeper ones push out the outermost.
const MOST: usize = 64;

/// The calls of a thread.
#[derive(Debug)]
pub(crate) struct Calls {
    returns: [u64; MOST],
    depth: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self { returns: [0; MOST], depth: 0 }
    }
}

impl Calls {
    #[inline]
    pub(crate) fn call(&mut self, returns_to: u64) {
        self.returns[self.depth % MOST] = returns_to;
        self.depth += 1;
    }

    #[inline]
    pub(crate) fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.returns[self.depth % MOST] = 0;
    }

    /// The return addresses, the innermost first. Those that are not known are 0.
    pub(crate) fn innermost<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|index| match self.depth.checked_sub(index + 1) {
            Some(at) if index < MOST => self.returns[at % MOST],
            _ => 0,
        })
    }
}
