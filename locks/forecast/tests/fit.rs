//! Workloads that are known, simulated, and found again.

use kilocore_forecast::fit::{
    Atlas, Estimate, Measurement, Measurements, Named, Outlook, Refusal, Wanted, fit,
};
use kilocore_forecast::{Duration, Extent, RunSize, Workload, simulate};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;

/// Another seed than that of the fit.
const SEED: u64 = 77;
const GIVEN: [LockId; 3] = [LockId::Ticket, LockId::Mcs, LockId::Futex];

fn machine() -> Description {
    kilocore_machine::find("opteron-6344-4s").expect("it is built in")
}

/// What a profile might say, of a program whose operations take some microseconds.
fn profiled() -> Workload {
    Workload::single_lock(Duration::Exponential(20_000.0), Duration::Exponential(1_000.0), 2.0)
}

/// The program on the target: slower than profiled, by a factor that the fit does not try.
fn planted() -> Workload {
    profiled().stretched(1.5)
}

/// What the planted program does, in thousands a second.
fn throughput(lock: LockId, cores: u32) -> f64 {
    let size = RunSize { sections: 6_000, seed: SEED, ..RunSize::default() };
    simulate(&planted(), lock, &machine(), cores, size).unwrap().throughput_per_s / 1000.0
}

fn measurements(cores: &[u32]) -> Measurements {
    let point = |(lock, cores)| Measurement {
        lock,
        alias: None,
        cores,
        throughput: throughput(lock, cores),
    };
    let places = GIVEN.iter().flat_map(|&lock| cores.iter().map(move |&cores| (lock, cores)));
    Measurements { points: places.map(point).collect(), left_out: Vec::new() }
}

fn forecast(wanted: &[(LockId, u32)]) -> Vec<Estimate> {
    let machine = machine();
    let atlas = Atlas::for_workload(PointSource::unkept(), &machine, 1, &profiled());
    let found = fit(&atlas, &measurements(&[6, 12, 24]), &|_, _| {}).unwrap();
    found.forecast(&atlas, wanted, &|_, _| {}).unwrap()
}

#[test]
fn a_planted_workload_is_forecast_under_other_locks_and_on_more_cores() {
    let wanted = [
        (LockId::Ticket, 48),
        (LockId::Mcs, 48),
        (LockId::Futex, 48),
        (LockId::Clh, 48),
        (LockId::Tas, 24),
        (LockId::Hmcs, 48),
        (LockId::CBoMcs, 36),
    ];
    let mut outside = Vec::new();
    for (place, estimate) in wanted.iter().zip(forecast(&wanted)) {
        let truth = throughput(place.0, place.1);
        if truth < estimate.low || estimate.high < truth {
            outside.push(place);
        }
        assert!(
            (estimate.throughput / truth - 1.0).abs() < 0.3,
            "{place:?}: {truth}: {estimate:?}"
        );
    }
    // A band is to hold nine times of ten, so one of seven locks may lie outside its own. Here
    // c-bo-mcs lies close to an end. Its waiters step back by chance, which the place of their nodes
    // on the stack seeds, so that the compiler decides on which side of that end it falls.
    assert!(outside.len() <= 1, "{outside:?}");
}

#[test]
fn the_same_measurements_give_the_same_forecast() {
    let wanted = [(LockId::Cna, 48), (LockId::Malthusian, 12)];
    assert_eq!(forecast(&wanted), forecast(&wanted));
}

#[test]
fn given_points_are_forecast_as_measured() {
    let wanted = [(LockId::Ticket, 12), (LockId::Futex, 24)];
    for (place, estimate) in wanted.iter().zip(forecast(&wanted)) {
        let truth = throughput(place.0, place.1);
        assert!((estimate.throughput / truth - 1.0).abs() < 0.05, "{place:?}: {estimate:?}");
    }
}

#[test]
fn what_is_read_off_lies_where_it_would_be_simulated() {
    let machine = machine();
    let cores = [1, 2, 4, 6, 12, 18, 24, 30, 36, 42, 48];
    let locks = [LockId::Ticket, LockId::Mcs, LockId::Cna, LockId::McsTp].map(|lock| (lock, None));
    let given = measurements(&[6, 24]);
    let outlook = |extent| {
        let atlas =
            Atlas::for_workload(PointSource::unkept(), &machine, 1, &profiled()).for_extent(extent);
        let found = fit(&atlas, &given, &|_, _| {}).unwrap();
        let curves = Named::curves(&locks, &given);
        let wanted = Wanted { curves: &curves, cores: &cores };
        Outlook::new(&found, &atlas, &given, wanted, &|_, _| {}).unwrap()
    };
    let (all, needed) = (outlook(Extent::Every), outlook(Extent::Needed));
    assert!(all.points.iter().all(|point| !point.interpolated));
    assert_eq!(needed.recommendation.lock, all.recommendation.lock);
    let mut read_off = 0;
    for (point, simulated) in needed.points.iter().zip(&all.points) {
        assert_eq!((point.lock, point.cores), (simulated.lock, simulated.cores));
        read_off += usize::from(point.interpolated);
        let half = (simulated.high / simulated.low).ln() / 2.0;
        let off = (point.throughput / simulated.throughput).ln().abs();
        assert!(off < 0.3 * half, "{point:?} for {simulated:?}");
    }
    assert!(read_off >= 4, "{read_off} of {}", needed.points.len());
}

#[test]
fn two_points_are_too_few() {
    let machine = machine();
    let atlas = Atlas::for_workload(PointSource::unkept(), &machine, 1, &profiled());
    let mut two = measurements(&[6]);
    two.points.pop();
    let refusal = fit(&atlas, &two, &|_, _| {}).unwrap_err();
    assert!(matches!(refusal, Refusal::TooFew(2)), "{refusal}");
    assert!(refusal.to_string().contains("at least 3"), "{refusal}");
}

#[test]
fn measurements_of_no_program_are_refused() {
    let machine = machine();
    let atlas = Atlas::for_workload(PointSource::unkept(), &machine, 1, &profiled());
    let mut wild = measurements(&[6, 12]);
    for (point, factor) in wild.points.iter_mut().zip([1.0, 1e6, 1e-6, 1e4, 1.0, 1e-5]) {
        point.throughput *= factor;
    }
    let refusal = fit(&atlas, &wild, &|_, _| {}).unwrap_err();
    assert!(matches!(refusal, Refusal::Unexplained(_)), "{refusal}");
}

#[test]
fn what_the_measurements_say_of_the_workload_is_told() {
    let machine = machine();
    let atlas = Atlas::for_workload(PointSource::unkept(), &machine, 1, &profiled());
    let found = fit(&atlas, &measurements(&[6, 12, 24]), &|_, _| {}).unwrap();
    let pinned = found.pinned(&atlas);
    let share = pinned.iter().find(|p| p.parameter.starts_with("share of time in")).unwrap();
    assert!(share.median > 0.5 && share.left < 0.8, "{share:?}");
    let weights: f64 = found.plausible(&atlas).iter().map(|p| p.weight).sum();
    assert!((weights - 1.0).abs() < 1e-9, "{weights}");
    assert!(found.residual() < 0.2, "{}", found.residual());
}
