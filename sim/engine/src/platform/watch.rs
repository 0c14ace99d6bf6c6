//! Waiting for a word to change.

use kilocore_platform::{Atomic, Cycles, Ordering};

use crate::costs::LONGEST_STEP;
use crate::current::{in_task, suspend, with_engine};
use crate::outcome::Activity;
use crate::state::{Check, Intent};

/// Waits until `done` accepts the value of `cell` or `patience` is over, and returns the value last
/// read.
pub(crate) fn watch<A: Atomic>(
    cell: &A,
    activity: Activity,
    patience: Option<Cycles>,
    mut done: impl FnMut(A::Value) -> bool,
) -> A::Value {
    let mut value = cell.load(Ordering::Acquire);
    if done(value) || !in_task() {
        return value;
    }
    let mut check = || {
        value = cell.load(Ordering::Acquire);
        done(value)
    };
    let check: *mut (dyn FnMut() -> bool + '_) = &raw mut check;
    // SAFETY: only the lifetime changes. The engine calls the condition while this fiber is
    // suspended below, which is while it lives, and forgets it when the wait is over.
    let check: Check = unsafe { std::mem::transmute(check) };
    let address = std::ptr::from_ref(cell).addr();
    let patience = patience.map(|patience| patience.min(LONGEST_STEP));
    with_engine(|engine| engine.watch(address, check, activity, patience));
    suspend(Intent::Wait);
    value
}
