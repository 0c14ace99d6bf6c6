//! The token: who may use the engine, and who is next.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kilocore_platform::Cycles;

use super::address_space::{self, AddressSpace};
use super::baton::{Baton, Wait};
use crate::agenda::Event;
use crate::current;
use crate::engine::Engine;
use crate::ids::{CoreId, Id, SimAddress, TaskId};
use crate::main_loop::GivenUp;
use crate::simulation::{self, SimError};

/// What whoever is next does before it goes on.
type Before = Box<dyn FnOnce() + Send>;
/// What is asked when nothing can happen any more: which tasks that sleep are to go on all the same.
pub(super) type WhenStuck = fn() -> Vec<TaskId>;

/// What all guests of a machine share.
pub(super) struct Shared {
    /// The engine, which whoever has the token may use.
    engine: *mut Engine,
    /// What a guest does to let others go on.
    hand_over: fn(),
    /// By how much a guest may run ahead of the others.
    pub(super) disorder: Cycles,
    /// What guards what the program has mapped where.
    pub(super) space: AddressSpace,
    state: Mutex<State>,
    /// Whether somebody waits on the list of those who came back.
    came_back: AtomicBool,
    over: AtomicBool,
}

// SAFETY: only `engine` is not sendable or shared by itself. It is used by the one thread that has the token,
// which is passed on under a mutex (`Baton`, `state`), so that what one has done is seen by the next.
unsafe impl Send for Shared {}
// SAFETY: the same.
unsafe impl Sync for Shared {}

struct State {
    /// Whether some guest has the token.
    held: bool,
    batons: Vec<Arc<Baton>>,
    /// What has to be done before somebody goes on.
    before: Vec<Before>,
    /// How many are outside.
    outside: usize,
    /// Who has come back and is not in the agenda yet.
    back: Vec<TaskId>,
    /// Asked who goes on when nothing can happen any more.
    when_stuck: Option<WhenStuck>,
    failure: Option<SimError>,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The caller's, who has the engine.
    Mine,
    /// Somebody else's, or nobody's.
    Others,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("disorder", &self.disorder).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(
        engine: Box<Engine>,
        disorder: Cycles,
        space: AddressSpace,
        hand_over: fn(),
    ) -> Self {
        let state = State {
            held: false,
            batons: Vec::new(),
            before: Vec::new(),
            outside: 0,
            back: Vec::new(),
            when_stuck: None,
            failure: None,
        };
        Self {
            engine: Box::into_raw(engine),
            hand_over,
            disorder,
            space,
            state: Mutex::new(state),
            came_back: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the first task its core, and the calling thread the token.
    pub(super) fn begin(&self, first: impl FnOnce(&mut Engine) -> TaskId) {
        let mut state = self.state();
        assert!(!state.held && state.batons.is_empty(), "there is no task yet");
        state.held = true;
        drop(state);
        // SAFETY: nobody had the token, and now this thread has it.
        let engine = unsafe { &mut *self.engine };
        let task = first(engine);
        self.add_baton(task);
        let next = engine.agenda.next();
        let core = engine.go_on(next).expect("the first task begins");
        engine.current = core;
        // SAFETY: this thread has the token until it passes it on.
        unsafe { current::enter(self.engine, self.hand_over) };
    }

    /// Makes a place where the thread of a new task can wait.
    pub(super) fn add_baton(&self, task: TaskId) {
        let mut state = self.state();
        if state.batons.len() <= task.index() {
            state.batons.push(Arc::default());
        }
    }

    /// The calling guest stops running as `stop` says, which returns the next event. Finds out whose turn it is
    /// and lets it go on.
    pub(super) fn pass_on(
        &self,
        stop: impl FnOnce(&mut Engine, CoreId) -> Result<Option<(Cycles, Event)>, GivenUp>,
    ) -> Turn {
        let engine = current::leave();
        if engine.is_null() {
            // All is over.
            return Turn::Mine;
        }
        // SAFETY: the pointer was this thread's, so it has the token and nobody else uses the engine.
        let engine = unsafe { &mut *engine };
        let me = engine.running_task();
        self.admit(engine);
        let core = engine.current;
        let turn = match stop(engine, core) {
            Ok(next) => self.next_turn(engine, next, Some(me)),
            Err(GivenUp(at)) => {
                self.stop(Some(SimError::TooLong { at }));
                Turn::Others
            }
        };
        if turn == Turn::Mine {
            // SAFETY: this thread has the token still.
            unsafe { current::enter(self.engine, self.hand_over) };
        }
        turn
    }

    /// Handles events until it is somebody's turn, and gives that one the token. `me` has it now.
    fn next_turn(
        &self,
        engine: &mut Engine,
        mut next: Option<(Cycles, Event)>,
        me: Option<TaskId>,
    ) -> Turn {
        loop {
            let went_on = engine.go_on(next);
            engine.tell_losses();
            if let Some(core) = went_on {
                engine.current = core;
                if engine.takes_too_long() {
                    self.stop(Some(SimError::TooLong { at: engine.now() }));
                    return Turn::Others;
                }
                let task = engine.running_task();
                if Some(task) == me {
                    return Turn::Mine;
                }
                let baton = Arc::clone(&self.state().batons[task.index()]);
                baton.give();
                return Turn::Others;
            }
            let mut state = self.state();
            if state.back.is_empty() {
                let stuck = state.outside == 0;
                let asked = state.when_stuck.filter(|_| stuck);
                let go_on = asked.map(|who| who()).unwrap_or_default();
                if !go_on.is_empty() {
                    drop(state);
                    go_on.into_iter().for_each(|task| engine.wake_task(task));
                    next = engine.agenda.next();
                    continue;
                }
                state.held = false;
                drop(state);
                if stuck {
                    self.stop(simulation::without_deadlock(engine).err());
                }
                return Turn::Others;
            }
            drop(state);
            self.admit(engine);
            next = engine.agenda.next();
        }
    }

    /// Lets those who came back want a core, at the time of the current one.
    fn admit(&self, engine: &mut Engine) {
        if !self.came_back.swap(false, Ordering::AcqRel) {
            return;
        }
        let back = std::mem::take(&mut self.state().back);
        for task in back {
            engine.wake_task(task);
        }
    }

    /// The same, for a guest that runs.
    pub(super) fn welcome(&self) {
        if self.came_back.load(Ordering::Relaxed) {
            current::with_engine(|engine| self.admit(engine));
        }
    }

    /// Waits until it is a task's turn, or its thread is [let go](Self::let_go). With its turn, the calling thread has the
    /// engine, unless all is over.
    pub(super) fn wait_for_turn(&self, task: TaskId) -> Wait {
        let baton = self.state().batons.get(task.index()).map(Arc::clone);
        if let Some(baton) = baton
            && !self.is_over()
            && baton.wait(!address_space::is_inside()) == Wait::LetGo
        {
            return Wait::LetGo;
        }
        if self.is_over() {
            return Wait::Given;
        }
        let before = std::mem::take(&mut self.state().before);
        before.into_iter().for_each(|before| before());
        // SAFETY: whoever had the token has given it to this task.
        unsafe { current::enter(self.engine, self.hand_over) };
        Wait::Given
    }

    /// Has the thread of a task that waits for its turn go on without it, if it may. Whether it does.
    pub(super) fn let_go(&self, task: TaskId) -> bool {
        let baton = self.state().batons.get(task.index()).map(Arc::clone);
        baton.is_some_and(|baton| baton.let_go())
    }

    /// The running task ends.
    pub(super) fn end(&self, task: TaskId, futex: Option<SimAddress>, gone: Before) {
        self.state().before.push(gone);
        self.pass_on(|engine, core| {
            debug_assert_eq!(engine.running_task(), task);
            // In one step: one who looked at the word in between would wait for ever.
            if let Some(futex) = futex {
                engine.wake(futex.get(), u32::MAX);
            }
            engine.end_task(core);
            Ok(engine.agenda.next())
        });
    }

    /// The running task leaves its core, to wait for something that is not simulated.
    pub(super) fn go_outside(&self) {
        current::with_engine(|engine| engine.sleep(None));
        self.state().outside += 1;
        let turn = self.pass_on(|engine, core| {
            engine.leave_core(core);
            Ok(engine.agenda.next())
        });
        debug_assert!(turn == Turn::Others || self.is_over(), "who sleeps has no turn");
    }

    /// A task comes back. It takes the token if nobody has it.
    pub(super) fn come_back(&self, task: TaskId) {
        let mut state = self.state();
        if self.is_over() {
            return;
        }
        state.outside -= 1;
        state.back.push(task);
        self.came_back.store(true, Ordering::Release);
        if state.held {
            return;
        }
        state.held = true;
        drop(state);
        // SAFETY: nobody had the token, and now this thread has it.
        let engine = unsafe { &mut *self.engine };
        self.admit(engine);
        let next = engine.agenda.next();
        // Even if it is this task's own turn, it waits for its baton, which is then given already.
        self.next_turn(engine, next, None);
    }

    /// Has this asked when nothing can happen any more.
    pub(super) fn when_stuck(&self, who: WhenStuck) {
        self.state().when_stuck = Some(who);
    }

    pub(super) fn is_idle(&self) -> bool {
        !self.state().held
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(super) fn failure(&self) -> Option<SimError> {
        self.state().failure.take()
    }

    /// Nobody is simulated any more, and whoever waits goes on.
    pub(super) fn stop(&self, failure: Option<SimError>) {
        let mut state = self.state();
        if !self.over.swap(true, Ordering::AcqRel) {
            state.failure = failure;
        }
        state.batons.iter().for_each(|baton| baton.give());
        drop(state);
        current::leave();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it was made of a box, and nobody shares it any more.
        drop(unsafe { Box::from_raw(self.engine) });
    }
}
