//! Queues between threads. The model has neither roles nor conditions, so that there is no simulation of the truth.
//! The stopwatch takes its place, on the cores that are here.

use std::path::Path;
use std::process::Command;

use kilocore_figures::median;
use kilocore_forecast::{RunSize, TODAY, from_profile, simulate};
use kilocore_machine::Description;

use crate::feature::Feature;
use crate::planted::{Bench, first, output};
use crate::{SECTIONS, in_turns};

/// How many times a program runs on each number of cores.
const RUNS: usize = 5;
/// Numbers of cores.
pub(crate) const CORES: [u32; 2] = [1, 2];

/// A queue, timed and forecast.
pub(crate) struct Queue {
    pub(crate) program: Feature,
    /// Throughput on each of [`CORES`], in sections a second: by the stopwatch, and said.
    pub(crate) rates: [[f64; 2]; 2],
}

impl Queue {
    pub(crate) fn timed(program: Feature, bench: &Bench, here: &Description) -> Self {
        let how = if program.takes_turns() { in_turns } else { first };
        let profile = bench.measure(how, &program.arguments());
        let profiled = from_profile(&profile).expect("it takes locks");
        let rates = CORES.map(|cores| {
            let size = RunSize::default();
            let point = simulate(&profiled.workload, TODAY, here, cores, size);
            let said = point.expect("the host has the cores").throughput_per_s;
            // The forecast counts each time that a thread takes the lock back as a section.
            let each = f64::from(SECTIONS) / profiled.sections;
            [stopwatch(&program, bench, how, cores), said * each]
        });
        Self { program, rates }
    }

    /// Errors of throughput.
    pub(crate) fn errors(&self) -> impl Iterator<Item = f64> {
        self.rates.iter().map(|[timed, said]| (said / timed - 1.0).abs())
    }
}

/// Sections a second by the program's own stopwatch, on the first so many cores.
fn stopwatch(program: &Feature, bench: &Bench, how: fn(&Path) -> Command, cores: u32) -> f64 {
    let run = |_| {
        let mut command = how(Path::new("taskset"));
        command.args(["-c", &format!("0-{}", cores - 1)]).arg(bench.program());
        let printed = output(command.args(bench.arguments(&program.arguments())));
        printed.trim().parse::<f64>().expect("it prints a figure")
    };
    f64::from(SECTIONS) * 1e9 / median((0..RUNS).map(run)).expect("it ran")
}
