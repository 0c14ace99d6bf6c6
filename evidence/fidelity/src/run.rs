//! Forecasting held-back measurements.

use std::collections::BTreeMap;

use kilocore_forecast::fit::{Atlas, Estimate, fit};
use kilocore_locks::LockId;

use crate::baseline::Baseline;
use crate::data::{Machine, Observed, Program};
use crate::split::{Setting, Split};

/// Told how much of a forecast is done, of how much, from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Why there is no forecast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

/// Forecasts what a split holds back.
pub trait Forecaster {
    /// An estimate for each of [`Split::wanted`], in its order, from [`Split::measurements`].
    ///
    /// # Errors
    /// [`Refused`] if those do not allow one.
    fn forecast(&self, split: &Split<'_>, progress: Progress<'_>)
    -> Result<Vec<Estimate>, Refused>;
}

/// The forecaster under test: `fit` on the machine of an atlas.
impl Forecaster for Atlas<'_> {
    fn forecast(
        &self,
        split: &Split<'_>,
        progress: Progress<'_>,
    ) -> Result<Vec<Estimate>, Refused> {
        let refused = |refusal: kilocore_forecast::fit::Refusal| Refused(refusal.to_string());
        let first_half = |done: u64, all: u64| progress(done, 2 * all);
        let second_half = |done: u64, all: u64| progress(all + done, 2 * all);
        let fitted = fit(self, &split.measurements(), &first_half).map_err(refused)?;
        fitted.forecast(self, &split.wanted(), &second_half).map_err(refused)
    }
}

/// A program in a setting, forecast beside measured.
#[derive(Debug, Clone)]
pub struct Answer {
    /// How much was given.
    pub setting: Setting,
    /// The machine on which the program was measured.
    pub machine: Machine,
    /// Its name in the data set.
    pub program: String,
    /// How many times faster its best lock is than its worst on all nodes: [`Program::spread`].
    pub spread: f64,
    /// The largest number of nodes on which it was measured: [`Program::all_nodes`].
    pub all_nodes: u32,
    /// The largest number of nodes of the given points.
    pub last_given_nodes: u32,
    /// The names of the locks that were given.
    pub given: Vec<String>,
    /// One for each series with a counterpart; none if the forecast was refused.
    pub curves: Vec<Curve>,
    /// Why there is no forecast.
    pub refused: Option<String>,
}

/// A lock's measured and forecast throughputs.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The data set's name of the lock.
    pub alias: String,
    /// Kilocore's counterpart of that lock.
    pub lock: LockId,
    /// Whether points of it were given.
    pub given: bool,
    /// One point for each number of nodes that was measured, ascending.
    pub points: Vec<Compared>,
}

/// A measured throughput and what was said of it.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The number of NUMA nodes that the program ran on.
    pub nodes: u32,
    /// The number of cores of these nodes.
    pub cores: u32,
    /// The published throughput under this lock on these nodes.
    pub observed: Observed,
    /// Whether the measurement was held back.
    pub held: bool,
    /// What the forecast says.
    pub forecast: Estimate,
    /// What the universal scalability law says.
    pub usl: f64,
    /// What it would be if it stayed.
    pub stays: f64,
}

/// Forecasts a program in a setting.
#[must_use]
pub fn answer(
    setting: Setting,
    machine: Machine,
    program: &Program,
    forecaster: &dyn Forecaster,
    progress: Progress<'_>,
) -> Answer {
    let split = Split::new(setting, machine, program);
    let (curves, refused) = match forecaster.forecast(&split, progress) {
        Ok(estimates) => (curves(&split, estimates), None),
        Err(Refused(why)) => (Vec::new(), Some(why)),
    };
    Answer {
        setting,
        machine,
        program: program.name.clone(),
        spread: program.spread(),
        all_nodes: program.all_nodes(),
        last_given_nodes: split.last_given_nodes(),
        given: split.given.iter().map(|s| s.alias.clone()).collect(),
        curves,
        refused,
    }
}

fn curves(split: &Split<'_>, estimates: Vec<Estimate>) -> Vec<Curve> {
    let said: BTreeMap<(LockId, u32), Estimate> =
        split.wanted().into_iter().zip(estimates).collect();
    let mut curves = Vec::new();
    for series in &split.program.series {
        let Some(lock) = series.lock else { continue };
        let Some(baseline) = Baseline::new(split, &series.alias) else { continue };
        let compared = |point: &Observed| {
            let cores = point.nodes * split.machine.cores_per_node;
            Compared {
                nodes: point.nodes,
                cores,
                observed: *point,
                held: !split.gives(&series.alias, point.nodes),
                forecast: said[&(lock, cores)],
                usl: baseline.law(cores),
                stays: baseline.stays(cores),
            }
        };
        curves.push(Curve {
            alias: series.alias.clone(),
            lock,
            given: split.gives_lock(&series.alias),
            points: series.points.iter().map(compared).collect(),
        });
    }
    curves
}
