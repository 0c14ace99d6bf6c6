//! Stackful fibers: one for each simulated thread.

use std::alloc::Layout;
use std::cell::Cell;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use kilocore_platform::Padded;

use crate::heap::displacement;

/// Stack of a fiber in bytes. Simulated code does not recurse deeply. The host backs a page only once
/// it is touched.
const STACK_BYTES: usize = 128 * 1024;

/// The part of that for [`Locals`].
const LOCAL_BYTES: usize = 4096;

/// What a value in [`Locals`] has at least: whole cache lines, in pairs as processors fetch them.
const LOCAL_ALIGN: usize = align_of::<Padded<u8>>();

/// The alignment of a stack on every processor.
const STACK_ALIGN: usize = 16;

/// Distance between the beginnings of successive stacks, modulo a page, in bytes.
const COLOUR_BYTES: usize = 192;
/// How many beginnings there are. They fill two pages.
const COLOURS: usize = 42;

/// The simulated stack of a task, for what other tasks may access: the queue nodes of waiters, for
/// example. It lies above the frames. Each value begins with a cache line, behind those that were put
/// there before and are still there. So its lines do not depend on the frames of the compiler.
#[derive(Debug)]
pub(crate) struct Locals {
    next: *mut u8,
    end: usize,
}

impl Locals {
    /// Room for nothing.
    pub(crate) const NONE: Self = Self { next: ptr::null_mut(), end: 0 };

    /// A place for a value of this layout, if there is room.
    #[inline]
    pub(crate) fn push(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let bytes = Self::bytes(layout);
        if bytes > self.end - self.next.addr() || layout.align() > LOCAL_ALIGN {
            return None;
        }
        let place = NonNull::new(self.next)?;
        self.next = self.next.wrapping_add(bytes);
        Some(place)
    }

    /// Gives the place back that was got last, for this layout.
    #[inline]
    pub(crate) fn pop(&mut self, layout: Layout) {
        self.next = self.next.wrapping_sub(Self::bytes(layout));
    }

    fn bytes(layout: Layout) -> usize {
        layout.size().next_multiple_of(LOCAL_ALIGN)
    }
}

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
    frames: Range<usize>,
}

impl Fiber {
    /// The fiber with number `index`, which runs `body` when it is first resumed.
    pub(crate) fn new(index: usize, body: impl FnOnce() + 'static) -> std::io::Result<Self> {
        let yielder = Rc::new(Cell::new(std::ptr::null()));
        let own = Rc::clone(&yielder);
        let pages = DefaultStack::new(STACK_BYTES)?;
        let locals = pages.base().get() - index % COLOURS * COLOUR_BYTES - LOCAL_BYTES;
        let displaced = displacement().next_multiple_of(STACK_ALIGN);
        let skipped = pages.base().get() - locals + displaced;
        let stack = ColouredStack { pages, skipped };
        let frames = stack.limit().get()..locals;
        let coroutine = Coroutine::with_stack(stack, move |y: &Yielder<(), ()>, ()| {
            own.set(y);
            body();
        });
        Ok(Self { coroutine, yielder, frames })
    }

    /// The addresses of its frames.
    pub(crate) fn frames(&self) -> Range<usize> {
        self.frames.clone()
    }

    /// The part of its stack for what other tasks may access.
    pub(crate) fn locals(&self) -> Locals {
        let end = self.frames.end;
        Locals {
            next: ptr::with_exposed_provenance_mut(end.next_multiple_of(LOCAL_ALIGN)),
            end: end + LOCAL_BYTES,
        }
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
