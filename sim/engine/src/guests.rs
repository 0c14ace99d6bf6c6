//! Tasks that threads of the host execute: a program that runs elsewhere, on the simulated machine.
//!
//! A [`Simulation`](crate::Simulation) runs its tasks as fibers. Here each task is a *guest*: a thread of the
//! host that executes somebody else's code, such as a program under an emulator, and says what it does: so much
//! computing, a load from there, a wait on a futex. The engine, the coherence and the operating system are the
//! same, and so are the events that they handle.
//!
//! # One token
//! Only one guest runs at a time. It has the token, which is the right to use the engine. When it has to let
//! others go on, it handles the events that are due, finds out who is next, and hands the token over. So the
//! engine needs no locks, and the result is the same on every run and host, as long as the guests do the same.
//!
//! # Out of order by so much and no more
//! To hand over costs the host some microseconds. So a guest may run ahead of the others, by a bound that is
//! set once ([`Guests::new`]), or by a fifth of it if it has just done what others can notice. What others can
//! notice it does in order all the same: fetching a line that another core has written, writing a line that others
//! have, atomic operations, and calls of the system. Lines from the last-level cache and from memory it fetches ahead
//! of its turn, and the queues there take that into account.
//!
//! # Let go
//! Whoever executes a guest's code may have to stop all threads, as an emulator does before it starts another process. A thread
//! that waits for its turn cannot be stopped. So it may be [let go](Guests::let_go): it goes on without the engine, as if nobody were
//! simulated any more, and what it does then costs nothing. It has to [wait again](Guest::wait_again) as soon as it can. For the
//! simulator it has waited all the time. Nobody is let go inside of the address space's lock, which it would leave
//! behind as it is: who needs all others to be let go holds that first ([`Guest::hold_to_copy`]).
//!
//! # Outside
//! A guest that has to wait for something that is not simulated, such as its terminal, goes
//! [outside](Guest::go_outside). It leaves its core and the token, and
//! [comes back](Guest::come_back) as a thread that has slept.

mod address_space;
mod baton;
mod chain;
mod memory;
mod system;
mod token;

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;

use kilocore_machine::Description;
use kilocore_platform::Cycles;

use self::address_space::AddressSpace;
use self::baton::Wait;
pub use self::memory::GuestAccess;
use self::token::{Shared, Turn};
use crate::current;
use crate::engine::Engine;
use crate::ids::{CoreId, TaskId};
use crate::noise::Noise;
use crate::outcome::Outcome;
use crate::simulation::{Options, SimError, engine_of, outcome};
use crate::state::{Task, TaskState};

/// A simulated machine whose tasks are threads of the host.
#[derive(Debug, Clone)]
pub struct Guests {
    shared: Arc<Shared>,
}

/// A task that has been made and that no thread of the host executes yet.
#[derive(Debug)]
#[must_use = "nobody goes on until a thread arrives for it"]
pub struct Newborn {
    shared: Arc<Shared>,
    task: TaskId,
}

/// A thread of the host that executes a task. It stays with that thread.
#[derive(Debug, Clone)]
pub struct Guest {
    shared: Arc<Shared>,
    task: TaskId,
    stays: PhantomData<*const ()>,
}

thread_local! {
    static GUEST: RefCell<Option<Guest>> = const { RefCell::new(None) };
    /// Whether the calling thread was let go from its wait for its turn.
    static IS_LET_GO: Cell<bool> = const { Cell::new(false) };
}

impl Guests {
    /// A machine without tasks. A task may run ahead of the others by `disorder`.
    ///
    /// # Errors
    /// [`SimError::Cores`] if the machine does not have as many cores, or none are asked for.
    pub fn new(
        machine: &Description,
        options: Options,
        disorder: Cycles,
    ) -> Result<Self, SimError> {
        let mut engine = engine_of(machine, options)?;
        engine.admit_guests(disorder);
        let noise = Noise::new(&engine.costs, engine.cores.len(), options.seed);
        engine.noise = Some(Box::new(noise));
        let space = AddressSpace::new(engine.costs.faults_apart);
        Ok(Self { shared: Arc::new(Shared::new(engine, disorder, space, hand_over)) })
    }

    /// Makes the calling thread execute the first task, which begins at time 0 on the first core.
    ///
    /// # Panics
    /// If there is a task already, or the thread executes one.
    #[must_use]
    pub fn begin(&self) -> Guest {
        self.shared.begin(|engine| {
            let task = engine.tasks.next_id();
            assert_eq!(task, TaskId(0), "the first task");
            engine.tasks.push(Task::executed_elsewhere(CoreId(0)));
            engine.chain_begins(task);
            engine.cores[CoreId(0)].queue.ready.push_back(task);
            engine.switch_on(CoreId(0));
            task
        });
        Guest { shared: Arc::clone(&self.shared), task: TaskId(0), stays: PhantomData }.settle()
    }

    /// Whether nobody is simulated any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.is_over()
    }

    /// Whether no guest runs: all are outside.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared.is_idle()
    }

    /// Why nobody is, if not because somebody [stopped](Self::stop) it.
    #[must_use]
    pub fn failure(&self) -> Option<SimError> {
        self.shared.failure()
    }

    /// Has this function asked when all guests sleep and nobody is outside, before that is a deadlock: those tasks that it names
    /// go on, and should go [outside](Guest::go_outside) next. It must not call the simulator.
    pub fn when_stuck(&self, who: fn() -> Vec<TaskId>) {
        self.shared.when_stuck(who);
    }

    /// Has the thread of a task that waits for its turn go on without it, from any thread. Whether it does: not if it does not
    /// wait, or is inside of the address space's lock.
    #[must_use]
    pub fn let_go(&self, task: TaskId) -> bool {
        self.shared.let_go(task)
    }

    /// Stops simulating, from any thread. Guests that wait go on, and what they do costs nothing any more.
    pub fn stop(&self) {
        self.shared.stop(None);
    }
}

impl Newborn {
    /// The number of the task.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// Makes the calling thread execute the task. Returns when it is the task's turn.
    ///
    /// # Panics
    /// If the thread executes one already.
    #[must_use]
    pub fn arrive(self) -> Guest {
        let guest = Guest { shared: self.shared, task: self.task, stays: PhantomData };
        guest.wait_for_turn();
        guest.settle()
    }
}

/// Lets others go on, for the reason that the engine has, until it is the calling thread's turn again.
fn hand_over() {
    let guest = GUEST.with_borrow(Clone::clone);
    guest.expect("a guest hands over").hand_over();
}

impl Guest {
    fn settle(self) -> Self {
        GUEST.with_borrow_mut(|guest| {
            assert!(guest.is_none(), "a thread executes one task");
            *guest = Some(self.clone());
        });
        self
    }

    fn hand_over(&self) {
        let turn = self.shared.pass_on(Engine::suspended);
        if turn == Turn::Others {
            self.wait_for_turn();
        }
    }

    fn wait_for_turn(&self) {
        let wait = self.shared.wait_for_turn(self.task);
        IS_LET_GO.set(wait == Wait::LetGo);
    }

    /// Whether the calling thread was [let go](Guests::let_go) when it waited for its turn, and has it not.
    #[must_use]
    pub fn is_let_go(&self) -> bool {
        IS_LET_GO.get()
    }

    /// Waits for the task's turn again, from which the calling thread was let go. It may be let go once more.
    pub fn wait_again(&self) {
        if self.is_let_go() {
            self.wait_for_turn();
        }
    }

    /// The number of its task.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// What has happened up to now. `None` if nobody is simulated any more.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        current::with_engine(|engine| outcome(engine))
    }

    /// Makes a task, which the calling one has created. Some other thread of the host has to
    /// [arrive](Newborn::arrive) for it, as all others wait for that.
    pub fn fork(&self) -> Newborn {
        let task = current::with_engine(|engine| {
            let task = engine.tasks.next_id();
            engine.tasks.push(Task::executed_elsewhere(engine.current));
            engine.inherit_cores(task, self.task);
            engine.tasks[task].core = engine.least_loaded(task);
            engine.tasks[task].state = TaskState::Asleep;
            engine.wake_task(task);
            engine.chain_begins(task);
            task
        });
        let task = task.unwrap_or(self.task);
        self.shared.add_baton(task);
        Newborn { shared: Arc::clone(&self.shared), task }
    }

    /// The task ends, and others go on. Those are woken who wait on the futex at the address `clears`, if there is
    /// one. `gone` is called by whoever is next, before it goes on: it returns when what the thread leaves behind can
    /// be seen, which is the word of that futex.
    pub fn end(self, clears: Option<u64>, gone: impl FnOnce() + Send + 'static) {
        self.catch_up();
        let futex = clears.and_then(|clears| self.place_of(clears));
        GUEST.set(None);
        self.shared.end(self.task, futex, Box::new(gone));
    }

    /// Leaves its core and lets others go on, to wait for something that is not simulated.
    pub fn go_outside(&self) {
        self.catch_up();
        self.shared.go_outside();
    }

    /// Comes back, and returns when it is the task's turn.
    pub fn come_back(&self) {
        self.shared.come_back(self.task);
        self.wait_for_turn();
    }

    /// Lets everything happen that is earlier than the calling task's time, and those come back who were
    /// outside.
    pub fn catch_up(&self) {
        self.shared.welcome();
        crate::platform::charge::give_way_to_earlier();
    }

    /// The time up to which the calling task may run on before it has to [catch up](Self::catch_up). It may
    /// become earlier with each call of this crate.
    #[must_use]
    pub fn limit(&self) -> Cycles {
        let limit = current::with_engine(|engine| {
            engine.agenda.horizon().saturating_add(engine.may_run_ahead(self.shared.disorder))
        });
        limit.unwrap_or(Cycles::MAX)
    }
}
