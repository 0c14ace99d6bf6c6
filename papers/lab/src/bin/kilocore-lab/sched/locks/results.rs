//! What was simulated, to be looked up.

use kilocore_lab::sched::locks::{Choice, KernelLock, Load, Plan, Point};
use kilocore_machine::Description;
use kilocore_show::{Across, Line, Lines, Mark};

/// The points of a plan.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) machine: &'a Description,
    pub(super) plan: &'a Plan,
    /// By loads, then by locks, then by who schedules, then by cores.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.plan.length.seed)
    }

    /// The points of one curve, by rising numbers of cores.
    pub(super) fn curve(&self, load: &Load, lock: KernelLock, choice: Choice) -> Vec<&Point> {
        let policy = choice.to_string();
        let wanted = |point: &&Point| {
            point.load == load.name && point.lock == lock && point.policy == policy
        };
        self.points.iter().filter(wanted).collect()
    }

    /// Speed-up against cores, as the thesis compares them: each lock under who schedules first, and the
    /// first lock under everybody else.
    pub(super) fn chart(&self, load: &Load) -> Lines {
        let (first_lock, first_choice) = (self.plan.locks[0], self.plan.choices[0]);
        let line = |name, lock, choice| {
            let points = self.curve(load, lock, choice).into_iter();
            let points = points.map(|point| (f64::from(point.cores), speedup(point)));
            Line::new(name, points.collect())
        };
        let locks = self.plan.locks.iter().map(|&lock| line(lock.name(), lock, first_choice));
        let others = self.plan.choices[1..].iter();
        let others = others.map(|&choice| line(choice.name(), first_lock, choice));
        Lines {
            title: format!(
                "{}: locks under {first_choice}, and {first_lock} under others",
                load.name
            ),
            mark: self.mark(),
            across: Across::Cores,
            up: "speed-up".to_owned(),
            by: "lock or policy",
            linear: None,
            small: false,
            lines: locks.chain(others).collect(),
        }
    }
}

/// The speed-up of a point; all points of a plan have one.
pub(super) fn speedup(point: &Point) -> f64 {
    point.speedup.unwrap_or(f64::NAN)
}
