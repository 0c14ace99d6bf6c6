//! The chain of waits that bounds a run: what would have to be shorter for the run to be shorter.
//!
//! A task that goes on after a wait could not have done so before the event that ended its wait: another task woke it,
//! wrote the line that it watched, made it, or left the core that it wanted. So what bounds the run up to then is what
//! bounded the other task up to that event, and the hand-over between the two. Walking back in this way, from the task
//! that ended last to the program's start, gives one chain of stretches in which some task ran, and hand-overs.
//!
//! The walk is made forwards. Each task has the chain that bounds what it does now ([`links`]), and takes over
//! that of the task that ended its wait. So nothing is forgotten of a long run but the order of the stretches, and the
//! chain of the task that ends last is the run's. Its times, added up, are the time of the run.
//!
//! # What is a wait
//! * Of several events that a wait needed, the last counts. A task that was woken and then waited in a queue for a
//!   core goes on because another one left the core.
//! * But if that one had come from a sleep and had taken the core while the task wanted it, the core was busy without it as
//!   well. What that one did before is no matter then: the task keeps its chain, and the time for which it wanted the
//!   core is a part of it.
//! * A task that sleeps for a time that it chose itself, or waits in vain, or for something that is not
//!   simulated, keeps its own chain, and that time is a part of it.
//! * Waiting for a line to arrive is no hand-over. The line may have come late because of others, but the chain
//!   stays with the task that needs it.
//!
//! # Where a task computes
//! Whoever executes a task says where it is ([`Place`]) when it does something that concerns the simulator, and what it
//! waits for from then on counts for that place. Where it computes is known by samples only. They are
//! taken at times that have nothing to do with what tasks do, and what all of them computed on the chain is divided
//! among the places by the number of samples. The whole is exact.
//!
//! # Bounds
//! There are about as many links as tasks, at the most. Of each link 1,024 parts are told apart. If there are more,
//! the smaller half of them is added up under [`Place::OTHER`].

mod links;
mod parts;
mod sums;
#[cfg(test)]
mod tests;

use kilocore_platform::Cycles;

use self::links::Links;
pub use self::parts::{Chain, ChainPart, ChainShare, HandOver, Place, Waits};
use self::sums::Sums;
use crate::ids::{LinkId, TaskId};
use crate::outcome::TaskTimes;
use crate::table::Table;

/// Why a task does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It sleeps until its time is up, or somebody wakes it.
    Asleep,
    /// It sleeps until somebody wakes it, in the simulation or from outside.
    Outside,
    /// It watches a line.
    Watches,
    /// It wants a core.
    Ready,
}

/// An event that ends a wait.
#[derive(Debug)]
struct Ended {
    how: Waits,
    /// The chain up to it.
    chain: LinkId,
    at: Cycles,
    waker: Place,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Runs,
    Waits(Stop),
    /// It has ended, and nobody needs its chain.
    Nothing,
}

/// A task, and the chain that bounds it.
#[derive(Debug)]
struct Chained {
    chain: LinkId,
    does: Does,
    /// Up to when the chain goes: the last time that it was made longer.
    until: Cycles,
    /// What its core had done for it when its place was told last.
    told: TaskTimes,
    place: Place,
    /// What it has done since `until`.
    since: Sums,
    /// What ends its wait, if anything has.
    ended: Option<Ended>,
    /// Since when it wants a core, if it does.
    ready: Cycles,
    /// Since when it has the core that it has or had last.
    ran_from: Cycles,
    /// Whether it had waited for that.
    was_passed: bool,
}

/// The chains of all tasks.
#[derive(Debug)]
pub(crate) struct Chains {
    /// When they begin.
    start: Cycles,
    links: Links,
    tasks: Table<TaskId, Chained>,
    refine: fn(Place) -> Place,
}

impl Chains {
    pub(crate) fn new() -> Self {
        Self { start: Cycles(0), links: Links::new(), tasks: Table::new(), refine: |place| place }
    }

    /// Has this function asked for a place that says more, where a task waits or ends a wait of another one. It is
    /// called by the thread that executes the task.
    pub(crate) fn refine_places(&mut self, refine: fn(Place) -> Place) {
        self.refine = refine;
    }

    /// The task that runs is about to wait, or to end a wait. Its core has done this for it.
    pub(crate) fn refine(&mut self, task: TaskId, times: &TaskTimes) {
        let own = &mut self.tasks[task];
        let place = (self.refine)(own.place);
        if place != own.place {
            own.tell(own.place, times);
            own.place = place;
        }
    }

    /// A task that nobody has made begins at time 0, or one is made that another one will [wake](Self::end_wait).
    pub(crate) fn know(&mut self, task: TaskId, now: Cycles) {
        while self.tasks.len() <= task.0 as usize {
            self.tasks.push(Chained {
                chain: self.links.begin(),
                does: Does::Waits(Stop::Ready),
                until: now,
                told: TaskTimes::default(),
                place: Place::OTHER,
                since: Sums::default(),
                ended: None,
                ready: now,
                ran_from: now,
                was_passed: true,
            });
        }
    }

    /// A task that runs is at a place from now on. Its core has done this for it.
    pub(crate) fn tell(&mut self, task: TaskId, place: Place, times: &TaskTimes) {
        self.tasks[task].tell(place, times);
    }

    /// Where a task is, as far as that was told.
    pub(crate) fn place(&self, task: TaskId) -> Place {
        self.tasks[task].place
    }

    /// A sample of where a task computes.
    pub(crate) fn sample(&mut self, task: TaskId, place: Place) {
        self.tasks[task].since.add(ChainPart::Computing(place), 0, 1);
    }

    /// Makes the chain of a task longer, up to a time. It runs.
    fn reach(&mut self, task: TaskId, at: Cycles, times: &TaskTimes) {
        let own = &mut self.tasks[task];
        own.tell(own.place, times);
        let ran = own.until.signed_to(at);
        if ran != 0 {
            own.since.add(ChainPart::Thread(task), ran, 0);
            own.since.add_ran(ran);
        }
        own.until = at;
        own.chain = self.links.extend(own.chain, &mut own.since);
    }

    /// A task that ran stops.
    pub(crate) fn stop(&mut self, task: TaskId, why: Stop, at: Cycles, times: &TaskTimes) {
        self.reach(task, at, times);
        let own = &mut self.tasks[task];
        own.does = Does::Waits(why);
        own.ready = at;
    }

    /// A task that waits wants a core from now on.
    pub(crate) fn ready(&mut self, task: TaskId, at: Cycles) {
        self.tasks[task].ready = at;
    }

    /// The chain of a task up to a time, for the caller to hold.
    fn up_to(&mut self, task: TaskId, at: Cycles, times: &TaskTimes) -> LinkId {
        if self.tasks[task].does == Does::Runs {
            self.reach(task, at, times);
        }
        let own = &self.tasks[task];
        let chain = self.links.share(own.chain);
        self.links.extend(chain, &mut own.waited(task, at))
    }

    /// A task's wait has ended because of another one, which is at this time. Its core has done this for it.
    pub(crate) fn end_wait(
        &mut self,
        task: TaskId,
        how: Waits,
        by: TaskId,
        at: Cycles,
        times: &TaskTimes,
    ) {
        if !matches!(self.tasks[task].does, Does::Waits(_)) || task == by {
            return;
        }
        let chain = self.up_to(by, at, times);
        let ended = Ended { how, chain, at, waker: self.tasks[by].place };
        self.forget_end(task);
        self.tasks[task].ended = Some(ended);
    }

    /// A task has left a core that another one takes, which wanted it before.
    pub(crate) fn pass_core(&mut self, to: TaskId, by: TaskId, at: Cycles, times: &TaskTimes) {
        let (wanted, other) = (self.tasks[to].ready, &self.tasks[by]);
        if wanted >= at {
            return;
        }
        if other.was_passed || other.ran_from < wanted {
            return self.end_wait(to, Waits::Core, by, at, times);
        }
        let waker = other.place;
        let own = &mut self.tasks[to];
        let (chain, at) = match own.ended.take() {
            Some(ended) => (ended.chain, ended.at),
            None => {
                let chain = self.links.share(own.chain);
                (self.links.extend(chain, &mut own.waited(to, wanted)), wanted)
            }
        };
        own.ended = Some(Ended { how: Waits::Core, chain, at, waker });
    }

    /// Nobody has ended the wait of a task.
    pub(crate) fn forget_end(&mut self, task: TaskId) {
        if let Some(ended) = self.tasks[task].ended.take() {
            self.links.release(ended.chain);
        }
    }

    /// A task runs from now on.
    pub(crate) fn run(&mut self, task: TaskId, at: Cycles, times: &TaskTimes) {
        let own = &mut self.tasks[task];
        if !matches!(own.does, Does::Waits(_)) {
            return;
        }
        own.was_passed = own.ended.as_ref().is_some_and(|ended| ended.how == Waits::Core);
        match own.ended.take() {
            None => {
                let mut waited = own.waited(task, at);
                own.chain = self.links.extend(own.chain, &mut waited);
            }
            Some(Ended { how, chain, at: ended, waker }) => {
                let part = ChainPart::HandOver(HandOver { how, waiter: own.place, waker });
                let mut over = Sums::default();
                // A waker may be ahead by a little.
                over.add(part, ended.signed_to(at).max(0), 1);
                over.add_ran(ended.signed_to(at).min(0));
                let before = std::mem::replace(&mut own.chain, self.links.extend(chain, &mut over));
                self.links.release(before);
            }
        }
        let own = &mut self.tasks[task];
        own.does = Does::Runs;
        (own.until, own.ran_from) = (at, at);
        own.told = *times;
    }

    /// A task has ended, and whoever goes on because of that has its chain.
    pub(crate) fn end(&mut self, task: TaskId) {
        self.forget_end(task);
        let own = &mut self.tasks[task];
        own.does = Does::Nothing;
        self.links.release(own.chain);
    }

    /// All chains begin anew at a time, as if nothing had been before. The cores have done this for the tasks.
    pub(crate) fn begin_anew(&mut self, at: Cycles, times: impl Fn(TaskId) -> TaskTimes) {
        self.start = at;
        for task in self.tasks.ids() {
            if self.tasks[task].does == Does::Nothing {
                continue;
            }
            self.forget_end(task);
            let chain = self.links.begin();
            let own = &mut self.tasks[task];
            let before = std::mem::replace(&mut own.chain, chain);
            (own.until, own.ready, own.since) = (at, own.ready.max(at), Sums::default());
            own.told = times(task);
            self.links.release(before);
        }
    }

    /// The chain that bounds what a task has done up to a time.
    pub(crate) fn of(&self, task: TaskId, at: Cycles, times: &TaskTimes) -> Chain {
        let own = &self.tasks[task];
        let mut all = self.links.sums(own.chain);
        let mut since = own.since.clone();
        if own.does == Does::Runs {
            let ran = own.until.signed_to(at);
            since.add(ChainPart::Thread(task), ran, 0);
            since.add_ran(ran);
            since.add_times(own.place, &times.since(&own.told));
        }
        all.absorb(&mut since);
        Chain { end: at.since(self.start), parts: all.shares() }
    }
}

impl Chained {
    fn tell(&mut self, place: Place, times: &TaskTimes) {
        let did = times.since(&self.told);
        self.since.add_times(self.place, &did);
        self.told = *times;
        self.place = place;
    }

    /// What a wait consists of, up to a time, that nobody has ended.
    fn waited(&self, task: TaskId, at: Cycles) -> Sums {
        let mut waited = Sums::default();
        let part = match self.does {
            Does::Waits(Stop::Asleep) => ChainPart::Asleep(self.place),
            Does::Waits(Stop::Outside) => ChainPart::Outside(self.place),
            Does::Waits(Stop::Watches) => ChainPart::Spinning(self.place),
            Does::Waits(Stop::Ready) => ChainPart::System(self.place),
            Does::Runs | Does::Nothing => return waited,
        };
        let time = self.until.signed_to(at);
        if time != 0 {
            waited.add(part, time, 0);
            waited.add(ChainPart::Thread(task), time, 0);
        }
        waited
    }
}

/// Times that may be apart in both directions.
trait Signed {
    fn signed_to(self, other: Self) -> i64;
}

impl Signed for Cycles {
    fn signed_to(self, other: Self) -> i64 {
        other.0.wrapping_sub(self.0) as i64
    }
}
