//! The lock experiment, small.

use kilocore_lab::sched::locks::{
    Choice, Job, KERNBENCH, KernelLock, LOADS, Load, LocksError, MMAPBENCH, Plan, Point, RunLength,
    SOCKBENCH, jain, load_named, simulate,
};
use kilocore_machine::Description;
use kilocore_points::PointSource;
use kilocore_sched_policy::{LockAwareOptions, PolicyName};
use kilocore_sim::SimError;

fn opteron() -> Description {
    kilocore_machine::find("opteron-8356-8s").unwrap()
}

fn job(load: Load, lock: KernelLock, policy: PolicyName, cores: u32) -> Job {
    let length = RunLength { windows: 10, ..RunLength::default() };
    Job { load, lock, policy, lock_aware: LockAwareOptions::default(), cores, noise: 0, length }
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
    let other = job(SOCKBENCH, KernelLock::Requester, PolicyName::Malthusian, 5);
    for job in [noisy, other] {
        let once = simulate(&job, &opteron()).unwrap();
        assert_eq!(simulate(&job, &opteron()).unwrap(), once);
    }
    let once = simulate(&noisy, &opteron()).unwrap();
    noisy.length.seed = 2;
    assert_ne!(simulate(&noisy, &opteron()).unwrap(), once);
}

/// A plan of few windows.
fn plan(load: Load, locks: &[KernelLock], choices: &[Choice], cores: &[u32]) -> Plan {
    Plan {
        loads: vec![load],
        locks: locks.to_vec(),
        choices: choices.to_vec(),
        cores: cores.to_vec(),
        noise: 0,
        length: RunLength { windows: 10, ..RunLength::default() },
    }
}

#[test]
fn the_lock_aware_policy_finds_nearly_the_best_fixed_number_of_cores() {
    let choices = ["fair", "lock-aware", "best-static"].map(|name| name.parse::<Choice>().unwrap());
    let plan = plan(MMAPBENCH, &[KernelLock::Spin], &choices, &[16]);
    assert_eq!(plan.simulations(), 1 + 2 + 16);
    let points = plan.run(PointSource::unkept(), &opteron(), &|| ()).unwrap();
    let [fair, aware, best] = &points[..] else { panic!("{points:?}") };
    assert_eq!(best.policy, "best-static");
    assert!(aware.k.unwrap().abs_diff(best.k.unwrap()) <= 1, "{points:?}");
    assert!(aware.throughput > 0.9 * best.throughput, "{points:?}");
    assert!(aware.throughput > 1.2 * fair.throughput, "{points:?}");
    assert!(aware.found_after.is_some() && fair.k.is_none(), "{points:?}");
}

#[test]
fn a_load_that_does_not_fight_is_left_alone() {
    let aware = point(KERNBENCH, KernelLock::Spin, PolicyName::LockAware, 8);
    assert_eq!((aware.k, aware.found_after), (None, None));
}

#[test]
fn a_plan_has_its_points_in_order_and_speedups_over_one_core_with_the_spin_lock() {
    let locks = [KernelLock::Mutex, KernelLock::Spin];
    let plan = plan(KERNBENCH, &locks, &[Choice::Policy(PolicyName::Fair)], &[1, 3]);
    let points = plan.run(PointSource::unkept(), &opteron(), &|| ()).unwrap();
    let order: Vec<(KernelLock, u32)> =
        points.iter().map(|point| (point.lock, point.cores)).collect();
    let (spin, mutex) = (KernelLock::Spin, KernelLock::Mutex);
    assert_eq!(order, [(mutex, 1), (mutex, 3), (spin, 1), (spin, 3)]);
    assert_eq!(points[2].speedup, Some(1.0));
    for point in &points {
        assert_eq!(point.speedup, Some(point.throughput / points[2].throughput));
        assert_eq!(point.policy, "fair");
    }
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
    assert!("confined=0".parse::<Choice>().is_err());
    for lock in KernelLock::ALL {
        assert_eq!(lock.name().parse(), Ok(lock));
    }
}
