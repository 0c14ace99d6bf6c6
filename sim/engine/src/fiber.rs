//! Stackful fibers: one for each simulated thread.

use std::cell::Cell;
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// Stack of a fiber in bytes. Simulated code keeps queue nodes there but does not recurse deeply.
/// The host backs a page only once it is touched.
const STACK_BYTES: usize = 128 * 1024;

/// Distance between the beginnings of successive stacks, modulo a page, in bytes.
const COLOUR_BYTES: usize = 192;
/// How many beginnings there are. They fill two pages.
const COLOURS: usize = 42;

/// A stack that begins a little further down than the one before.
///
/// Stacks are mapped in whole pages. Without this, the words that are live while fibers are
/// suspended would all fall into the same few sets of the host's first-level cache. That makes
/// switching between a few dozen fibers several times as slow.
struct ColouredStack {
    pages: DefaultStack,
    skipped: usize,
}

// SAFETY: the pages stay mapped for as long as the stack lives, and this is an upper end of them
// cut off: still aligned, as a colour is a multiple of the alignment, and far above the limit.
unsafe impl Stack for ColouredStack {
    fn base(&self) -> StackPointer {
        let base = self.pages.base().get() - self.skipped;
        StackPointer::new(base).expect("far from the beginning of memory")
    }

    fn limit(&self) -> StackPointer {
        self.pages.limit()
    }
}

/// A suspended or finished simulated thread.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), (), (), ColouredStack>,
    yielder: Rc<Cell<*const Yielder<(), ()>>>,
}

impl Fiber {
    /// The fiber with number `index`, which runs `body` when it is first resumed.
    pub(crate) fn new(index: usize, body: impl FnOnce() + 'static) -> std::io::Result<Self> {
        let yielder = Rc::new(Cell::new(std::ptr::null()));
        let own = Rc::clone(&yielder);
        let pages = DefaultStack::new(STACK_BYTES)?;
        let stack = ColouredStack { pages, skipped: index % COLOURS * COLOUR_BYTES };
        let coroutine = Coroutine::with_stack(stack, move |y: &Yielder<(), ()>, ()| {
            own.set(y);
            body();
        });
        Ok(Self { coroutine, yielder })
    }

    /// Runs the fiber until it suspends. Returns whether its body has returned.
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Return(()))
    }

    /// What the fiber's own code needs to suspend itself.
    pub(crate) fn yielder(&self) -> *const Yielder<(), ()> {
        self.yielder.get()
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber").field("done", &self.coroutine.done()).finish()
    }
}
