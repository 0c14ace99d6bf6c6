//! Entering by a change of one word, and a look at it.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Changes `word` by `change` unless its value is `shut`. Returns whether it did. If it did, the caller
/// sees what happened before the releases that led to the value, and the change is one of the
/// sequentially consistent operations, as [`TellsHeld`](crate::TellsHeld) asks for. A change of the word
/// in between is no reason to fail.
#[inline(always)]
pub(crate) fn enter_unless<A: Atomic>(
    word: &A,
    shut: impl Fn(A::Value) -> bool,
    change: impl Fn(A::Value) -> A::Value,
) -> bool {
    let mut seen = word.load(Ordering::Relaxed);
    while !shut(seen) {
        // Argued: sequentially consistent, so that the look of `TellsHeld` and this are in one order with
        // what their threads do before the one and after the other. Under loom every exchange is.
        match word.compare_exchange(seen, change(seen), Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}

/// Returns the value of `word`. This is one of the sequentially consistent operations, as
/// [`TellsHeld`](crate::TellsHeld) asks for, and an acquire.
#[inline]
pub(crate) fn look_in_order<P: Platform, A: AtomicInt<Value = u32>>(word: &A) -> u32 {
    if P::SEQUENTIAL_LOADS {
        // Sequentially consistent, as every change that enters.
        word.load(Ordering::SeqCst)
    } else {
        // After this, who enters sees what the caller did before.
        word.fetch_add(0, Ordering::AcqRel)
    }
}
