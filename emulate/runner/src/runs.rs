//! Runs of a program that differ by chance only, and how many there must be.
//!
//! Where threads wait for one another, who comes first at the first lock decides who meets whom later on. One run is then one of
//! many that are as likely, and its figure may be far from those of the others.
//!
//! # Decisions
//! * **Two runs, and more only if they differ.** Most programs take as long with any chance, and need no third.
//! * **A program of one thread runs once.** Nobody comes before or after it.
//! * **The figures are those of one run**, the median one by time, so that they fit together. Of two that do not
//!   differ it is the first.

use std::ffi::OsString;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use kilocore_emulation_orders::Report;
use kilocore_points::{Assignment, Elsewhere};
use kilocore_process::Output;

use crate::divided::{Round, ended};
use crate::run::emulate_on;
use crate::{Asked, EmulateError, Emulator, Point};

/// Runs of which the longest takes at most so many times as long as the shortest do not differ.
const NEAR: f64 = 1.05;
/// A part with threads of its own that is a smaller part of the run says nothing by how long it takes.
const PART: f64 = 0.1;
/// Runs after which it is known whether they differ.
const FIRST: usize = 2;

/// Runs of a program as it was asked for, with one seed after the other. At least one.
#[derive(Debug, Clone)]
pub struct Runs {
    /// The seed of each, and what came out.
    all: Vec<(u64, Point)>,
    /// Which of them is shown.
    shown: usize,
}

impl From<(u64, Point)> for Runs {
    fn from(only: (u64, Point)) -> Self {
        Self { all: vec![only], shown: 0 }
    }
}

impl Runs {
    pub(crate) fn add(&mut self, seed: u64, point: Point) {
        self.all.push((seed, point));
        let mut by_time: Vec<usize> = (0..self.all.len()).collect();
        by_time.sort_by(|&one, &other| self.ns(one).total_cmp(&self.ns(other)));
        self.shown = if self.differ() { by_time[(by_time.len() - 1) / 2] } else { 0 };
    }

    fn ns(&self, index: usize) -> f64 {
        self.all[index].1.report.end_ns
    }

    /// The run whose figures stand for all.
    #[must_use]
    pub fn shown(&self) -> &Point {
        &self.all[self.shown].1
    }

    /// Each run with its seed.
    pub fn all(&self) -> impl ExactSizeIterator<Item = (u64, &Point)> {
        self.all.iter().map(|(seed, point)| (*seed, point))
    }

    /// How many times as long as the shortest run the longest one takes: the whole, or the part with threads of its own, where
    /// that differs more and is a good part of the whole.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let whole = self.range(|point| point.report.end_ns);
        let parallel = self.range(|point| point.report.parallel.map_or(f64::NAN, |part| part.ns()));
        let ratio = |range: &RangeInclusive<f64>| range.end() / range.start();
        // Where not all have such a part, its times are no numbers.
        if *parallel.end() >= PART * whole.end() {
            ratio(&whole).max(ratio(&parallel))
        } else {
            ratio(&whole)
        }
    }

    /// Whether chance decides how long it takes.
    #[must_use]
    pub fn differ(&self) -> bool {
        self.spread() > NEAR
    }

    /// The least and the greatest figure of all runs. No numbers if that of one is none.
    pub fn range(&self, of: impl Fn(&Point) -> f64) -> RangeInclusive<f64> {
        least_and_greatest(self.all.iter().map(|(_, point)| of(point)))
    }

    fn reports(&self) -> impl Iterator<Item = &Report> {
        self.all.iter().map(|(_, point)| &point.report)
    }

    /// The same of how each run compares with each of others.
    pub(crate) fn beside(
        &self,
        others: &Self,
        of: impl Fn(&Report, &Report) -> f64,
    ) -> RangeInclusive<f64> {
        let of = &of;
        least_and_greatest(
            self.reports().flat_map(|one| others.reports().map(move |other| of(one, other))),
        )
    }

    /// Whether the program makes no threads, as far as one run tells.
    pub(crate) fn have_one_thread(&self) -> bool {
        self.shown().report.threads.len() < 2
    }

    /// How many of them were emulated before and not now.
    pub(crate) fn known(&self) -> usize {
        self.all.iter().filter(|(_, point)| point.known_since.is_some()).count()
    }

    /// When the last was emulated, if none was now.
    pub(crate) fn known_since(&self) -> Option<SystemTime> {
        let since: Option<Vec<_>> = self.all.iter().map(|(_, point)| point.known_since).collect();
        since?.into_iter().max()
    }

    /// How many runs there must be, of at most so many.
    fn needs(&self, most: usize) -> usize {
        match self.all.len() {
            _ if self.have_one_thread() => 1,
            has if has < FIRST => FIRST.min(most),
            _ if self.differ() => most,
            has => has,
        }
    }
}

fn least_and_greatest(figures: impl Iterator<Item = f64>) -> RangeInclusive<f64> {
    let wider = |(least, greatest): (f64, f64), it: f64| match it.is_nan() || least.is_nan() {
        true => (f64::NAN, f64::NAN),
        false => (least.min(it), greatest.max(it)),
    };
    let (least, greatest) = figures.fold((f64::INFINITY, f64::NEG_INFINITY), wider);
    least..=greatest
}

/// Who is told how it goes on.
pub trait Progress: Sync {
    /// So many runs will be made, beside those that were announced before.
    fn planned(&self, runs: usize);
    /// One is done.
    fn done(&self);
}

/// Runs a program as it is asked for each time, as [`emulate_all`] does, with as many seeds as it takes to see whether
/// chance matters, and with `most` where it does: the one that is asked for, and those that follow it. Each run is a point of
/// which the `assignment` says whether this process emulates it.
///
/// # Errors
/// As those of [`emulate_all`], and [`EmulateError::Ended`] if a run ends in another way than it should; and
/// [`EmulateError::Elsewhere`] if other processes are to emulate some, or if this one was to emulate a share.
///
/// [`emulate_all`]: crate::emulate_all
pub fn emulate_runs(
    words: &[OsString],
    asked: &[Asked],
    most: usize,
    emulator: &Emulator,
    output: Output<'_>,
    assignment: &Assignment,
    progress: &dyn Progress,
) -> Result<Vec<Runs>, EmulateError> {
    let at_a_time = assignment.threads().map_or(usize::MAX, NonZero::get);
    let mut divides = !assignment.is_all();
    let with_seed = |(of, more): (usize, usize)| {
        let mut one = asked[of].clone();
        one.orders.seed = one.orders.seed.wrapping_add(more as u64);
        one
    };
    let done = |point: &Point| {
        progress.done();
        !point.ended_badly()
    };
    // On several cores it will have several threads, so its second run need not wait for the first.
    let first = |of: usize| if asked[of].orders.cores > 1 { FIRST.min(most) } else { 1 };
    let mut wanted: Vec<(usize, usize)> =
        (0..asked.len()).flat_map(|of| (0..first(of)).map(move |more| (of, more))).collect();
    let mut runs: Vec<Option<Runs>> = vec![None; asked.len()];
    while !wanted.is_empty() {
        progress.planned(wanted.len());
        let round: Vec<Asked> = wanted.iter().copied().map(with_seed).collect();
        let all = Round { words, asked: &round, emulator, output };
        let known = if divides { all.divided(assignment, &done)? } else { None };
        // What only this process knows cannot be waited for by others.
        divides &= known.is_some();
        let points = match known {
            Some(points) => points,
            None if assignment.is_share() => return Err(Elsewhere.into()),
            None => emulate_on(words, &round, emulator, output, at_a_time, &done)?,
        };
        if let Some(bad) = points.iter().find(|point| point.ended_badly()) {
            return Err(ended(bad));
        }
        for (((of, _), asked), point) in wanted.iter().zip(round).zip(points) {
            let seed = asked.orders.seed;
            match &mut runs[*of] {
                Some(runs) => runs.add(seed, point),
                none => *none = Some(Runs::from((seed, point))),
            }
        }
        let more_of = |(of, runs): (usize, &Option<Runs>)| {
            let (has, needs) = runs.as_ref().map_or((0, 0), |it| (it.all.len(), it.needs(most)));
            (has..needs).map(move |more| (of, more))
        };
        wanted = runs.iter().enumerate().flat_map(more_of).collect();
    }
    match assignment.is_share() {
        true => Err(Elsewhere.into()),
        false => Ok(runs.into_iter().flatten().collect()),
    }
}
