//! The simulated machine behaves as machines do.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kilocore_machine::Description;
use kilocore_platform::{
    Atomic, AtomicInt, Cycles, Nanos, Ordering, Padded, Parked, Platform, SharedCell, Wait,
};
use kilocore_sim::{
    Activity, Options, Outcome, Sim, SimCell, SimError, SimU32, SimU64, Simulation,
};

fn opteron() -> Description {
    kilocore_machine::find("opteron-6344-4s").unwrap()
}

fn simulate(cores: u32, threads: u32, body: impl Fn(u32) + Clone + 'static) -> Outcome {
    let mut simulation = Simulation::new(&opteron(), Options { cores, seed: 1 }).unwrap();
    for thread in 0..threads {
        let body = body.clone();
        simulation.spawn(move || body(thread)).unwrap();
    }
    simulation.run().unwrap()
}

#[test]
fn a_line_that_one_core_uses_is_fetched_once() {
    let word = Rc::new(SimU64::new(0));
    let outcome = simulate(1, 1, move |_| {
        for _ in 0..1000 {
            word.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(outcome.lines[0].transfers, 1);
    let rmw = opteron().coherence.rmw_cycles.value as u64;
    let memory = (opteron().memory.local_ns.value * 2.6).round() as u64;
    assert_eq!(outcome.end, Cycles(1000 * rmw + memory));
}

#[test]
fn distance_costs_what_the_machine_file_says() {
    // Core 0 writes; the other core then reads that once: bare latency, nobody else asking.
    let latency = |reader: u32| {
        let word = Rc::new(Padded(SimU64::new(0)));
        let took = Rc::new(Cell::new(0));
        let seen = Rc::clone(&took);
        simulate(48, 48, move |thread| {
            if thread == 0 {
                word.store(1, Ordering::Release);
            } else if thread == reader {
                Sim::work(Cycles(100_000));
                let before = Sim::now();
                word.load(Ordering::Acquire);
                seen.set(Sim::now().since(before).0);
            }
        });
        took.get()
    };
    let machine = opteron();
    let cycles = |ns: f64| (ns * 2.6).round() as u64 + machine.caches.hit_cycles.value as u64;
    assert_eq!(latency(1), cycles(machine.latency.same_group_ns.value));
    assert_eq!(latency(2), cycles(machine.latency.same_node_ns.value));
    assert_eq!(latency(6), cycles(machine.latency.same_socket_ns.value));
    assert_eq!(latency(12), cycles(machine.latency.other_socket_ns.value));
    let two_hops = machine.latency.other_socket_ns.value + machine.latency.per_hop_ns.value;
    assert_eq!(latency(18), cycles(two_hops));
}

#[test]
fn false_sharing_costs_and_padding_mends_it() {
    fn count<T: 'static>(words: Vec<T>, word: impl Fn(&T) -> &SimU64 + Copy + 'static) -> Cycles {
        let words = Rc::new(words);
        let body = move |thread: u32| {
            for _ in 0..500 {
                word(&words[thread as usize]).fetch_add(1, Ordering::Relaxed);
            }
        };
        simulate(8, 8, body).end
    }
    let apart: Vec<_> = (0..8).map(|_| Padded(SimU64::new(0))).collect();
    // Eight words of one line, wherever the allocator starts.
    #[repr(align(64))]
    struct Line([SimU64; 8]);
    let together = Rc::new(Line(std::array::from_fn(|_| SimU64::new(0))));
    let together: Vec<_> = (0..8).map(|index| (Rc::clone(&together), index)).collect();
    let apart = count(apart, |word| word);
    let together = count(together, |(line, index)| &line.0[*index]);
    assert!(together.0 > 5 * apart.0, "{together:?} {apart:?}");
}

#[test]
fn data_larger_than_a_cache_is_fetched_again() {
    let sweep = |kib: usize| {
        let lines = Rc::new((0..kib * 16).map(|_| SimU64::new(0)).collect::<Vec<_>>());
        // 8 words make a line; the vector is page-aligned enough for whole lines to count.
        let outcome = simulate(1, 1, move |_| {
            for _ in 0..4 {
                for line in lines.iter().step_by(8) {
                    line.load(Ordering::Relaxed);
                }
            }
        });
        outcome.end.0 as f64 / outcome.operations as f64
    };
    let (small, large) = (sweep(256), sweep(64 * 1024));
    assert!(large > 1.9 * small, "{small} {large} cycles a load");
}

#[test]
fn waiters_wait_on_their_core_and_see_the_write() {
    let flag = Rc::new(SimU32::new(0));
    let outcome = simulate(2, 2, move |thread| {
        if thread == 0 {
            Sim::work(Cycles(50_000));
            flag.store(1, Ordering::Release);
        } else {
            assert_eq!(Sim::wait_until(&*flag, Wait::Spin, |value| value == 1), 1);
            assert!(Sim::now() >= Cycles(50_000));
        }
    });
    let spun = outcome.tasks[1].of(Activity::Spinning).0;
    assert!((49_000..52_000).contains(&spun), "{spun}");
    assert!(outcome.operations < 10, "waiting is not simulated turn by turn");
}

#[test]
fn a_low_power_wait_takes_longer_to_leave_and_less_energy() {
    let wait = |how: Wait| {
        let flag = Rc::new(SimU32::new(0));
        simulate(2, 2, move |thread| {
            if thread == 0 {
                Sim::work(Cycles(500_000));
                flag.store(1, Ordering::Release);
            } else {
                Sim::wait_until(&*flag, how, |value| value == 1);
            }
        })
    };
    let (spin, rest) = (wait(Wait::Spin), wait(Wait::LowPower));
    assert!(rest.end > spin.end);
    let power = opteron().power;
    assert!(rest.energy_joules(&power) < spin.energy_joules(&power));
}

#[test]
fn threads_share_a_core_by_time_slices() {
    let outcome = simulate(1, 4, |_| {
        let flag = Box::new(SimU32::new(0));
        // Ten slices of work each, in steps in which the thread can lose its core.
        for _ in 0..1000 {
            Sim::work(Cycles(104_000));
            flag.store(1, Ordering::Relaxed);
        }
    });
    let work = 4 * 1000 * 104_000;
    assert!(outcome.end.0 > work && outcome.end.0 < work + work / 50, "{:?}", outcome.end);
    let switches: u64 = outcome.tasks.iter().map(|t| t.of(Activity::System).0).sum();
    let one = (opteron().os.context_switch_ns.value * 2.6) as u64;
    assert!((36..=44).contains(&(switches / one)), "{}", switches / one);
}

#[test]
fn a_waiter_offers_its_core_to_the_one_it_waits_for() {
    // Both on one core: the waiter spins for a while before the other can write.
    let flag = Rc::new(SimU32::new(0));
    let outcome = simulate(1, 2, move |thread| {
        if thread == 0 {
            Sim::wait_until(&*flag, Wait::Spin, |value| value == 1);
        } else {
            flag.store(1, Ordering::Release);
        }
    });
    let patience = 4096 * opteron().coherence.pause_cycles.value as u64;
    let spun = outcome.tasks[0].of(Activity::Spinning).0;
    assert!((patience..patience + 1000).contains(&spun), "{spun} of {patience}");
}

#[test]
fn idle_cores_take_work_from_long_queues() {
    // Six threads on two cores; those of core 0 end at once, so it takes over from core 1.
    let outcome = simulate(2, 6, |thread| {
        if thread % 2 == 1 {
            let flag = Box::new(SimU32::new(0));
            for _ in 0..100 {
                Sim::work(Cycles(1_000_000));
                flag.store(1, Ordering::Relaxed);
            }
        }
    });
    assert!(outcome.end.0 < 220_000_000, "{:?}", outcome.end);
}

#[test]
fn parking_is_not_missed_and_costs_the_wake_up() {
    let word = Rc::new(SimU32::new(0));
    let woken = Rc::new(Cell::new(0));
    let at = Rc::clone(&woken);
    let outcome = simulate(2, 2, move |thread| {
        if thread == 0 {
            assert_eq!(Sim::park(&word, 0, None), Parked::Woken);
            at.set(Sim::now().0);
            assert_eq!(Sim::park(&word, 0, None), Parked::Changed);
        } else {
            Sim::work(Cycles(100_000));
            word.store(1, Ordering::Release);
            assert_eq!(Sim::unpark(&*word, 8), 1);
        }
    });
    let latency = (opteron().os.wake_latency_ns.value * 2.6) as u64;
    assert!(woken.get() > 100_000 + latency);
    let slept = outcome.end.0 - outcome.tasks[0].total().0;
    assert!(slept > 90_000, "asleep, a core is idle: {slept}");
}

#[test]
fn parking_times_out() {
    let word = Rc::new(SimU32::new(0));
    simulate(1, 1, move |_| {
        let before = Sim::now();
        assert_eq!(Sim::park(&word, 0, Some(Nanos(100_000))), Parked::TimedOut);
        assert!(Sim::now().since(before) >= Cycles(260_000));
        // Nobody is left to be woken.
        assert_eq!(Sim::unpark(&*word, 1), 0);
    });
}

#[test]
fn one_whose_time_is_up_but_has_no_core_yet_is_woken_once() {
    let word = Rc::new(SimU32::new(0));
    let ends = Rc::new(Cell::new(0));
    let ended = Rc::clone(&ends);
    simulate(1, 2, move |thread| {
        if thread == 0 {
            assert_eq!(Sim::park(&word, 0, Some(Nanos(1_000))), Parked::Woken);
        } else {
            // Past the other one's time, but too short for it to get the core.
            Sim::work(Cycles(10_000));
            assert_eq!(Sim::unpark(&*word, 1), 1);
            assert_eq!(Sim::unpark(&*word, 1), 0);
        }
        ended.set(ended.get() + 1);
    });
    assert_eq!(ends.get(), 2);
}

#[test]
fn a_lost_wake_up_is_reported_as_a_deadlock() {
    let mut simulation = Simulation::new(&opteron(), Options { cores: 2, seed: 1 }).unwrap();
    simulation.spawn(|| Sim::work(Cycles(10))).unwrap();
    simulation
        .spawn(|| {
            Sim::with_local(SimU32::new(0), |word| Sim::park(word, 0, None));
        })
        .unwrap();
    match simulation.run() {
        Err(SimError::Deadlock { tasks, .. }) => assert_eq!(tasks, [1]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sleeping_leaves_the_core_to_others() {
    let outcome = simulate(1, 2, |thread| {
        if thread == 0 {
            Sim::sleep(Cycles(10_000_000));
        } else {
            Sim::work(Cycles(9_000_000));
        }
    });
    assert!(outcome.end.0 < 10_100_000, "{:?}", outcome.end);
}

#[test]
fn cells_are_charged_for_each_line_that_they_cover() {
    let cell = Rc::new(Padded(SimCell::new([0u64; 32])));
    let outcome = simulate(2, 2, move |thread| {
        Sim::work(Cycles(100_000 * u64::from(thread)));
        // SAFETY: the second thread comes long after the first.
        cell.with_mut(|data| unsafe { (*data)[31] = 1 });
    });
    assert_eq!(outcome.lines.iter().filter(|line| line.transfers >= 2).count(), 4);
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_gives_another() {
    let run = |seed| {
        let mut simulation = Simulation::new(&opteron(), Options { cores: 48, seed }).unwrap();
        let word = Rc::new(Padded(SimU64::new(0)));
        let order = Rc::new(RefCell::new(Vec::new()));
        for thread in 0..48 {
            let (word, order) = (Rc::clone(&word), Rc::clone(&order));
            let body = move || {
                for _ in 0..20 {
                    word.fetch_add(1, Ordering::Relaxed);
                    order.borrow_mut().push(thread);
                }
            };
            simulation.spawn(body).unwrap();
        }
        (simulation.run().unwrap(), order.take())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).1, run(2).1);
}

#[test]
fn a_thousand_cores_run_and_no_more() {
    let mut machine = opteron();
    machine.topology.sockets = 16;
    machine.topology.groups_per_node = 16;
    machine.topology.hops = Vec::new();
    let word = Rc::new(Padded(SimU64::new(0)));
    let mut simulation = Simulation::new(&machine, Options { cores: 1024, seed: 1 }).unwrap();
    for _ in 0..1024 {
        let word = Rc::clone(&word);
        simulation.spawn(move || _ = word.fetch_add(1, Ordering::Relaxed)).unwrap();
    }
    simulation.run().unwrap();
    assert_eq!(word.load(Ordering::Relaxed), 1024);
    for cores in [0, 1025, 1_000_000_000] {
        assert!(Simulation::new(&machine, Options { cores, seed: 1 }).is_err());
    }
    assert!(Simulation::new(&opteron(), Options { cores: 49, seed: 1 }).is_err());
}

#[test]
fn hardware_threads_of_a_core_slow_each_other_down() {
    let machine = kilocore_machine::find("core-i7-6700").unwrap();
    let end = |cores| {
        let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
        for _ in 0..cores {
            // In steps: a thread looks at its siblings when it begins one.
            simulation.spawn(|| (0..1000).for_each(|_| Sim::work(Cycles(1000)))).unwrap();
        }
        simulation.run().unwrap().end.0 as f64
    };
    let (alone, shared) = (end(4), end(8));
    let stretch = 2.0 / machine.smt_throughput.value;
    assert!((shared / alone / stretch - 1.0).abs() < 0.02, "{alone} {shared}");
}

#[test]
fn a_core_with_some_of_its_threads_busy_is_slowed_in_part() {
    let machine = kilocore_machine::find("knl-7210").unwrap();
    let end = |cores, work: fn()| {
        let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
        for _ in 0..cores {
            simulation.spawn(move || (0..1000).for_each(|_| work())).unwrap();
        }
        simulation.run().unwrap().end.0 as f64
    };
    let alone = end(64, || Sim::work(Cycles(1000)));
    let all = 4.0 / machine.smt_throughput.value;
    for (cores, stretch) in [(128, 1.0 + (all - 1.0) / 3.0), (256, all)] {
        let shared = end(cores, || Sim::work(Cycles(1000)));
        assert!((shared / alone / stretch - 1.0).abs() < 0.02, "{cores}: {alone} {shared}");
        // What was paid for already is not paid for again.
        let more = end(cores, || Sim::slow_down(Cycles(1000)));
        assert!((more / alone / (stretch - 1.0) - 1.0).abs() < 0.02, "{cores}: {alone} {more}");
    }
}

#[test]
fn a_busy_line_does_not_hold_up_others_of_its_home() {
    // All cores but the last storm one line; the last uses another of the same home.
    let words = Rc::new([Padded(SimU64::new(0)), Padded(SimU64::new(0))]);
    let took = Rc::new(Cell::new(0));
    let seen = Rc::clone(&took);
    simulate(12, 12, move |thread| {
        if thread == 0 {
            words[1].store(1, Ordering::Relaxed); // its home is node 0, as that of the other
        }
        let before = Sim::now();
        for _ in 0..200 {
            words[usize::from(thread == 11)].fetch_add(1, Ordering::Relaxed);
        }
        if thread == 11 {
            seen.set(Sim::now().since(before).0);
        }
    });
    let rmw = opteron().coherence.rmw_cycles.value as u64;
    assert!(took.get() < 200 * rmw + 2000, "{}", took.get());
}

/// How long a thread that wakes after computing for `computed` and sleeping for `slept` waits for
/// the only core, which another thread uses all the time. In slices.
fn slices_until_the_core_is_had(computed: f64, slept: f64) -> f64 {
    let machine = opteron();
    let slice = machine.os.time_slice_us.value * 1000.0 * machine.clock_ghz.value;
    let piece = Cycles((slice / 100.0) as u64);
    let woken = Rc::new(Cell::new(0.0));
    let seen = Rc::clone(&woken);
    simulate(1, 2, move |thread| {
        let compute = |slices: f64| {
            (0..(slices * 100.0) as u64).for_each(|_| {
                Sim::work(piece);
                Sim::catch_up();
            })
        };
        if thread == 0 {
            return compute(40.0);
        }
        compute(computed);
        let asleep = Sim::now();
        Sim::sleep(Cycles((slept * slice) as u64));
        seen.set(Sim::now().since(asleep).0 as f64 / slice - slept);
    });
    woken.get()
}

#[test]
fn a_thread_that_slept_long_takes_the_core_at_once() {
    assert!(slices_until_the_core_is_had(2.0, 5.0) < 0.02);
}

#[test]
fn a_thread_that_slept_for_a_moment_waits_for_its_turn() {
    let waited = slices_until_the_core_is_had(2.0, 0.02);
    assert!((0.5..1.01).contains(&waited), "{waited}");
}
