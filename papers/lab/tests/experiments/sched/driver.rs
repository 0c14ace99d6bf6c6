//! What policies are told, and what becomes of what they say.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_lab::sched::{Driver, Noise, Record, Span, machine_for_policies};
use kilocore_machine::Description;
use kilocore_platform::{Atomic, CpuId, Cycles, Nanos, Ordering, Padded, Platform, Wait};
use kilocore_sched_policy::{
    CpuSet, LockLabel, LockWait, Machine, Order, Policy, TaskId, TaskWindow, Window,
};
use kilocore_sim::{Options, Sim, SimU32, Simulation};

fn opteron() -> Description {
    kilocore_machine::find("opteron-8356-8s").unwrap()
}

/// Cycles of a time in microseconds at 2.3 GHz.
fn us(us: u64) -> Cycles {
    Cycles(us * 2300)
}

/// A policy that writes down what it is told, and gives the same order each time.
#[derive(Debug)]
struct Spy {
    seen: Rc<RefCell<Vec<Vec<TaskWindow>>>>,
    confine: Option<(TaskId, CpuSet)>,
}

impl Policy for Spy {
    fn name(&self) -> &'static str {
        "spy"
    }

    fn window(&mut self, _: &Machine, window: &Window<'_>) -> Vec<Order> {
        assert_eq!(window.length, Nanos(1_000_000));
        self.seen.borrow_mut().push(window.tasks.to_vec());
        let Some((task, cpus)) = &self.confine else { return Vec::new() };
        let of = window.tasks.iter().filter(|window| window.task == *task);
        of.map(|window| Order::confine(window, cpus)).collect()
    }
}

type Seen = Rc<RefCell<Vec<Vec<TaskWindow>>>>;

/// Runs bodies on a core each under a spy, in windows of a millisecond.
fn spy_on(
    bodies: Vec<Box<dyn FnOnce()>>,
    noise: Noise,
    confine: Option<(TaskId, CpuSet)>,
) -> (Seen, Rc<RefCell<Record>>) {
    let cores = bodies.len() as u32;
    let mut simulation = Simulation::new(&opteron(), Options { cores, seed: 1 }).unwrap();
    for body in bodies {
        simulation.spawn(body).unwrap();
    }
    let seen = Seen::default();
    let spy = Box::new(Spy { seen: Rc::clone(&seen), confine });
    let span = Span { warm_up: 1, windows: 2 };
    let driver = Driver::new(spy, &opteron(), cores, us(1000), span, noise);
    let record = driver.record();
    simulation.schedule_with(Box::new(driver));
    simulation.run().unwrap();
    (seen, record)
}

/// A holder, who computes, and a waiter, who spins from 500 µs until the holder is done at 3,200 µs.
fn holder_and_waiter() -> Vec<Box<dyn FnOnce()>> {
    let word = Rc::new(Padded(SimU32::new(0)));
    let theirs = Rc::clone(&word);
    let holder = move || {
        for _ in 0..3200 {
            Sim::work(us(1));
            Sim::catch_up();
        }
        word.store(1, Ordering::Release);
    };
    let waiter = move || {
        Sim::work(us(500));
        Sim::lock_wait_begins(LockLabel(5));
        Sim::wait_until(&**theirs, Wait::Spin, |value| value == 1);
        Sim::lock_acquired();
        Sim::work(us(5000));
        Sim::catch_up();
    };
    vec![Box::new(holder), Box::new(waiter)]
}

/// Each window's decision takes 1.5 µs of the first core, which delays the holder.
fn near(time: Nanos, expected: u64) -> bool {
    time.0.abs_diff(expected) < 6_000
}

#[test]
fn a_window_tells_what_happened_in_it_and_waits_under_way_count() {
    let (seen, record) = spy_on(holder_and_waiter(), Noise::new(0, 1), None);
    let seen = seen.borrow();
    let waits: Vec<Vec<LockWait>> =
        seen.iter().map(|tasks| tasks[tasks.len() - 1].locks.clone()).collect();
    let spun = |window: usize| waits[window].first().map_or(Nanos(0), |wait| wait.spun);
    assert!(near(spun(0), 500_000), "{waits:?}");
    assert!(near(spun(1), 1_000_000) && near(spun(2), 1_000_000), "{waits:?}");
    assert!(near(spun(3), 200_000), "{waits:?}");
    assert_eq!(waits[3][0].acquired, Some(1));
    assert_eq!((waits[2][0].acquired, waits[2][0].lock), (Some(0), LockLabel(5)));
    assert!(waits[4].is_empty(), "nothing to do with it any more: {waits:?}");
    for (window, tasks) in seen.iter().enumerate().take(3) {
        assert!(tasks.iter().all(|task| near(task.ran, 1_000_000)), "{window} {tasks:?}");
        assert!(tasks.iter().all(|task| task.ready == Nanos(0) && task.allowed.len() == 2));
    }
    let holder_is_gone = &seen[4];
    assert_eq!(holder_is_gone.len(), 1);
    // The second and the third window count, in which the waiter waits all the time, and that is half.
    let waiting = record.borrow().waiting();
    assert!((waiting - 0.5).abs() < 0.002, "{waiting}");
}

#[test]
fn noise_changes_figures_by_no_more_than_it_may() {
    let (exact, _) = spy_on(holder_and_waiter(), Noise::new(0, 1), None);
    let (noisy, _) = spy_on(holder_and_waiter(), Noise::new(20, 1), None);
    let ran = |seen: &Seen| -> Vec<f64> {
        seen.borrow().iter().flatten().map(|task| task.ran.0 as f64).collect()
    };
    let ratios: Vec<f64> =
        ran(&noisy).iter().zip(ran(&exact)).map(|(noisy, exact)| noisy / exact).collect();
    assert!(ratios.iter().all(|ratio| (0.799..1.201).contains(ratio)), "{ratios:?}");
    assert!(ratios.iter().any(|ratio| (ratio - 1.0).abs() > 0.05), "{ratios:?}");
    let (again, _) = spy_on(holder_and_waiter(), Noise::new(20, 1), None);
    assert_eq!(*noisy.borrow(), *again.borrow());
    let (other, _) = spy_on(holder_and_waiter(), Noise::new(20, 2), None);
    assert_ne!(*noisy.borrow(), *other.borrow());
}

#[test]
fn an_order_moves_the_task() {
    let only: CpuSet = std::iter::once(CpuId(0)).collect();
    let (seen, record) = spy_on(holder_and_waiter(), Noise::new(0, 1), Some((TaskId(1), only)));
    let seen = seen.borrow();
    assert_eq!(seen[0][1].cpu, CpuId(1));
    assert_eq!(seen[1][1].cpu, CpuId(0));
    // Both want the one core now.
    let both = Nanos(seen[1].iter().map(|task| task.ran.0).sum());
    let ready = Nanos(seen[1].iter().map(|task| task.ready.0).sum());
    assert!(near(both, 1_000_000) && near(ready, 1_000_000), "{seen:?}");
    assert!(record.borrow().orders() > 0);
}

#[test]
fn policies_see_the_places_of_the_machine() {
    let machine = machine_for_policies(&opteron(), 9);
    assert_eq!(machine.cores(), 9);
    let nodes: Vec<u32> = (0..9).map(|cpu| machine.topology(CpuId(cpu)).unwrap().node.0).collect();
    assert_eq!(nodes, [0, 0, 0, 0, 1, 1, 1, 1, 2]);
    let caches: Vec<u32> =
        (0..9).map(|cpu| machine.topology(CpuId(cpu)).unwrap().cache.0).collect();
    assert_eq!(caches, nodes);
    let threads = kilocore_machine::find("xeon-gold-6338-1s").unwrap();
    let machine = machine_for_policies(&threads, 64);
    assert_eq!(machine.topology(CpuId(31)).unwrap().thread, 0);
    assert_eq!(machine.topology(CpuId(32)).unwrap().thread, 1);
}
