//! Tasks beside those with whom they get most done: learned pair by pair.
//!
//! One figure for each task, such as its misses, cannot say everything about two. Two tables that
//! together fit into a cache go well side by side, though each of them suffers much under a stream; and
//! two streams lose nothing that they had. So this policy looks at pairs.
//!
//! First it deals tasks to caches and turns anew every few windows, each time so that most of those meet
//! that have not yet. Then it looks for the sets of tasks that get most done, as many in each as a cache has cores,
//! and runs them as [planned](crate::Planned). It goes on measuring, and changes the plan if another is
//! better by enough. A task that comes later makes it look around again.
//!
//! A task that would be slower than usual counts double, so that what most tasks gain is not paid for by
//! a few.
//!
//! It needs a driver inside the scheduler, for two reasons: somebody has to count per pair, and
//! sets only run together if a core may choose which of its tasks is next. Of the policies for
//! shared caches, this is the only one that comes near the optimum on programs like those of the
//! paper, because like is often best beside like (`docs/evidence/sched-caches.md`).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use kilocore_platform::{CpuId, Nanos};

use crate::ids::TaskId;
use crate::machine::Machine;
use crate::order::Order;
use crate::pairs::{Pairs, Worth};
use crate::planned::{Planned, cores_by_cache};
use crate::policy::{Policy, Ready};
use crate::window::{TaskWindow, Window};

/// How many windows a deal lasts while the policy looks around.
const DEAL: u32 = 2;
/// How many deals it looks at, at the most.
const MOST_DEALS: u32 = 12;
/// After how many windows a plan is looked at again.
const REVIEW: u32 = 20;
/// By how many per mille another plan has to be better.
const GAIN: i64 = 5;
/// How much tasks count that share a cache in different turns, as a fraction.
const OTHER_TURN: i64 = 8;
/// By how much a task that is picked may be ahead of others of its core.
const LEAD: Nanos = Nanos(20_000_000);
/// A task takes part if it wants a core for at least this share of its time, in per cent.
const BUSY: u128 = 50;
/// So many tasks take part at the most. Others are left to the operating system.
const MOST_TASKS: usize = 64;

/// Runs tasks beside those with whom they get most done.
#[derive(Debug, Clone)]
pub struct Companions {
    pairs: Pairs,
    planned: Planned,
    /// Who takes part, in the order of their numbers.
    tasks: Vec<TaskId>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Deals anew after so many windows more.
    LooksAround { deal: u32, left: u32 },
    /// Looks at the plan again after so many windows more.
    Holds { left: u32 },
}

impl Default for Companions {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            planned: Planned::new(&[], LEAD),
            tasks: Vec::new(),
            state: State::LooksAround { deal: 0, left: 0 },
        }
    }
}

impl Policy for Companions {
    fn name(&self) -> &'static str {
        "companions"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        self.pairs.update(window.tasks);
        let mut orders = self.take_part(window);
        let caches = cores_by_cache(machine);
        let Some(size) = caches.iter().map(Vec::len).max() else { return orders };
        let sets = match self.state {
            State::LooksAround { left: 1.., .. } | State::Holds { left: 1.. } => None,
            State::LooksAround { .. } => self.next_deal(size, caches.len()).or_else(|| {
                self.state = State::Holds { left: 0 };
                self.best_sets(size, caches.len())
            }),
            State::Holds { .. } => self.best_sets(size, caches.len()),
        };
        self.advance();
        if let Some(sets) = sets {
            self.planned.plan(&sets);
        }
        orders.extend(self.planned.window(machine, window));
        orders
    }

    fn pick(
        &mut self,
        machine: &Machine,
        core: CpuId,
        ready: &[Ready],
        running: &[Option<TaskId>],
    ) -> usize {
        match self.state {
            // Whoever is next, so that tasks meet many others.
            State::LooksAround { .. } => 0,
            State::Holds { .. } => self.planned.pick(machine, core, ready, running),
        }
    }
}

impl Companions {
    /// Sees who takes part. Returns orders for those that do no longer.
    fn take_part(&mut self, window: &Window<'_>) -> Vec<Order> {
        let busy = |task: &&TaskWindow| {
            let wanted = u128::from(task.ran.0) + u128::from(task.ready.0);
            wanted * 100 >= u128::from(window.length.0) * BUSY && task.counters.is_some()
        };
        let busy = window.tasks.iter().filter(busy).map(|task| task.task);
        let tasks: Vec<TaskId> = busy.take(MOST_TASKS).collect();
        let before: BTreeSet<TaskId> = self.tasks.iter().copied().collect();
        let gone: BTreeSet<TaskId> =
            before.iter().filter(|task| tasks.binary_search(task).is_err()).copied().collect();
        let came = tasks.iter().any(|task| !before.contains(task));
        if came {
            self.state = State::LooksAround { deal: 0, left: 0 };
        } else if !gone.is_empty() {
            self.state = State::Holds { left: 0 };
        }
        self.tasks = tasks;
        let left = window.tasks.iter().filter(|task| gone.contains(&task.task));
        let orders = left.map(Order::release).collect();
        self.planned.forget(&gone);
        orders
    }

    /// How many deals let each task be beside most others: it meets two in each.
    fn deals(&self) -> u32 {
        (self.tasks.len() as u32 / 2).min(MOST_DEALS)
    }

    fn advance(&mut self) {
        self.state = match self.state {
            State::LooksAround { deal, left: left @ 1.. } => {
                State::LooksAround { deal, left: left - 1 }
            }
            State::LooksAround { deal, .. } => {
                State::LooksAround { deal: deal + 1, left: DEAL - 1 }
            }
            State::Holds { left: left @ 1.. } => State::Holds { left: left - 1 },
            State::Holds { .. } => State::Holds { left: REVIEW },
        };
    }

    /// Tasks on seats as they come.
    fn seating<'a>(&self, size: usize, caches: usize, worth: &'a Worth) -> Seating<'a> {
        let seats = self.tasks.len().next_multiple_of(size);
        let seats = (0..seats).map(|seat| (seat < self.tasks.len()).then_some(seat)).collect();
        Seating { seats, size, caches, worth, other_turn: OTHER_TURN }
    }

    /// Sets in which most of those meet that have not yet, if there are such and it is not enough by now.
    fn next_deal(&self, size: usize, caches: usize) -> Option<Vec<Vec<TaskId>>> {
        let State::LooksAround { deal, .. } = self.state else { return None };
        if deal >= self.deals() {
            return None;
        }
        let unseen = self.pairs.unseen(&self.tasks);
        let seating = Seating { other_turn: 1, ..self.seating(size, caches, &unseen) }.improved();
        (seating.total() > 0).then(|| seating.sets(&self.tasks))
    }

    /// The best sets that are found, if they are enough better than those of the plan.
    fn best_sets(&self, size: usize, caches: usize) -> Option<Vec<Vec<TaskId>>> {
        let worth = self.pairs.worth(&self.tasks);
        let mut seating = self.seating(size, caches, &worth);
        let planned = self.planned.seats(&self.tasks, size);
        if let Some(planned) = planned {
            let now = seating.worth_of(&planned);
            seating.improve();
            let from_there = Seating { seats: planned, ..seating.clone() }.improved();
            let best = seating.better(from_there);
            let gained = best.total() - now;
            return (gained * 1_000 > now * GAIN).then(|| best.sets(&self.tasks));
        }
        Some(seating.improved().sets(&self.tasks))
    }
}

/// Who sits with whom: seats by sets, and sets by turns and caches. A seat may be empty.
#[derive(Debug, Clone)]
struct Seating<'a> {
    seats: Vec<Option<usize>>,
    size: usize,
    caches: usize,
    worth: &'a Worth,
    /// How much tasks count that share a cache in different turns, as a fraction.
    other_turn: i64,
}

impl Seating<'_> {
    fn worth_of(&self, seats: &[Option<usize>]) -> i64 {
        Seating { seats: seats.to_vec(), ..self.clone() }.total()
    }

    /// What two seats are worth with these tasks on them.
    fn between(&self, one: usize, other: usize) -> i64 {
        let (Some(a), Some(b)) = (self.seats[one], self.seats[other]) else { return 0 };
        let (set_a, set_b) = (one / self.size, other / self.size);
        if set_a == set_b {
            self.worth.of(a, b)
        } else if set_a % self.caches == set_b % self.caches && one % self.size != other % self.size
        {
            self.worth.of(a, b) / self.other_turn
        } else {
            0
        }
    }

    fn of_seat(&self, seat: usize) -> i64 {
        (0..self.seats.len())
            .filter(|&other| other != seat)
            .map(|other| self.between(seat, other))
            .sum()
    }

    fn total(&self) -> i64 {
        (0..self.seats.len()).map(|seat| self.of_seat(seat)).sum::<i64>() / 2
    }

    fn improved(mut self) -> Self {
        self.improve();
        self
    }

    fn better(self, other: Self) -> Self {
        if other.total() > self.total() { other } else { self }
    }

    /// Exchanges tasks, always those that gain most, until nothing gains.
    fn improve(&mut self) {
        // Each exchange gains, so that there is an end; a bound keeps it near.
        for _ in 0..4 * self.seats.len() {
            let mut best = (0, 0, 0);
            for one in 0..self.seats.len() {
                for other in one + 1..self.seats.len() {
                    let before = self.of_seat(one) + self.of_seat(other);
                    self.seats.swap(one, other);
                    let gained = self.of_seat(one) + self.of_seat(other) - before;
                    self.seats.swap(one, other);
                    if gained > best.0 {
                        best = (gained, one, other);
                    }
                }
            }
            if best.0 == 0 {
                return;
            }
            self.seats.swap(best.1, best.2);
        }
    }

    fn sets(&self, tasks: &[TaskId]) -> Vec<Vec<TaskId>> {
        let set =
            |seats: &[Option<usize>]| seats.iter().flatten().map(|&task| tasks[task]).collect();
        self.seats.chunks(self.size).map(set).collect()
    }
}
