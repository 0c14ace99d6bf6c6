//! What tasks keep on their stacks for others to see.

use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use kilocore_platform::{Padded, Platform};

use super::Sim;
use crate::current::with_engine;
use crate::engine::Engine;

/// Calls `work` with `value` on the simulated stack of the running task.
pub(super) fn with_local<T, R>(value: T, work: impl FnOnce(&T) -> R) -> R {
    match with_engine(|engine| engine.push_local(Layout::new::<T>())) {
        Some(Some(place)) => {
            let local = Local(place.cast::<T>());
            // SAFETY: the place has room for it, is aligned for it, and is nobody else's until it is
            // given back below.
            unsafe { local.0.write(value) };
            // SAFETY: it was just written, and stays until `local` is dropped.
            work(unsafe { local.0.as_ref() })
        }
        // There is no room: its lines are new ones each time.
        Some(None) => {
            // Others may still know it when `work` ends because the engine is gone.
            let boxed = ManuallyDrop::new(Box::new(Padded(value)));
            let result = work(&boxed);
            Sim::discard(&raw const **boxed);
            drop(ManuallyDrop::into_inner(boxed));
            result
        }
        None => work(&value),
    }
}

/// A value at the end of its task's simulated stack.
struct Local<T>(NonNull<T>);

impl<T> Drop for Local<T> {
    fn drop(&mut self) {
        // SAFETY: it was written when it got its place, and nobody uses it any more.
        unsafe { self.0.drop_in_place() };
        // If nothing runs, the simulation is being given up, and its stacks with it.
        with_engine(|engine| engine.pop_local(Layout::new::<T>()));
    }
}

impl Engine {
    fn push_local(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let task = self.running_task();
        self.tasks[task].locals.push(layout)
    }

    fn pop_local(&mut self, layout: Layout) {
        let task = self.running_task();
        self.tasks[task].locals.pop(layout);
    }
}
