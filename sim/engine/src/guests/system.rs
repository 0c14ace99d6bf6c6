//! What a guest asks the simulated system for: futexes, sleeping, its processor.

use kilocore_platform::{CpuId, Cycles, NodeId, Parked, Platform};

use super::Guest;
use crate::coherence::Access;
use crate::costs::LONGEST_STEP;
use crate::current::{suspend, with_engine};
use crate::due::Answer;
use crate::engine::Engine;
use crate::ids::{CoreSet, Id, SimAddress, TaskId};
use crate::outcome::{Activity, TaskTimes};
use crate::platform::Sim;
use crate::platform::futex::{self, Requeued};
use crate::region::access;
use crate::state::{Check, Intent};

impl Guest {
    /// The time on the core that it runs on.
    #[must_use]
    pub fn now(&self) -> Cycles {
        Sim::now()
    }

    /// The core that it runs on.
    #[must_use]
    pub fn cpu(&self) -> CpuId {
        Sim::cpu()
    }

    /// The memory node that this core is of.
    #[must_use]
    pub fn node(&self) -> NodeId {
        Sim::node()
    }

    /// What its core has done for it so far.
    #[must_use]
    pub fn times(&self) -> TaskTimes {
        Sim::times()
    }

    /// What the core of each task has done for it up to the calling task's time, in the order in which tasks were made.
    /// There are none if nobody is simulated any more.
    #[must_use]
    pub fn times_of_all(&self) -> Vec<TaskTimes> {
        let times = with_engine(|engine| {
            let now = engine.now();
            let all: Vec<TaskId> = engine.tasks.enumerate().map(|(task, _)| task).collect();
            all.into_iter().map(|task| engine.times_until(task, now)).collect()
        });
        times.unwrap_or_default()
    }

    /// Some turns of a loop that does nothing but wait.
    pub fn pause(&self, turns: u32) {
        Sim::pause(turns);
    }

    /// It spins for so long.
    pub fn spin(&self, time: Cycles) {
        with_engine(|engine| engine.pass(Activity::Spinning, time));
    }

    /// The kernel works for it.
    pub fn in_system(&self, time: Cycles) {
        with_engine(|engine| engine.pass(Activity::System, time));
    }

    /// Offers its core to others.
    pub fn yield_now(&self) {
        self.catch_up();
        Sim::yield_now();
    }

    /// Lets a task, which need not be this one, run on these cores only. Whether any of them is one of the machine:
    /// otherwise nothing changes.
    pub fn allow(&self, task: TaskId, cores: &CoreSet) -> bool {
        self.catch_up();
        let done = with_engine(|engine| engine.allow(task, cores)) == Some(true);
        let may_stay = |engine: &mut Engine| engine.may_run(self.task, engine.current);
        if with_engine(may_stay) == Some(false) {
            suspend(Intent::Relocate);
        }
        done
    }

    /// The cores on which a task may run. `None` if there is no such task, or nobody is simulated any more.
    #[must_use]
    pub fn allowed(&self, task: TaskId) -> Option<CoreSet> {
        let of =
            |engine: &mut Engine| (task.index() < engine.tasks.len()).then(|| engine.allowed(task));
        with_engine(of).flatten()
    }

    /// Sleeps.
    pub fn sleep(&self, time: Cycles) {
        self.catch_up();
        Sim::sleep(time);
    }

    /// Sleeps until somebody [interrupts](Answer::interrupts) that.
    pub fn sleep_until_interrupted(&self) {
        self.catch_up();
        if with_engine(|engine| engine.sleep(None)).is_some() {
            suspend(Intent::Sleep);
        }
    }

    /// Sleeps for so long, or until somebody [wakes](Self::wake) it or [interrupts](Answer::interrupts) that, unless what it
    /// waits for `has_come`. Nobody runs between that and going to sleep, so that a wake is never missed. `has_come` must not
    /// call the simulator. Whether it slept.
    pub fn sleep_unless(&self, has_come: impl FnOnce() -> bool, time: Option<Cycles>) -> bool {
        self.catch_up();
        if has_come() {
            return false;
        }
        let time = time.map(|time| time.min(LONGEST_STEP));
        let sleeps = with_engine(|engine| engine.sleep(time)).is_some();
        if sleeps {
            suspend(Intent::Sleep);
        }
        sleeps
    }

    /// Wakes a task that [sleeps](Self::sleep), as the kernel does whose doing ends its wait. Whether it slept.
    pub fn wake(&self, task: TaskId) -> bool {
        self.catch_up();
        let woken = with_engine(|engine| engine.wake_sleeper(task));
        woken == Some(true)
    }

    /// Has this called at times that are [asked for](Self::call_at), in place of what was called before, with
    /// whether no guest has a core then. It is called in the order of simulated time, by a thread of any guest or by one
    /// that comes back, and must not call the simulator.
    pub fn when_due(&self, call: impl FnMut(Cycles, bool) -> Answer + Send + 'static) {
        with_engine(|engine| engine.when_due(Box::new(call)));
    }

    /// Has what was given to [`when_due`](Self::when_due) called at a time, or now if that has passed. A guest that sleeps for a
    /// time or on a futex may be interrupted then, as if its time were up.
    pub fn call_at(&self, time: Cycles) {
        with_engine(|engine| engine.call_at(time));
    }

    /// Waits on a futex at an address of the program if `unchanged` says that the word is still as expected.
    pub fn futex_wait(
        &self,
        address: u64,
        unchanged: impl FnOnce() -> bool,
        timeout: Option<Cycles>,
    ) -> Parked {
        self.catch_up();
        let Some(place) = self.place_of(address) else { return Parked::Woken };
        let changed = || {
            access(place, Access::Read);
            !unchanged()
        };
        futex::park_if(place.get(), changed, |_| timeout)
    }

    /// Wakes so many who wait on a futex, and returns how many did.
    pub fn futex_wake(&self, address: u64, count: u32) -> u32 {
        self.catch_up();
        self.place_of(address).map_or(0, |place| futex::unpark_at(place.get(), count))
    }

    /// Wakes so many who wait on a futex, and lets others wait on another one.
    pub fn futex_requeue(&self, from: u64, wake: u32, to: u64, most: u32) -> Requeued {
        self.catch_up();
        let places = self.place_of(from).zip(self.place_of(to));
        let Some((SimAddress(from), SimAddress(to))) = places else {
            return Requeued { woken: 0, moved: 0 };
        };
        futex::requeue(from, wake, to, most)
    }

    /// Waits on its core until the line at an address is written, or for so long. Returns whether it was.
    pub fn spin_on(&self, address: u64, patience: Cycles) -> bool {
        self.catch_up();
        let Some(SimAddress(place)) = self.place_of(address) else { return true };
        // What was earlier may have written it, since the task has read it.
        if with_engine(|engine| engine.has(place)) != Some(true) {
            return true;
        }
        let mut written = false;
        let mut check = || {
            // Asked when the line has been written, and at last when the time is up.
            written = true;
            true
        };
        let check: *mut (dyn FnMut() -> bool + '_) = &raw mut check;
        // SAFETY: only the lifetime changes. The engine calls the condition while this thread waits below, which
        // is while it lives, and forgets it when the wait is over.
        let check: Check = unsafe { std::mem::transmute(check) };
        let until = with_engine(|engine| {
            engine.watch(place, check, Activity::Spinning, Some(patience));
            engine.now() + patience
        });
        suspend(Intent::Wait);
        let in_time = with_engine(|engine| until.is_some_and(|until| engine.now() < until));
        written && in_time.unwrap_or(true)
    }
}
