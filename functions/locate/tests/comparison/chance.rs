//! How often a mark is wrong: programs of which nothing is known but how their time divides are
//! sampled again and again. The numbers are pseudo-random with given seeds, so each run of the
//! tests sees the same.

use kilocore_locate::{Options, Run, compare};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::profiles::{profile, run};

/// How the time of the program divides, in percent: little and much, as in real ones.
const SHARES: [u32; 12] = [30, 22, 15, 10, 7, 5, 4, 3, 1, 1, 1, 1];

/// The samples of a run that is as fast as most.
const SAMPLES: f64 = 400.0;

/// What a sample stands for, in nanoseconds.
const PERIOD: u64 = 2_000_000;

/// From 0 to 1.
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Normal, with a mean of 0 and a deviation of 1, as near as the sum of twelve comes.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// What differs from run to run by chance.
#[derive(Debug, Clone, Copy)]
enum Varies {
    /// How fast the host is.
    Everything,
    /// How long each function takes, by itself.
    EachFunction,
}

/// A run of the program; the first function takes `grown` times as long as the shares say.
fn sampled(random: &mut Xoshiro256PlusPlus, (noise, varies): (f64, Varies), grown: f64) -> Run {
    let mut chance = || (1.0 + noise * normal(random)).max(0.1);
    let host = chance();
    let mut time = |(function, share): (usize, &u32)| {
        let usual = f64::from(*share) * if function == 0 { grown } else { 1.0 };
        usual * if matches!(varies, Varies::Everything) { host } else { chance() }
    };
    let times: Vec<f64> = SHARES.iter().enumerate().map(&mut time).collect();
    let all: f64 = times.iter().sum();
    let mut counts = [0_u64; SHARES.len()];
    for _ in 0..(SAMPLES * all / 100.0 + uniform(random)) as u64 {
        let mut at = uniform(random) * all;
        let function = times.iter().position(|time| {
            at -= time;
            at < 0.0
        });
        counts[function.unwrap_or(0)] += 1;
    }
    let names: Vec<String> = (0..SHARES.len()).map(|index| format!("main;f{index}")).collect();
    let seen = names.iter().zip(counts).filter(|&(_, count)| count > 0);
    let stacks: Vec<(&str, u64, u64)> =
        seen.map(|(name, count)| (name.as_str(), count, count * PERIOD)).collect();
    run("a run", profile(&stacks), 1)
}

/// The functions with marks, in each of many comparisons.
fn marked(runs: usize, noise: (f64, Varies), grown: f64) -> Vec<Vec<String>> {
    const COMPARISONS: usize = 600;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(runs as u64);
    let mut marks_of_one = |_| {
        let mut side =
            |grown| -> Vec<Run> { (0..runs).map(|_| sampled(&mut random, noise, grown)).collect() };
        let (base, scaled) = (side(1.0), side(grown));
        let comparison = compare(&base, &scaled, &Options::default()).unwrap();
        let marked =
            comparison.functions.iter().filter(|row| row.exclusive_uncertainty.above_noise);
        marked.map(|row| comparison.tree.function(row.function).name.clone()).collect()
    };
    (0..COMPARISONS).map(&mut marks_of_one).collect()
}

/// Where nothing differs but by chance, hardly more than one comparison in twenty says that it
/// does: on quiet hosts, on such as is assumed of those of which nothing is known, and, where
/// repeated runs show it, on bad ones. The bound leaves a little for what few runs cannot show.
#[test]
fn chance_is_seldom_taken_for_a_loss() {
    let hosts = [
        (1, 0.0),
        (1, 0.05),
        (2, 0.05),
        (2, 0.1),
        (3, 0.0),
        (3, 0.1),
        (3, 0.2),
        (3, 0.5),
        (6, 0.2),
    ];
    for (runs, noise) in hosts {
        for varies in [Varies::Everything, Varies::EachFunction] {
            let all = marked(runs, (noise, varies), 1.0);
            let wrong = all.iter().filter(|marks| !marks.is_empty()).count();
            let seen = format!("{runs} runs, {varies:?} by {noise}: {wrong} of {}", all.len());
            println!("{seen}");
            assert!(wrong * 100 <= all.len() * 7, "{seen}");
        }
    }
}

/// And what takes twice as long is found.
#[test]
fn a_loss_is_seldom_taken_for_chance() {
    for (runs, noise) in [(1, 0.0), (1, 0.05), (2, 0.05), (3, 0.1), (6, 0.2)] {
        for varies in [Varies::Everything, Varies::EachFunction] {
            let all = marked(runs, (noise, varies), 2.0);
            let found = all.iter().filter(|marks| marks.iter().any(|name| name == "f0")).count();
            let seen = format!("{runs} runs, {varies:?} by {noise}: {found} of {}", all.len());
            println!("{seen}");
            assert!(found * 10 >= all.len() * 9, "{seen}");
        }
    }
}
