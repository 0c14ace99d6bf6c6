//! Weighing mixtures by measurements.
//!
//! There are some hundred thousand mixtures, so they are weighed in two steps. The first step
//! weighs all of them roughly: it rounds the lock's own error to one of a few sizes, so that a
//! handful of factored matrices serves all mixtures. The second step weighs the weightiest mixtures
//! exactly.

use nalgebra::DVector;

use crate::PointError;
use crate::fit::atlas::{Atlas, PhaseIndex, Simulated};
use crate::fit::background::Background;
use crate::fit::discrepancy::{ErrorPoint, LEVELS, Process};
use crate::fit::mixture::{self, Mixture};
use kilocore_locks::LockId;

/// A lock phase in a mixture, together with a level of the model's error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hypothesis {
    pub(crate) phase: PhaseIndex,
    pub(crate) mixture: Mixture,
    pub(crate) level: f64,
    pub(crate) weight: f64,
}

/// What the phases do at some places. The predictions of a hypothesis are computed from this.
pub(crate) struct Basis {
    places: Vec<(LockId, u32)>,
    /// For each phase, the throughput on one core and what is simulated at each place.
    phases: Vec<Option<(f64, Vec<Simulated>)>>,
    /// For each background, the time at each place, relative to one core.
    backgrounds: Vec<(Background, Vec<f64>)>,
}

/// The lock under which one core is simulated. With a single thread, locks hardly differ.
const ALONE: (LockId, u32) = (LockId::Futex, 1);

impl Basis {
    /// Simulates what is missing.
    pub(crate) fn new(
        atlas: &Atlas<'_>,
        phases: &[PhaseIndex],
        places: &[(LockId, u32)],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Self, PointError> {
        let mut wanted = vec![ALONE];
        wanted.extend(places);
        let rows = atlas.points(phases, &wanted, progress)?;
        let mut by_phase = vec![None; atlas.phases().len()];
        for (&phase, row) in phases.iter().zip(rows) {
            by_phase[phase] = Some((row[0].throughput_per_s, row[1..].to_vec()));
        }
        let cores: Vec<u32> = places.iter().map(|&(_, cores)| cores).collect();
        let backgrounds = atlas.backgrounds(&cores)?;
        Ok(Self { places: places.to_vec(), phases: by_phase, backgrounds })
    }

    /// A basis for the first of these places, as many as `standing_in` has entries. At each of them
    /// a lock phase does what is simulated at the place whose index `standing_in` names.
    pub(crate) fn standing_in(&self, standing_in: &[usize]) -> Self {
        let places = standing_in.len();
        let pick = |(alone, row): &(f64, Vec<Simulated>)| {
            (*alone, standing_in.iter().map(|&place| row[place]).collect())
        };
        let first = |times: &Vec<f64>| times[..places].to_vec();
        Self {
            places: self.places[..places].to_vec(),
            phases: self.phases.iter().map(|phase| phase.as_ref().map(pick)).collect(),
            backgrounds: self.backgrounds.iter().map(|(b, times)| (*b, first(times))).collect(),
        }
    }

    /// The logarithm of the throughput of a mixture at each place, relative to one core, and the
    /// share of time that its threads wait for locks.
    pub(crate) fn mixture(
        &self,
        phase: PhaseIndex,
        mixture: &Mixture,
    ) -> impl Iterator<Item = (f64, f64)> {
        let (alone, row) = self.phases[phase].as_ref().expect("the basis has the phase");
        let backgrounds = self.backgrounds.iter().find(|(b, _)| *b == mixture.background);
        let background = &backgrounds.expect("the basis has all backgrounds").1;
        let (serial, parallel) = (mixture.background_share, mixture.parallel_share);
        let lock_share = mixture.lock_share();
        self.places.iter().zip(row).zip(background).map(
            move |((&(_, cores), point), background)| {
                let in_locks = lock_share * alone / point.throughput_per_s;
                let time = serial * background + parallel / f64::from(cores) + in_locks;
                (-libm::log(time), point.wait_share.min(1.0) * in_locks / time)
            },
        )
    }

    fn places_of(&self, waiting: impl Iterator<Item = f64>) -> Vec<ErrorPoint> {
        let place = |(&(lock, cores), waiting)| ErrorPoint {
            lock,
            log_cores: libm::log(f64::from(cores)),
            waiting,
        };
        self.places.iter().zip(waiting).map(place).collect()
    }

    /// The errors of a hypothesis against logarithms of throughputs, and the places of these
    /// errors.
    pub(crate) fn errors(
        &self,
        hypothesis: &Hypothesis,
        measured: &[f64],
    ) -> (DVector<f64>, Vec<ErrorPoint>) {
        let (logs, places) = self.forecast(hypothesis);
        let errors = measured.iter().zip(&logs).map(|(measured, log)| measured - log);
        (DVector::from_iterator(logs.len(), errors), places)
    }

    /// What a hypothesis says at each place, and the places.
    pub(crate) fn forecast(&self, hypothesis: &Hypothesis) -> (Vec<f64>, Vec<ErrorPoint>) {
        let points: Vec<(f64, f64)> = self.mixture(hypothesis.phase, &hypothesis.mixture).collect();
        let places = self.places_of(points.iter().map(|&(_, waiting)| waiting));
        (points.into_iter().map(|(log, _)| log).collect(), places)
    }
}

/// Shares of waiting for which the first step has factored matrices.
const WAITING: [f64; 4] = [0.05, 0.2, 0.45, 0.8];
/// The bounds between these shares.
const BETWEEN: [f64; 3] = [0.1, 0.3, 0.6];
/// How many hypotheses are weighed exactly.
const EXACT: usize = 4_000;

/// Weighs all mixtures of all phases of `atlas` by the logarithms of throughputs `measured` at the
/// places of `basis`. Returns them, the weightiest first, with weights that add up to 1, and the
/// logarithm of how likely the measurements are under all of them.
pub(crate) fn weigh(atlas: &Atlas<'_>, basis: &Basis, measured: &[f64]) -> (Vec<Hypothesis>, f64) {
    let mut hypotheses = weigh_roughly(atlas, basis, measured);
    hypotheses.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    hypotheses.truncate(EXACT);
    let mixtures = PriorWeights::new();
    let mut room = DVector::zeros(measured.len());
    for hypothesis in &mut hypotheses {
        let (errors, places) = basis.errors(hypothesis, measured);
        let process = Process::new(hypothesis.level, places);
        hypothesis.weight = process.log_likelihood(&errors, &mut room)
            + mixtures.of(&hypothesis.mixture)
            + libm::log(atlas.phases()[hypothesis.phase].prior);
    }
    let prior: f64 = atlas.phases().iter().map(|phase| phase.prior).sum::<f64>()
        * mixtures.0.iter().map(|(_, weight)| weight).sum::<f64>()
        * LEVELS.len() as f64;
    let evidence = from_logarithms(&mut hypotheses) - libm::log(prior);
    hypotheses.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    (hypotheses, evidence)
}

/// The prior weights of mixtures.
struct PriorWeights(Vec<(Mixture, f64)>);

impl PriorWeights {
    fn new() -> Self {
        Self(mixture::all())
    }

    fn of(&self, mixture: &Mixture) -> f64 {
        let found = self.0.iter().find(|(other, _)| other == mixture);
        libm::log(found.expect("all mixtures come from this list").1)
    }
}

fn weigh_roughly(atlas: &Atlas<'_>, basis: &Basis, measured: &[f64]) -> Vec<Hypothesis> {
    let process = |level, waiting: f64| {
        let waiting = std::iter::repeat_n(waiting, measured.len());
        Process::new(level, basis.places_of(waiting))
    };
    let processes: Vec<[Process; LEVELS.len()]> =
        WAITING.iter().map(|&waiting| LEVELS.map(|level| process(level, waiting))).collect();
    let mixtures = mixture::all();
    let mut hypotheses = Vec::new();
    let mut errors = DVector::zeros(measured.len());
    let mut room = errors.clone();
    for (phase, described) in atlas.phases().iter().enumerate() {
        for (mixture, prior) in &mixtures {
            let mut waiting = 0.0;
            for (i, (log, wait)) in basis.mixture(phase, mixture).enumerate() {
                errors[i] = measured[i] - log;
                waiting += wait / measured.len() as f64;
            }
            let size = BETWEEN.iter().filter(|&&bound| waiting > bound).count();
            for (process, level) in processes[size].iter().zip(LEVELS) {
                let weight =
                    process.log_likelihood(&errors, &mut room) + libm::log(prior * described.prior);
                hypotheses.push(Hypothesis { phase, mixture: *mixture, level, weight });
            }
        }
    }
    hypotheses
}

/// Turns logarithms of weights into weights that add up to 1, and returns the logarithm of their
/// sum.
fn from_logarithms(hypotheses: &mut [Hypothesis]) -> f64 {
    let most = hypotheses.iter().map(|h| h.weight).fold(f64::NEG_INFINITY, f64::max);
    for hypothesis in &mut *hypotheses {
        hypothesis.weight = libm::exp(hypothesis.weight - most);
    }
    let sum: f64 = hypotheses.iter().map(|h| h.weight).sum();
    for hypothesis in hypotheses {
        hypothesis.weight /= sum;
    }
    most + libm::log(sum)
}
