//! The lock experiment, small.

use kilocore_machine::Description;
use kilocore_sched_experiments::locks::{
    Job, KERNBENCH, KernelLock, LOADS, Load, LocksError, MMAPBENCH, Point, RunLength, SOCKBENCH,
    best_static, jain, load_named, simulate, sweep, with_speedups,
};
use kilocore_sched_policy::PolicyName;
use kilocore_sim::SimError;

fn opteron() -> Description {
    kilocore_machine::find("opteron-8356-8s").unwrap()
}

fn job(load: Load, lock: KernelLock, policy: PolicyName, cores: u32) -> Job {
    let length = RunLength { windows: 10, ..RunLength::default() };
    Job { load, lock, policy, cores, noise: 0, length }
}

fn point(load: Load, lock: KernelLock, policy: PolicyName, cores: u32) -> Point {
    simulate(&job(load, lock, policy, cores), &opteron()).unwrap()
}

fn throughput(load: Load, cores: u32) -> f64 {
    point(load, KernelLock::Spin, PolicyName::Fair, cores).throughput
}

#[test]
fn the_loads_that_collapse_do_under_the_spin_lock_and_the_other_one_does_not() {
    for load in LOADS {
        let (few, many) = (throughput(load, 8), throughput(load, 24));
        let ratio = many / few;
        assert_eq!(ratio < 0.6, load.collapses, "{}: {ratio}", load.name);
        assert_eq!(ratio > 2.9, !load.collapses, "{}: {ratio}", load.name);
        // On one core, an operation takes what is computed, and little more.
        let alone = throughput(load, 1) * load.computing().0 as f64 / 1e9;
        assert!((0.8..1.02).contains(&alone), "{}: {alone}", load.name);
    }
}

#[test]
fn figures_fit_each_other() {
    for (policy, lock) in
        [(PolicyName::Fair, KernelLock::Spin), (PolicyName::Confined(3), KernelLock::Mutex)]
    {
        let point = point(SOCKBENCH, lock, policy, 6);
        let seconds = 0.01;
        let operations = (point.throughput * seconds).round();
        assert!((point.throughput * seconds - operations).abs() < 1e-6, "{point:?}");
        assert!((point.joules - point.watts * seconds).abs() < 1e-9, "{point:?}");
        let each = point.joules_per_operation * operations;
        assert!((each - point.joules).abs() < 1e-9 * point.joules, "{point:?}");
        // The cores' energy is between all idle and all active.
        let power = opteron().power;
        let sockets = 2.0 * power.socket_w.value;
        assert!(point.watts >= sockets + 6.0 * power.idle_w.value, "{point:?}");
        assert!(point.watts <= sockets + 6.0 * power.active_w.value + 0.001, "{point:?}");
        assert!((1.0 / 6.0..=1.0).contains(&point.fairness), "{point:?}");
        assert!((0.0..=1.0).contains(&point.waiting), "{point:?}");
    }
}

#[test]
fn confined_processes_take_the_power_of_the_cores_that_they_have() {
    let two = point(KERNBENCH, KernelLock::Spin, PolicyName::Confined(2), 8);
    let power = opteron().power;
    let expected =
        2.0 * power.socket_w.value + 2.0 * power.active_w.value + 6.0 * power.idle_w.value;
    assert!((two.watts / expected - 1.0).abs() < 0.01, "{} {expected}", two.watts);
    assert_eq!(two.k, Some(2));
    let throughput = throughput(KERNBENCH, 2);
    assert!((two.throughput / throughput - 1.0).abs() < 0.05, "{} {throughput}", two.throughput);
}

#[test]
fn a_point_is_the_same_every_time() {
    let mut noisy = job(MMAPBENCH, KernelLock::Adaptive, PolicyName::LockAware, 6);
    noisy.noise = 20;
    noisy.length.warm_up = Some(20);
    let jobs = [noisy, job(SOCKBENCH, KernelLock::Requester, PolicyName::Malthusian, 5)];
    let points = sweep(&jobs, &opteron(), &|| ()).unwrap();
    for (job, point) in jobs.iter().zip(&points) {
        assert_eq!(&simulate(job, &opteron()).unwrap(), point);
    }
    noisy.length.seed = 2;
    assert_ne!(simulate(&noisy, &opteron()).unwrap(), points[0]);
}

#[test]
fn the_lock_aware_policy_finds_nearly_the_best_fixed_number_of_cores() {
    let aware = point(MMAPBENCH, KernelLock::Spin, PolicyName::LockAware, 16);
    let fixed: Vec<Job> =
        (5..=12).map(|k| job(MMAPBENCH, KernelLock::Spin, PolicyName::Confined(k), 16)).collect();
    let points = sweep(&fixed, &opteron(), &|| ()).unwrap();
    let best = best_static(&points, &aware).unwrap();
    assert!(aware.k.unwrap().abs_diff(best.k) <= 1, "{aware:?} {best:?}");
    assert!(aware.throughput > 0.9 * best.point.throughput, "{aware:?} {best:?}");
    assert!(aware.throughput > 1.2 * throughput(MMAPBENCH, 16), "{aware:?}");
    assert!(aware.found_after.is_some());
}

#[test]
fn a_load_that_does_not_fight_is_left_alone() {
    let aware = point(KERNBENCH, KernelLock::Spin, PolicyName::LockAware, 8);
    assert_eq!((aware.k, aware.found_after), (None, None));
}

#[test]
fn speedups_are_over_one_core_with_the_spin_lock() {
    let jobs: Vec<Job> = [(KernelLock::Spin, 1), (KernelLock::Spin, 4), (KernelLock::Mutex, 4)]
        .into_iter()
        .map(|(lock, cores)| job(KERNBENCH, lock, PolicyName::Fair, cores))
        .collect();
    let mut points = sweep(&jobs, &opteron(), &|| ()).unwrap();
    points.push(point(MMAPBENCH, KernelLock::Spin, PolicyName::Fair, 2));
    with_speedups(&mut points);
    assert_eq!(points[0].speedup, Some(1.0));
    for point in &points[1..3] {
        assert_eq!(point.speedup, Some(point.throughput / points[0].throughput));
    }
    assert_eq!(points[3].speedup, None);
}

#[test]
fn jains_index_is_one_for_equals_and_one_over_n_for_one_who_has_all() {
    assert_eq!(jain(&[7, 7, 7]), 1.0);
    assert_eq!(jain(&[0, 0, 9, 0]), 0.25);
    assert_eq!(jain(&[1, 3]), 0.8);
    assert_eq!(jain(&[]), 1.0);
    assert_eq!(jain(&[0, 0]), 1.0);
}

#[test]
fn what_cannot_be_simulated_is_an_error() {
    let error = simulate(&job(MMAPBENCH, KernelLock::Spin, PolicyName::Fair, 33), &opteron());
    assert!(matches!(error, Err(LocksError::Simulation(SimError::Cores { .. }))), "{error:?}");
    let mut none = job(MMAPBENCH, KernelLock::Spin, PolicyName::Fair, 2);
    none.length.windows = 0;
    assert!(matches!(simulate(&none, &opteron()), Err(LocksError::Windows)));
    assert!(load_named("nothing").unwrap_err().contains("parallel-find"));
    assert!("nothing".parse::<KernelLock>().is_err());
    for lock in KernelLock::ALL {
        assert_eq!(lock.name().parse(), Ok(lock));
    }
}
