//! Room on the stack for what loom runs.
//!
//! loom gives a thread 28 KiB of stack, and for a program's first thread there is no setting. Code that
//! is not optimized compiles in a fifth of the time, but copies a lock's large body from frame to
//! frame and overflows that. So programs run on larger stacks, of which a few are kept for each
//! thread of the operating system.

use std::cell::RefCell;

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

/// The length of a larger stack, in bytes.
const STACK_BYTES: usize = 256 << 10;

thread_local! {
    /// The stacks that nobody uses.
    static FREE: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A stack that is kept for the next one when it is dropped.
struct Lent(Option<DefaultStack>);

impl Lent {
    fn new() -> Self {
        let kept = FREE.with_borrow_mut(Vec::pop);
        let stack = kept.unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("a stack"));
        Self(Some(stack))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        FREE.with_borrow_mut(|free| free.extend(self.0.take()));
    }
}

/// Runs `run` on a stack of 256 KiB. A thread of loom can be in it when loom changes to another
/// thread.
///
/// # Panics
/// If `run` panics, or if there is no memory for a stack.
pub(crate) fn with_room<R>(run: impl FnOnce() -> R) -> R {
    let mut lent = Lent::new();
    on_stack(lent.0.as_mut().expect("lent until it is dropped"), run)
}

#[cfg(test)]
mod tests {
    use crate::{Threads, model};
    use kilocore_platform::Loom;

    /// More than loom's own stacks hold.
    fn fill() {
        const BYTES: usize = 128 << 10;
        let filled = std::hint::black_box([1_u8; BYTES]);
        assert_eq!(filled.iter().map(|&byte| usize::from(byte)).sum::<usize>(), BYTES);
    }

    #[test]
    fn every_thread_of_a_model_has_more_room_than_loom_gives() {
        model(None, || {
            let other = Loom::spawn(fill);
            fill();
            Loom::join(other);
        });
    }
}
