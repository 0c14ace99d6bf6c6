//! Which locks are simulated, and how far.
//!
//! An answer needs three curves at most: that of the program as it is, that of the lock to take, and that of
//! the best lock, if another one is taken for its safety. Which these are is known from the largest number of
//! cores alone, on which the locks are compared ([`Choice`]). So all locks are simulated there, and only those
//! few everywhere and with their bands. Where threads hardly take locks or wait for them, no other lock can
//! be worth a change, and none is simulated.

use std::borrow::Cow;

use kilocore_locks::{LockId, RwLockId};

use crate::candidate::{Band, Candidate, simulate_all};
use crate::choice::{Choice, LITTLE, end};
use crate::question::{Extent, Question, TODAY};
use crate::second_choice::{self, SecondChoice};
use crate::{Curve, ForecastGain, PointError, Profiled, TriedLock, WithoutCurve};

/// A kind of locks, of which one is to be chosen, simulated as far as the choice needs it.
#[derive(Debug, Default)]
pub(crate) struct Contest<'a> {
    /// All that is simulated, in the order in which locks were asked for: whole curves, and curves of one
    /// point on the most cores.
    pub(crate) curves: Vec<Curve>,
    /// Which of them have one point only.
    ends: Vec<&'static str>,
    /// What is not simulated at all.
    unsimulated: Vec<&'static str>,
    /// What the curves are made of.
    tried: Vec<Candidate<'a>>,
}

impl<'a> Contest<'a> {
    /// What is simulated of the program under a lock.
    pub(crate) fn candidate(&self, lock: &str) -> Option<&Candidate<'a>> {
        self.tried.iter().find(|tried| tried.lock.name() == lock)
    }

    /// The throughput under a lock at the end, as a multiple of another candidate's. `None` if the lock is not
    /// simulated.
    pub(crate) fn gain(&self, lock: &str, over: &Candidate<'_>) -> Option<ForecastGain> {
        let tried = self.candidate(lock)?;
        let curve = self.curves.iter().find(|curve| curve.lock == lock)?;
        tried.against(over, curve.end().point.cores)
    }

    /// The whole curves, and the locks without one, the best first, beside the curve of what they would
    /// replace.
    pub(crate) fn shown(self, replaced: f64) -> (Vec<Curve>, Vec<WithoutCurve>) {
        let Self { curves, ends, unsimulated, .. } = self;
        let (mut ends, whole): (Vec<Curve>, Vec<Curve>) =
            curves.into_iter().partition(|curve| ends.contains(&curve.lock));
        ends.sort_by(|a, b| end(b).total_cmp(&end(a)));
        let simulated = ends.iter().map(|curve| (curve.lock, Some(end(curve) / replaced)));
        let unsimulated = unsimulated.into_iter().map(|lock| (lock, None));
        let without =
            simulated.chain(unsimulated).map(|(lock, gain)| WithoutCurve { lock, gain }).collect();
        (whole, without)
    }
}

/// Today's lock and the other mutexes. The first curve is that of today's; so is the candidate, for more.
pub(crate) fn among_mutexes<'a>(
    profiled: &'a Profiled,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<(Contest<'a>, Candidate<'a>), PointError> {
    let mut today = Candidate::under(profiled, TODAY);
    let others = question.other_locks().map(|lock| Candidate::under(profiled, lock)).collect();
    simulate_all(&mut [&mut today], (&question.cores, Band::OfProfile), question, progress)?;
    let curve = today.curve(question, &question.cores);
    if question.extent == Extent::Needed && most_waiting(&today, question) < LITTLE {
        let unsimulated = question.other_locks().map(LockId::name).collect();
        return Ok((Contest { curves: vec![curve], unsimulated, ..Contest::default() }, today));
    }
    let chosen =
        |curves: &[Curve]| Choice::for_program(curves, profiled, question.machine).telling();
    let contest = narrowed(others, vec![curve], &chosen, question, progress)?;
    Ok((contest, today))
}

/// Read-write locks beside the mutex of the curve `under`, if the program's own matter there.
pub(crate) fn among_rw_locks(
    under: &Curve,
    profiled: &Profiled,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Contest<'static>, PointError> {
    if !second_choice::matters(under, &profiled.locks) {
        return Ok(Contest::default());
    }
    let known = LockId::ALL.iter().copied().find(|lock| lock.name() == under.lock);
    let of_lock = |&rw_lock: &RwLockId| {
        Candidate::new(
            TriedLock::ReadWrite { lock: rw_lock, beside: known.unwrap_or(TODAY) },
            second_choice::with_rw_lock(profiled, rw_lock).map(Cow::Owned),
        )
    };
    let tried = question.rw_locks.iter().map(of_lock).collect();
    let chosen = |curves: &[Curve]| {
        SecondChoice::among(under, curves, &profiled.locks)
            .map_or_else(Vec::new, |second| second.telling())
    };
    narrowed(tried, Vec::new(), &chosen, question, progress)
}

/// Simulates candidates on the most cores, and those everywhere that are then `chosen` from all curves; or all
/// of them everywhere, if that is asked for.
fn narrowed<'a>(
    mut tried: Vec<Candidate<'a>>,
    mut curves: Vec<Curve>,
    chosen: &dyn Fn(&[Curve]) -> Vec<&'static str>,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Contest<'a>, PointError> {
    let most = &question.cores[question.cores.len() - 1..];
    let chosen = match question.extent {
        Extent::Every => tried.iter().map(|tried| tried.lock.name()).collect(),
        Extent::Needed => {
            let mut all: Vec<&mut Candidate<'_>> = tried.iter_mut().collect();
            simulate_all(&mut all, (most, Band::OfChance), question, progress)?;
            let ends = tried.iter().map(|tried| tried.curve(question, most));
            chosen(&curves.iter().cloned().chain(ends).collect::<Vec<_>>())
        }
    };
    let is_chosen = |name: &str| chosen.contains(&name);
    let mut whole: Vec<&mut Candidate<'_>> =
        tried.iter_mut().filter(|tried| is_chosen(tried.lock.name())).collect();
    simulate_all(&mut whole, (&question.cores, Band::OfProfile), question, progress)?;
    let ends =
        tried.iter().map(|tried| tried.lock.name()).filter(|name| !is_chosen(name)).collect();
    curves.extend(tried.iter().map(|tried| match is_chosen(tried.lock.name()) {
        true => tried.curve(question, &question.cores),
        false => tried.curve(question, most),
    }));
    Ok(Contest { curves, ends, unsimulated: Vec::new(), tried })
}

/// The share of the threads' time that goes into taking locks and waiting for them on the most cores, in
/// the worst of the workloads.
fn most_waiting(today: &Candidate<'_>, question: &Question<'_>) -> f64 {
    let cores = question.cores.last().copied().unwrap_or(1);
    today.of_each_workload(cores).map(|point| point.wait_share).fold(0.0, f64::max)
}
