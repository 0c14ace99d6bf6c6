//! The main loop of the simulator, which decides whose turn it is.
//!
//! The agenda holds what will happen, earliest first. The loop takes one event after the other. Most
//! events are dealt with at once. If an event lets the task on a core go on, the loop runs the
//! task's fiber until it suspends itself, and then does what the fiber asked for.
//!
//! A fiber runs on as long as its core is not ahead of the next event. Before a memory access that
//! others could notice, it gives way to all that is earlier. So accesses take place in the order of
//! simulated time, and the real code reads and writes the values of that order.
//!
//! Seeded random numbers break ties. If core numbers did, waiters would re-read a line in the order
//! in which they queued, and a ticket lock would never collapse.

use kilocore_platform::Cycles;

use crate::agenda::Event;
use crate::chain::Stop;
use crate::current::resume;
use crate::engine::Engine;
use crate::ids::CoreId;
use crate::state::{Core, Intent, TaskState};
use crate::steering::Phase;

/// The time at which a simulation was given up, as it took too long.
#[derive(Debug)]
pub(crate) struct GivenUp(pub(crate) Cycles);

/// Runs a simulation until nothing is left to happen.
pub(crate) fn run(engine: &mut Engine) -> Result<(), GivenUp> {
    engine.begin_steering();
    for core in engine.cores.ids() {
        engine.switch_on(core);
    }
    let mut next = engine.agenda.next();
    while let Some(core) = engine.go_on(next) {
        next = engine.run_task(core)?;
    }
    Ok(())
}

impl Engine {
    /// Handles events, beginning with this one, until one lets the task on a core go on. Returns that core, or
    /// `None` if nothing is left to happen.
    #[inline]
    pub(crate) fn go_on(&mut self, mut next: Option<(Cycles, Event)>) -> Option<CoreId> {
        while let Some((time, event)) = next {
            if let Some(core) = self.handle(time, event) {
                return Some(core);
            }
            next = self.agenda.next();
        }
        None
    }

    /// Handles an event. Returns the core whose task goes on now, if the event lets one go on.
    fn handle(&mut self, time: Cycles, event: Event) -> Option<CoreId> {
        match event {
            Event::Continue { core, epoch } => {
                return (self.cores[core].epoch == epoch).then_some(core);
            }
            Event::Recheck { task, epoch } => self.recheck_if_waiting(task, epoch, time),
            Event::RecheckAll { list } => self.recheck_all(list, time),
            Event::SliceEnd { core, epoch } => self.end_slice(core, epoch, time),
            Event::Woken { task, epoch } => self.end_sleep(task, epoch, time, false),
            Event::TimedOut { task, epoch } => self.end_sleep(task, epoch, time, true),
            Event::Balance => self.balance(time),
            Event::Relocate { task } => self.relocate(task, time),
            Event::Due => self.time_is_due(time),
        }
        None
    }

    /// Runs the task on a core until its fiber suspends itself, and does what the fiber asked for.
    /// Returns the next event.
    fn run_task(&mut self, core: CoreId) -> Result<Option<(Cycles, Event)>, GivenUp> {
        self.current = core;
        if self.takes_too_long() {
            return Err(GivenUp(self.now()));
        }
        let done = resume(self);
        if done {
            self.end_task(core);
            return Ok(self.agenda.next());
        }
        self.suspended(core)
    }

    /// Does what the task on a core has suspended itself for. Returns the next event.
    #[inline]
    pub(crate) fn suspended(&mut self, core: CoreId) -> Result<Option<(Cycles, Event)>, GivenUp> {
        match self.intent {
            Intent::Continue => {
                let Core { time, epoch, .. } = self.cores[core];
                return Ok(Some(self.agenda.exchange(time, Event::Continue { core, epoch })));
            }
            // It is on the list of its line, which lets it go on.
            Intent::Wait => {}
            Intent::Sleep => self.leave_core(core),
            Intent::GiveWay => self.give_way(core),
            Intent::Relocate => self.relocate_from(core),
            Intent::GiveUp => return Err(GivenUp(self.now())),
        }
        Ok(self.agenda.next())
    }

    /// The task on a core has ended.
    pub(crate) fn end_task(&mut self, core: CoreId) {
        let task = self.running_task();
        self.tasks[task].state = TaskState::Done;
        if let Some(fiber) = self.tasks[task].fiber.take() {
            self.memory.forget_frames(&fiber.frames());
        }
        let now = self.cores[core].time;
        self.note(task, Phase::Done, now);
        self.chain_stops(task, Stop::Outside, now);
        self.leave_core(core);
        self.chain_ends(task);
    }
}
