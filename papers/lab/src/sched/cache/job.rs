//! What is computed for the points of the experiment: the best division of a mix, and a mix under a contender from one
//! order of its tasks.

use kilocore_points::{Job, Key};
use kilocore_sched_policy::Policy;
use kilocore_sim::occupancy::Hardware;

use super::contender::Contender;
use super::mix::Mix;
use super::optimum::{Division, division};
use super::run::{Ran, RunError, run};
use super::setting::Setting;

/// The best division of a mix.
#[derive(Debug)]
pub(super) struct BestDivision<'a> {
    pub(super) mix: &'a Mix,
}

impl Job for BestDivision<'_> {
    type Shared = Hardware;
    type Point = Division;
    type Error = RunError;

    const COMPUTATION: &'static str = "the best division over caches";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        self.mix.programs.len() as f64
    }

    fn compute(&self, hardware: &Hardware) -> Result<Division, RunError> {
        Ok(division(hardware, self.mix))
    }

    fn shared_words(hardware: &Hardware) -> String {
        format!("the best division over {} caches", hardware.caches())
    }

    fn words(&self) -> String {
        self.mix.name.to_owned()
    }
}

/// A mix under a contender, from one order of its tasks.
#[derive(Debug)]
pub(super) struct OneOrder<'a> {
    pub(super) mix: &'a Mix,
    pub(super) contender: Contender,
    /// The best division, if that is the contender.
    pub(super) plan: Option<&'a Division>,
    /// By which the tasks are ordered.
    pub(super) seed: u64,
}

impl OneOrder<'_> {
    /// The policy for tasks in this order.
    ///
    /// # Panics
    /// If the contender is the optimum, and there is no plan.
    fn policy(&self, order: &[usize]) -> Box<dyn Policy> {
        match self.contender {
            Contender::Policy(name) => name.policy(),
            Contender::Optimum => self.plan.expect("the optimum has a plan").policy(order),
        }
    }
}

impl Job for OneOrder<'_> {
    type Shared = Setting;
    type Point = Ran;
    type Error = RunError;

    const COMPUTATION: &'static str = "schedulers and caches";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        self.mix.programs.len() as f64
    }

    fn compute(&self, setting: &Setting) -> Result<Ran, RunError> {
        run(setting, self.mix, self.seed, &|order| self.policy(order))
    }

    fn shared_words(setting: &Setting) -> String {
        format!("schedulers and caches on {}", setting.machine.name)
    }

    fn words(&self) -> String {
        format!("{}, {}, order {}", self.mix.name, self.contender, self.seed)
    }
}
