//! The engine whose fiber runs, and the switch between the two.
//!
//! The code of a task finds its engine in a thread local. Only this file holds the pointer, and only
//! here is a reference made of it. There is never a second reference:
//!
//! 1. The pointer is set only while a fiber runs. [`resume`] has the engine borrowed all that time
//!    and does not touch it. A task that a thread of the host executes ([`crate::guests`]) has the pointer
//!    while it is the one that runs, and hands it on with that.
//! 2. What runs inside [`with_engine`] are methods of the engine. Those are in layers below this
//!    file, so they neither call it nor suspend the fiber. The one piece of foreign code that they
//!    call is the condition of a waiter, and only the main loop calls that, while no fiber runs.
//!
//! So a task first decides inside `with_engine` what to do and then suspends outside of it. Builds
//! with debug assertions check the second rule: they take the pointer away while a reference lives,
//! so that another look finds no engine and a suspension panics.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use crate::engine::Engine;
use crate::fiber::Fiber;
use crate::state::Intent;

thread_local! {
    static CURRENT: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
    /// What a thread that executes a task does to let others go on. A fiber suspends itself instead.
    static HAND_OVER: Cell<Option<fn()>> = const { Cell::new(None) };
    /// Whether what runs ends where there is no engine, and does not go on without one.
    static ENDS_WITHOUT: Cell<bool> = const { Cell::new(false) };
}

/// What unwinds the code of a task whose engine is gone.
struct Gone;

/// Does something that several tasks must not do at once, as they would if they went on without the engine. Where it is
/// gone, it ends, and `None` is returned. What it has left for others to see must stay then.
pub(crate) fn only_with_engine<R>(work: impl FnOnce() -> R) -> Option<R> {
    ENDS_WITHOUT.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    ENDS_WITHOUT.set(false);
    match done {
        Ok(result) => Some(result),
        Err(why) if why.is::<Gone>() => None,
        Err(why) => resume_unwind(why),
    }
}

#[cold]
fn without_engine<R>() -> Option<R> {
    if ENDS_WITHOUT.get() && !std::thread::panicking() {
        resume_unwind(Box::new(Gone));
    }
    None
}

/// Lets this host thread, which executes a task, reach its engine until [`leave`].
///
/// # Safety
/// The engine lives meanwhile, and nobody else uses it.
pub(crate) unsafe fn enter(engine: *mut Engine, hand_over: fn()) {
    CURRENT.set(engine);
    HAND_OVER.set(Some(hand_over));
}

/// Takes the engine from this host thread. It is null if the thread had none.
pub(crate) fn leave() -> *mut Engine {
    HAND_OVER.set(None);
    CURRENT.replace(ptr::null_mut())
}

/// Calls `look` with the engine whose fiber runs on this host thread. Returns `None` if no fiber
/// runs.
///
/// `look` only calls methods of the engine. It neither looks once more nor suspends the fiber.
#[inline(always)]
pub(crate) fn with_engine<R>(look: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    let current = CURRENT.get();
    if cfg!(debug_assertions) {
        CURRENT.set(ptr::null_mut());
    }
    // SAFETY: a pointer that is set is that of `resume`, which has borrowed the engine and does not
    // use it until the fiber suspends. There is no second reference while `look` has this one, by
    // the second rule above.
    let Some(engine) = (unsafe { current.as_mut() }) else { return without_engine() };
    let seen = look(engine);
    if cfg!(debug_assertions) {
        CURRENT.set(current);
    }
    Some(seen)
}

/// Whether this is the code of a simulated task.
#[inline]
pub(crate) fn in_task() -> bool {
    !CURRENT.get().is_null()
}

/// Suspends the running task for the given reason, until its core goes on.
///
/// # Panics
/// Outside a simulated task, and inside [`with_engine`].
pub(crate) fn suspend(intent: Intent) {
    if let Some(hand_over) = HAND_OVER.get() {
        with_engine(|engine| engine.intent = intent);
        // What others wait for is looked at on this thread meanwhile, and by nobody's engine.
        let ends = ENDS_WITHOUT.replace(false);
        hand_over();
        ENDS_WITHOUT.set(ends);
        return;
    }
    let yielder = with_engine(|engine| {
        engine.intent = intent;
        engine.running_yielder()
    });
    let yielder = yielder.expect("only a task suspends, and without a reference to its engine");
    // SAFETY: the fiber that runs is the caller's. It has set its yielder, which lives on its stack
    // as long as its body runs.
    unsafe { (*yielder).suspend(()) };
}

/// Runs the fiber of the current core until it suspends itself. Returns whether its body is done.
pub(crate) fn resume(engine: &mut Engine) -> bool {
    /// Takes the pointer away also when the fiber panics.
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.set(ptr::null_mut());
        }
    }
    let task = engine.running_task();
    let fiber = engine.tasks[task].fiber.as_mut();
    let fiber: *mut Fiber = fiber.expect("a task that is not done has a fiber");
    let _reset = Reset;
    CURRENT.set(ptr::from_mut(engine));
    // SAFETY: the fiber stays where it is, as tasks are added only before a simulation runs. While
    // it runs, the engine is reached through `CURRENT` only, and nobody changes the fiber: its task
    // is removed from it only once it is done.
    unsafe { (*fiber).resume() }
}
