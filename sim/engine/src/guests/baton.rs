//! What a guest waits for: that it is its turn.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A place where one thread waits until another one gives it something.
#[derive(Debug, Default)]
pub(super) struct Baton {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_given: bool,
    /// Whether a thread waits that may go on without it.
    may_be_let_go: bool,
    /// Whether it is to do so.
    is_let_go: bool,
}

/// How a wait for it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The caller has it.
    Given,
    /// The caller was [let go](Baton::let_go), and has it not.
    LetGo,
}

impl Baton {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread go on that waits here, or will.
    pub(super) fn give(&self) {
        self.state().is_given = true;
        self.changed.notify_one();
    }

    /// Lets the thread that waits here go on without it, if it may. Whether it does. It should come and wait again.
    pub(super) fn let_go(&self) -> bool {
        let mut state = self.state();
        let goes = state.may_be_let_go && !state.is_given;
        if goes {
            state.is_let_go = true;
            self.changed.notify_one();
        }
        goes
    }

    /// Waits until it is given, and takes it, or until the thread is let go, if it may be.
    pub(super) fn wait(&self, may_be_let_go: bool) -> Wait {
        let mut state = self.state();
        state.may_be_let_go = may_be_let_go;
        while !state.is_given && !state.is_let_go {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.may_be_let_go = false;
        if std::mem::take(&mut state.is_let_go) {
            return Wait::LetGo;
        }
        state.is_given = false;
        Wait::Given
    }
}
