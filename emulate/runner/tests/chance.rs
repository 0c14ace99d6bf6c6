//! Runs that differ by chance only.

use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_emulation::{Asked, EmulateError, Progress, Runs, emulate_runs};
use kilocore_points::Assignment;
use kilocore_process::Output;

use crate::support::{emulator, orders, program};

#[derive(Default)]
struct Counted {
    planned: AtomicUsize,
    done: AtomicUsize,
}

impl Progress for Counted {
    fn planned(&self, runs: usize) {
        self.planned.fetch_add(runs, Ordering::Relaxed);
    }

    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs of a program on 1, 2 and 4 cores.
fn tried(program_name: &str, arguments: &[&str], most: usize) -> Result<Vec<Runs>, EmulateError> {
    let words = [program(program_name, &[]).into(), "{cores}".into()];
    let words: Vec<_> = words.into_iter().chain(arguments.iter().map(|word| word.into())).collect();
    let asked = [1, 2, 4].map(|cores| Asked::from(orders(cores)));
    let counted = Counted::default();
    let all = Assignment::all();
    let runs = emulate_runs(&words, &asked, most, &emulator(), Output::Discarded, &all, &counted)?;
    let all: usize = runs.iter().map(|runs| runs.all().len()).sum();
    assert_eq!([counted.planned, counted.done].map(AtomicUsize::into_inner), [all; 2]);
    Ok(runs)
}

fn counts(runs: &[Runs]) -> Vec<usize> {
    runs.iter().map(|runs| runs.all().len()).collect()
}

#[test]
fn where_chance_decides_there_are_more_runs_and_the_median_is_shown() {
    let runs = tried("draws", &["8"], 5).expect("it is emulated");
    // On one core it makes no thread.
    assert_eq!(counts(&runs), [1, 5, 5]);
    for runs in &runs[1..] {
        assert!(runs.differ() && runs.spread() > 1.2, "{}", runs.spread());
        let mut times: Vec<f64> = runs.all().map(|(_, point)| point.report.end_ns).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(runs.shown().report.end_ns, times[2]);
        assert_eq!(runs.range(|point| point.report.end_ns), times[0]..=times[4]);
        let seeds: Vec<u64> = runs.all().map(|(seed, _)| seed).collect();
        assert_eq!(seeds, [1, 2, 3, 4, 5]);
    }
    let again = tried("draws", &["8"], 5).expect("it is emulated");
    let ends = |runs: &[Runs]| {
        let all = runs.iter().flat_map(Runs::all);
        all.map(|(seed, point)| (seed, point.report.end_ns)).collect::<Vec<_>>()
    };
    assert_eq!(ends(&runs), ends(&again));
}

#[test]
fn where_it_does_not_there_are_two_and_the_first_is_shown() {
    let runs = tried("draws", &["1"], 5).expect("it is emulated");
    assert_eq!(counts(&runs), [1, 2, 2]);
    for runs in &runs[1..] {
        assert!(!runs.differ(), "{}", runs.spread());
        let first = runs.all().next().expect("there are two").1;
        assert_eq!(runs.shown().report.end_ns, first.report.end_ns);
    }
    // Whoever asks for one gets one, and no word on chance.
    let runs = tried("draws", &["8"], 1).expect("it is emulated");
    assert_eq!(counts(&runs), [1, 1, 1]);
    assert!(runs.iter().all(|runs| !runs.differ()));
}

#[test]
fn a_run_that_ends_badly_ends_all() {
    let error = tried("draws", &["0"], 5).expect_err("it wants a number above 0");
    let EmulateError::Ended { status, .. } = &error else { panic!("{error}") };
    assert_eq!(status.code(), Some(2), "{error}");
}
