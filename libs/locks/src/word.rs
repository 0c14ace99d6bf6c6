//! Entering by a change of one word.

use kilocore_platform::{Atomic, Ordering};

/// Changes `word` by `change` unless its value is `shut`. Returns whether it did. If it did, the caller
/// sees what happened before the releases that led to the value. A change of the word in between is no
/// reason to fail.
#[inline(always)]
pub(crate) fn enter_unless<A: Atomic>(
    word: &A,
    shut: impl Fn(A::Value) -> bool,
    change: impl Fn(A::Value) -> A::Value,
) -> bool {
    let mut seen = word.load(Ordering::Relaxed);
    while !shut(seen) {
        match word.compare_exchange(seen, change(seen), Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}
