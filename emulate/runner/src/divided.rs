//! Runs that the processes of a sweep divide among themselves.
//!
//! # Decisions
//! * **A run is a point by what is known before it begins**: the digest under which it is kept is its key.
//! * **A program of which one run cannot be used again is emulated by the command itself**, with all its runs, as alone. So
//!   nothing more of it is emulated for nobody.
//! * **What ends badly counts as a run that cannot be used again.** Beside others, a program may not have had its files for itself.
//!   The command then emulates it alone, and says what it says alone.

use std::ffi::OsString;
use std::time::Duration;

use kilocore_points::{Assignment, Elsewhere, Key, Missing};
use kilocore_process::{Output, sized_for};

use crate::kept_run::Question;
use crate::names::Symbols;
use crate::run::question_of;
use crate::words::number_of;
use crate::{Asked, EmulateError, Emulator, KeptRuns, Point, emulate_all};

/// The name of the computation.
const COMPUTATION: &str = "emulate";

/// Runs of a program that are asked for at once.
#[derive(Clone, Copy)]
pub(crate) struct Round<'a> {
    pub(crate) words: &'a [OsString],
    pub(crate) asked: &'a [Asked],
    pub(crate) emulator: &'a Emulator,
    pub(crate) output: Output<'a>,
}

impl Round<'_> {
    /// The points of all runs, as far as this process and others have emulated them. `None` if this process is to emulate what
    /// it does not know, for itself alone. `done` is told of each that is known.
    ///
    /// # Errors
    /// [`EmulateError::Elsewhere`] if other processes are to emulate some, or if nothing is left of a share; and why a run
    /// cannot be begun.
    pub(crate) fn divided(
        &self,
        assignment: &Assignment,
        done: &dyn Fn(&Point) -> bool,
    ) -> Result<Option<Vec<Point>>, EmulateError> {
        let Some(runs) = self.emulator.runs() else { return Ok(None) };
        let of = |asked| question_of(self.words, asked, self.emulator, self.output);
        let questions: Option<Vec<Question>> =
            self.asked.iter().map(of).collect::<Result<_, _>>()?;
        let Some(questions) = questions else { return Ok(None) };
        let is_for_once = || questions.iter().any(|question| runs.is_for_once(question));
        for (asked, question) in self.asked.iter().zip(&questions) {
            let key = Key::from_bytes(*question);
            if assignment.shares(&key) {
                let took = match is_for_once() {
                    true => Ok(Duration::ZERO),
                    false => self.emulated(asked, runs, question)?,
                };
                match took {
                    Ok(took) => assignment.note_kept(key, took),
                    Err(why) => assignment.note_failed(key, || why),
                }
            }
        }
        if assignment.is_done() {
            return Err(Elsewhere.into());
        }
        if is_for_once() {
            return Ok(None);
        }
        let mut symbols = Symbols::default();
        let mut points = Vec::new();
        for (asked, question) in self.asked.iter().zip(&questions) {
            match runs.answer(question, &mut symbols) {
                Some(point) => {
                    done(&point);
                    points.push(point);
                }
                None => {
                    let key = Key::from_bytes(*question);
                    assignment.computes(key, || self.missing(asked, key));
                }
            }
        }
        match points.len() == questions.len() {
            true => Ok(Some(points)),
            false => Err(Elsewhere.into()),
        }
    }

    /// Emulates one run for all, and says how long that took, or why nobody can know of it.
    fn emulated(
        &self,
        asked: &Asked,
        runs: &KeptRuns,
        question: &Question,
    ) -> Result<Result<Duration, String>, EmulateError> {
        let one = std::slice::from_ref(asked);
        let end = emulate_all(self.words, one, self.emulator, self.output, &|_| true);
        let point = end.map(|mut points| points.pop());
        let (why, files) = match &point {
            Err(EmulateError::Interrupted { signal }) => {
                return Err(EmulateError::Interrupted { signal: *signal });
            }
            Ok(Some(point)) if point.interrupted => return Err(ended(point)),
            Ok(Some(point)) if point.ended_badly() => {
                (ended(point).to_string(), &point.report.dependence.files[..])
            }
            Ok(Some(Point { for_once: Some(why), report, .. })) => {
                (why.clone(), &report.dependence.files[..])
            }
            Ok(Some(point)) if point.known_since.is_some() => return Ok(Ok(Duration::ZERO)),
            Ok(Some(point)) => return Ok(Ok(point.took)),
            Ok(None) => return Ok(Err("it was not emulated".to_owned())),
            Err(error) => (error.to_string(), &[][..]),
        };
        let remembered = runs.remember(question, &why, files);
        Ok(match remembered {
            Ok(()) => Ok(Duration::ZERO),
            Err(error) => Err(format!("it cannot be written: {error}")),
        })
    }

    fn missing(&self, Asked { orders, locks, .. }: &Asked, key: Key) -> Missing {
        let words: Vec<_> = sized_for(self.words, orders.cores)
            .iter()
            .map(|word| word.display().to_string())
            .collect();
        let cores = number_of(orders.cores, "core");
        let machine = &orders.machine.name;
        let locks = locks.as_ref().map_or(String::new(), |names| format!(", {names}"));
        Missing {
            key,
            computation: COMPUTATION.to_owned(),
            // Most of it is the program's work, on any number of cores; waits come with each of them.
            cost: f64::from(orders.cores).sqrt(),
            words: format!(
                "{} on {machine}: {cores}{locks}, seed {}",
                words.join(" "),
                orders.seed
            ),
        }
    }
}

/// What a run is that ended in another way than it should.
pub(crate) fn ended(point: &Point) -> EmulateError {
    EmulateError::Ended { status: point.status, during: "on the simulated machine" }
}
