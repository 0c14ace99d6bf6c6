//! What the paper on FinerLRU says of its two machines, as far as it holds on the simulated ones.

use kilocore_lab::lru::{
    Claims, Folios, Job, Pattern, Point, RunLength, Setting, Variant, claims, jobs, sweep,
};
use kilocore_machine::Description;
use kilocore_points::PointSource;

const KNL: &str = "knl-7210";
const XEON: &str = "xeon-gold-6338-1s";

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).expect("the machine is built in")
}

fn published(name: &str) -> Claims {
    claims(name).expect("the paper has the machine")
}

/// A curve with a point for each number of threads.
fn curve(
    name: &str,
    pattern: Pattern,
    variant: Variant,
    factor: u32,
    threads: &[u32],
) -> Vec<Point> {
    let machine = machine(name);
    let setting = Setting::of(&machine);
    let like = Job {
        setting: &setting,
        variant,
        factor,
        pattern,
        folios: Folios::PAGES,
        threads: 1,
        length: RunLength::default(),
    };
    let jobs = jobs(like, &[variant], &[factor], threads);
    sweep(PointSource::unkept(), &jobs, &machine, &|| ()).expect("the machine has the threads")
}

fn rates(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.throughput_mb_per_s).collect()
}

const WRITE: Pattern = Pattern::SeqWrite;

#[test]
fn the_stock_kernel_stands_where_it_was_calibrated() {
    let [few, some, more, many, all] =
        rates(&curve(KNL, WRITE, Variant::Stock, 1, &[16, 32, 64, 128, 256]))[..]
    else {
        panic!("five points")
    };
    assert!(some > 1.5 * few, "it grows up to 32: {few} {some}");
    let growth = more / some;
    assert!((0.97..1.2).contains(&growth), "and hardly from there to 64: {growth}");
    assert!(many < 0.8 * more && all < 0.6 * more, "then it falls: {more} {many} {all}");
}

#[test]
fn on_many_threads_the_stock_kernel_waits_for_its_lock() {
    for (name, all) in [(KNL, 256), (XEON, 64)] {
        let points = curve(name, WRITE, Variant::Stock, 1, &[1, all]);
        assert!(points[0].lock_wait_share < 0.05, "{points:?}");
        assert!(points[1].lock_wait_share > 0.9, "{points:?}");
    }
}

#[test]
fn the_improved_version_gains_what_was_published() {
    for (name, threads) in [(KNL, &[64, 128, 256][..]), (XEON, &[64])] {
        let Claims { factor, finer_over_stock: (low, high), finer_lock_wait_share, .. } =
            published(name);
        let stock = curve(name, WRITE, Variant::Stock, 1, threads);
        let finer = curve(name, WRITE, Variant::Finer, factor, threads);
        for (stock, finer) in stock.iter().zip(&finer) {
            let gain = finer.throughput_mb_per_s / stock.throughput_mb_per_s;
            // 'About twice' of one machine, and 70 to 140 per cent of the other.
            let allowed = if low == high { 0.8 * low..=1.2 * high } else { low..=high };
            assert!(allowed.contains(&gain), "{gain:.2}: {stock:?} {finer:?}");
            assert!(finer.lock_wait_share < finer_lock_wait_share, "{finer:?}");
        }
    }
}

#[test]
fn the_improved_version_is_above_the_first_one_with_its_best_factor() {
    let threads = [1, 8, 32, 64, 128, 256];
    let best = published(KNL).first_version_peaks_at.expect("the paper has it");
    let first = rates(&curve(KNL, WRITE, Variant::FinerV1, best, &threads));
    let improved = rates(&curve(KNL, WRITE, Variant::Finer, 256, &threads));
    for ((first, improved), threads) in first.iter().zip(&improved).zip(threads) {
        // Something else limits both from 128 threads on, so that little is left between them.
        assert!(*improved >= 0.999 * first, "{threads}: {first} {improved}");
    }
    assert!(improved[3] > 1.2 * first[3], "with 64 threads: {first:?} {improved:?}");
}

#[test]
fn with_few_stripes_a_sorted_batch_beats_the_papers_scheme_at_random_writes() {
    let random = |variant| rates(&curve(KNL, Pattern::RandWrite, variant, 8, &[64]))[0];
    let (paper, sorted) = (random(Variant::Finer), random(Variant::FinerSorted));
    assert!(sorted > 1.1 * paper, "{paper} {sorted}");
}

#[test]
fn reads_are_not_hurt() {
    for (name, all) in [(KNL, 256), (XEON, 64)] {
        let threads = [1, all / 4, all];
        let stock = rates(&curve(name, Pattern::Read, Variant::Stock, 1, &threads));
        let finer = rates(&curve(name, Pattern::Read, Variant::Finer, all, &threads));
        for (stock, finer) in stock.iter().zip(&finer) {
            assert!((finer / stock - 1.0).abs() < 0.03, "{stock} {finer}");
        }
    }
}

#[test]
fn points_come_in_the_order_of_the_jobs_and_are_the_same_again() {
    let machine = machine("opteron-6344-4s");
    let setting = Setting::of(&machine);
    let mut jobs = Vec::new();
    for pattern in Pattern::ALL {
        for variant in Variant::ALL {
            for threads in [13, 2] {
                let length = RunLength { warm_pages: 20, pages: 40, least: 0, seed: 1 };
                jobs.push(Job {
                    setting: &setting,
                    variant,
                    factor: 4,
                    pattern,
                    folios: Folios::PAGES,
                    threads,
                    length,
                });
            }
        }
    }
    let once = sweep(PointSource::unkept(), &jobs, &machine, &|| ()).unwrap();
    for (job, point) in jobs.iter().zip(&once) {
        assert_eq!((point.variant, point.threads), (job.variant.name(), job.threads));
        assert_eq!(point.factor, if job.variant.has_factor() { 4 } else { 1 });
        assert!(point.throughput_mb_per_s > 0.0, "{point:?}");
        assert!((0.0..=1.0).contains(&point.lock_wait_share), "{point:?}");
    }
    assert_eq!(once, sweep(PointSource::unkept(), &jobs, &machine, &|| ()).unwrap());
    for job in &mut jobs {
        job.length.seed = 2;
    }
    assert_ne!(once, sweep(PointSource::unkept(), &jobs, &machine, &|| ()).unwrap());
}

#[test]
fn what_cannot_be_simulated_is_refused_before_any_work() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let machine = machine(XEON);
    let setting = Setting::of(&machine);
    let length = RunLength { warm_pages: 1, pages: 1, least: 0, seed: 1 };
    let job = |factor, threads, pages| {
        let length = RunLength { pages, ..length };
        let (variant, pattern) = (Variant::Finer, WRITE);
        Job { setting: &setting, variant, factor, pattern, folios: Folios::PAGES, threads, length }
    };
    for (bad, part) in [
        (job(8, 65, 1), "65 (choose 1 to 64)"),
        (job(8, 0, 1), "choose 1 to 64"),
        (job(0, 1, 1), "0 stripes"),
        (job(65_537, 1, 1), "from 1 to 65536"),
        (job(8, 1, 1 << 21), "choose fewer"),
    ] {
        let done = AtomicU32::new(0);
        let count = || _ = done.fetch_add(1, Ordering::Relaxed);
        let error = sweep(PointSource::unkept(), &[job(8, 1, 1), bad], &machine, &count)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
        assert_eq!(done.into_inner(), 0, "{error}");
    }
}

/// The sweeps of `docs/evidence/lru.md`: the shapes hold with other seeds as well.
#[test]
#[ignore = "large sweeps, for `make soak`"]
fn the_shapes_do_not_depend_on_the_seed() {
    let machine = machine(KNL);
    let setting = Setting::of(&machine);
    let threads = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
    for seed in 1..=5 {
        let length = RunLength { seed, pages: 1000, ..RunLength::default() };
        let rates = |variant| {
            let job = |&threads: &u32| Job {
                setting: &setting,
                variant,
                factor: 256,
                pattern: WRITE,
                folios: Folios::PAGES,
                threads,
                length,
            };
            let jobs: Vec<Job<'_>> = threads.iter().map(job).collect();
            rates(&sweep(PointSource::unkept(), &jobs, &machine, &|| ()).unwrap())
        };
        let (stock, finer) = (rates(Variant::Stock), rates(Variant::Finer));
        let best = (0..threads.len()).max_by(|&a, &b| stock[a].total_cmp(&stock[b])).unwrap();
        assert!((32..=64).contains(&threads[best]), "{seed}: {stock:?}");
        for place in threads.iter().enumerate().filter(|(_, n)| **n >= 64).map(|(place, _)| place) {
            let gain = finer[place] / stock[place];
            assert!((1.7..=2.4).contains(&gain), "{seed}, {}: {gain}", threads[place]);
        }
    }
}
