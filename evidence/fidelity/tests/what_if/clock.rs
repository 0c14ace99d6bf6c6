//! Changed programs by the clock: rounds in which each runs once, beside the program as it is.

use std::time::Duration;

use kilocore_figures::{ascending, median};

use crate::planted::{Bench, first, output};
use crate::program::{Planted, THREADS};

/// How many times each program runs.
const ROUNDS: usize = 9;
/// With fewer undisturbed rounds nothing is concluded: of six, the interval from the least to the most
/// holds the median nineteen times in twenty, and of five it does not.
const LEAST_ROUNDS: usize = 6;
/// A run is disturbed if its threads were ready but had no core for more than this share of the time, beyond
/// the least of all rounds: a core that idles takes its time to wake, too, and that is the program's own.
const DISTURBED: f64 = 0.05;
/// After each run others have this share of its time, so that the next one does not lose its cores to them.
const PAUSE: f64 = 0.1;

/// How many times as high throughput is after a change, by the clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    /// The median of the rounds.
    pub(crate) gain: f64,
    /// In which the true median lies nineteen times in twenty.
    pub(crate) interval: (f64, f64),
    /// Undisturbed rounds.
    pub(crate) rounds: usize,
}

impl Timed {
    /// Of the ratios of undisturbed rounds.
    fn of(ratios: Vec<f64>) -> Option<Self> {
        let ratios = ascending(ratios);
        let rounds = ratios.len();
        if rounds < LEAST_ROUNDS {
            return None;
        }
        // The most values that can be left out at both ends: nine rounds have 2^9 equally likely ways to
        // lie about the median, and in 2 × (1 + 9) of these it is outside all but the first and the last.
        let outer = usize::from(rounds >= 9);
        let interval = (ratios[outer], ratios[rounds - 1 - outer]);
        Some(Self { gain: median(ratios)?, interval, rounds })
    }

    /// Whether it is open if the change brings or costs something.
    pub(crate) fn is_open(&self) -> bool {
        self.interval.0 <= 1.0 && self.interval.1 >= 1.0
    }
}

/// Times programs on a bench.
pub(crate) struct Clock<'a> {
    bench: &'a Bench,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(bench: &'a Bench) -> Self {
        Self { bench }
    }

    /// What each of the changed programs gains over `unchanged`. In each round all of them run in turn,
    /// each round beginning with another one.
    pub(crate) fn gains(&self, unchanged: Planted, changed: &[Planted]) -> Vec<Option<Timed>> {
        let programs = [&[unchanged], changed].concat();
        let mut runs = vec![Vec::new(); programs.len()];
        for round in 0..ROUNDS {
            for turn in 0..programs.len() {
                let which = (round + turn) % programs.len();
                runs[which].push(self.run(&programs[which]));
            }
        }
        let times: Vec<Vec<Option<f64>>> = runs.iter().map(|runs| undisturbed(runs)).collect();
        let (before, after) = times.split_first().expect("the unchanged program is one");
        let ratios = |after: &Vec<Option<f64>>| {
            let rounds = before.iter().zip(after);
            rounds.filter_map(|(before, after)| Some((*before)? / (*after)?)).collect()
        };
        after.iter().map(|after| Timed::of(ratios(after))).collect()
    }

    fn run(&self, program: &Planted) -> Run {
        let arguments = self.bench.arguments(&program.arguments());
        let printed = output(first(&self.bench.program()).args(arguments));
        let mut words = printed.split_whitespace().map(|word| word.parse::<f64>());
        let mut figure = || words.next().and_then(Result::ok).expect("it prints two figures");
        let run = Run { ran: figure(), delayed: figure() };
        std::thread::sleep(Duration::from_nanos((run.ran * PAUSE) as u64));
        run
    }
}

/// A run of a program.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// For how long it ran, in nanoseconds.
    ran: f64,
    /// For how long its threads together were ready without having a core, in nanoseconds.
    delayed: f64,
}

/// For how long each of the runs of a program lasted, if it was not disturbed.
fn undisturbed(runs: &[Run]) -> Vec<Option<f64>> {
    let least = runs.iter().map(|run| run.delayed).fold(f64::INFINITY, f64::min);
    let allowed = |run: &Run| least + DISTURBED * run.ran * f64::from(THREADS);
    runs.iter().map(|run| (run.delayed <= allowed(run)).then_some(run.ran)).collect()
}
