//! What the paper on deferred updates claims of 120 cores holds on the simulated machine as well.

use kilocore_lab::ldu::{
    Job, Point, RATIOS, RunLength, SchemeId, Setting, TIMES, Workload, levels,
    lmbench_gain_by_times, published, sweep,
};
use kilocore_machine::Description;
use kilocore_points::PointSource;

/// Short: these schemes need not adapt.
const LENGTH: RunLength = RunLength {
    forks_per_core: 6,
    forks: 80,
    warm_us: 10_000.0,
    counted_us: 0.0,
    warm_forks: 300,
    seed: 1,
};

fn machine() -> Description {
    kilocore_machine::find("xeon-e7-8870v2-8s").expect("the machine is built in")
}

/// A point for each scheme and number of cores, with updates only.
fn points(setting: &Setting, which: &[(SchemeId, u32)]) -> Vec<Point> {
    let job =
        |&(scheme, cores)| Job { setting, scheme, cores, updates_percent: 100.0, length: LENGTH };
    let jobs: Vec<Job<'_>> = which.iter().map(job).collect();
    sweep(PointSource::unkept(), &jobs, &machine(), &|| ()).expect("the machine has 120 cores")
}

/// By how much a simulated gain may differ from the published one, either way. Above it as below
/// something is wrong, with the model or with the account of it in `docs/evidence/ldu.md`.
const GAIN_WITHIN: f64 = 2.0;

#[test]
fn on_all_cores_a_deferred_log_gains_what_was_published_within_a_factor_of_two() {
    use SchemeId::{LduGlobal, Stock};
    for workload in Workload::ALL {
        let setting = Setting::of(workload);
        let points = points(&setting, &[(Stock, 120), (LduGlobal, 120)]);
        let [stock, log] = &points[..] else { panic!("two jobs, two points") };
        let gain = log.throughput_per_s / stock.throughput_per_s;
        // The paper has three figures for lmbench, 2.2 to 3.8.
        let low = published(workload).best_over_stock;
        let high = if workload == Workload::LmbenchFork { lmbench_gain_by_times() } else { low };
        let allowed = low / GAIN_WITHIN..=high * GAIN_WITHIN;
        assert!(
            allowed.contains(&gain),
            "{workload}: {gain:.2}, published {low} to {high}: {points:?}"
        );
    }
}

#[test]
fn the_stock_kernel_stands_at_the_levels_that_it_was_calibrated_on() {
    // One model for all cores does not meet every level; `docs/evidence/ldu.md` says which it misses and why.
    for (workload, within) in [(Workload::Aim7, 1.25), (Workload::Exim, 1.6)] {
        let setting = Setting::of(workload);
        let levels = levels(workload);
        let which = levels.map(|level| (SchemeId::Stock, level.cores));
        for (point, level) in points(&setting, &which).iter().zip(levels) {
            let off = point.throughput_per_s / level.per_s.expect("known of these two");
            let allowed = 1.0 / within..=within;
            assert!(allowed.contains(&off), "{workload}: {off:.2} times {level:?}");
        }
    }
}

#[test]
fn lmbench_is_fastest_on_some_fifteen_cores_and_then_slows_down() {
    let setting = Setting::of(Workload::LmbenchFork);
    let which = [1, 15, 120].map(|cores| (SchemeId::Stock, cores));
    let points = points(&setting, &which);
    let [one, few, all] = &points[..] else { panic!("three jobs, three points") };
    assert!(few.throughput_per_s > 5.0 * one.throughput_per_s, "it scales first: {points:?}");
    // 'Goes up slightly after that': the time of a fork, which is one over this.
    let slower = few.throughput_per_s / all.throughput_per_s;
    assert!((1.0..2.0).contains(&slower), "{slower:.2} times as slow: {points:?}");
    assert!(all.idle > 0.6, "and sleeps, as in table 2.1: {points:?}");
}

#[test]
fn points_come_in_the_order_of_the_jobs_and_are_the_same_again() {
    let setting = Setting::of(Workload::Exim);
    let which: Vec<(SchemeId, u32)> =
        [7, 2].iter().flat_map(|&cores| SchemeId::ALL.iter().map(move |&s| (s, cores))).collect();
    let once = points(&setting, &which);
    let names: Vec<(&str, u32)> = once.iter().map(|point| (point.scheme, point.cores)).collect();
    let wanted: Vec<(&str, u32)> = which.iter().map(|&(s, cores)| (s.name(), cores)).collect();
    assert_eq!(names, wanted);
    assert_eq!(once, points(&setting, &which));
    assert!(once.iter().all(|point| point.throughput_per_s > 0.0), "{once:?}");
}

#[test]
fn another_seed_gives_other_points() {
    let setting = Setting::of(Workload::LmbenchFork);
    let job = |seed| Job {
        setting: &setting,
        scheme: SchemeId::LduGlobal,
        cores: 4,
        updates_percent: 80.0,
        length: RunLength { seed, ..LENGTH },
    };
    let points =
        sweep(PointSource::unkept(), &[job(1), job(2), job(1)], &machine(), &|| ()).unwrap();
    assert_ne!(points[0], points[1]);
    assert_eq!(points[0], points[2]);
}

#[test]
fn what_cannot_be_simulated_is_refused_before_any_work() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let setting = Setting::of(Workload::Aim7);
    let job = |cores, updates_percent| {
        let scheme = SchemeId::Stock;
        Job { setting: &setting, scheme, cores, updates_percent, length: LENGTH }
    };
    for (bad, part) in [
        (job(121, 100.0), "121"),
        (job(0, 100.0), "choose 1 to 120"),
        (job(1, 0.0), "more than 0"),
        (job(1, 100.5), "at most 100"),
        (job(1, f64::NAN), "more than 0"),
    ] {
        let done = AtomicU32::new(0);
        let count = || _ = done.fetch_add(1, Ordering::Relaxed);
        let error = sweep(PointSource::unkept(), &[job(1, 100.0), bad], &machine(), &count)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
        assert_eq!(done.into_inner(), 0, "{error}");
    }
}

#[test]
fn the_published_figures_agree_with_each_other() {
    for workload in Workload::ALL {
        // The idle percentages printed in table 2.1 are those of its seconds, to rounding.
        let times: Vec<_> = TIMES.iter().filter(|times| times.workload == workload).collect();
        assert_eq!(times.len(), 4, "{workload}: stock, list and two logs");
        let idle = |scheme| {
            let line = times.iter().find(|times| times.scheme == scheme).expect("a line for each");
            line.shares()[2]
        };
        for times in &times {
            assert!(times.scheme.parse::<SchemeId>().is_ok(), "{times:?}");
            let [user, sys, idle] = times.shares();
            assert!((user + sys + idle - 1.0).abs() < 1e-9);
            assert!((100.0 * idle - times.idle_percent).abs() < 0.6, "{times:?}");
        }
        assert!(["harris-unordered", "ldu-global", "ldu-per-core"].map(idle) < [idle("stock"); 3]);
        // Figure 2.11: the log is ahead of the stock kernel from the published share on, and
        // behind it below.
        let ratio = RATIOS.iter().find(|ratio| ratio.workload == workload).expect("one for each");
        let (below, above) = published(workload).break_even;
        for (updates, over_stock) in ratio.over_stock() {
            assert!(updates < above || over_stock >= 1.0, "{workload}: {updates} %");
            assert!(updates > below || over_stock <= 1.0, "{workload}: {updates} %");
        }
    }
}
