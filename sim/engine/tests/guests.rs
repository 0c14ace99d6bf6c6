//! Tasks that threads of the host execute, beside fibers that do the same.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use kilocore_machine::{Description, Figure, OperatingSystem};
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering as Order, Parked, Platform};
use kilocore_sim::{
    Activity, Guest, GuestAccess, Guests, Newborn, Options, Outcome, Sim, SimError, Simulation,
};

const MACHINE: &str = "opteron-6344-4s";
/// An address of the program that guests stand for. Nothing is there.
const DATA: u64 = 0x7f00_0000_0000;
const LINE: u64 = 64;

/// Runs threads that each do `body`, with their number, and returns what the last one saw when it ended.
fn run(
    cores: u32,
    threads: u32,
    disorder: u64,
    body: impl Fn(&Guest, u64) + Send + Sync + 'static,
) -> Result<Outcome, SimError> {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    run_on(&machine, cores, threads, disorder, body)
}

/// The same on another machine.
fn run_on(
    machine: &Description,
    cores: u32,
    threads: u32,
    disorder: u64,
    body: impl Fn(&Guest, u64) + Send + Sync + 'static,
) -> Result<Outcome, SimError> {
    let options = Options { cores, seed: 1 };
    let guests = Guests::new(machine, options, Cycles(disorder)).expect("as many cores");
    let body = Arc::new(body);
    let last: Arc<Mutex<Option<Outcome>>> = Arc::default();
    let live = Arc::new(AtomicU32::new(threads));
    let run = {
        let (last, body) = (Arc::clone(&last), Arc::clone(&body));
        move |guest: Guest, index: u64| {
            body(&guest, index);
            guest.catch_up();
            if live.fetch_sub(1, Ordering::AcqRel) == 1 {
                *last.lock().expect("nobody panics") = guest.outcome();
            }
            guest.end(None, || {});
        }
    };
    let run = Arc::new(run);
    let first = {
        let (guests, run) = (guests.clone(), Arc::clone(&run));
        thread::spawn(move || {
            let guest = guests.begin();
            let start = |index: u64| {
                let newborn: Newborn = guest.fork();
                let run = Arc::clone(&run);
                thread::spawn(move || run(newborn.arrive(), index))
            };
            let others: Vec<_> = (1..u64::from(threads)).map(start).collect();
            run(guest, 0);
            others
        })
    };
    let others = first.join().expect("no panic");
    others.into_iter().for_each(|other| other.join().expect("no panic"));
    if let Some(failure) = guests.failure() {
        return Err(failure);
    }
    let last = last.lock().expect("nobody panics").take();
    Ok(last.expect("the last one has seen it"))
}

/// The same with fibers, which have words of their own.
fn fibers(cores: u32, threads: u32, body: impl Fn(u64) + Clone + 'static) -> Outcome {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).expect("it has");
    for index in 0..u64::from(threads) {
        let body = body.clone();
        simulation.spawn(move || body(index)).expect("there is memory");
    }
    simulation.run().expect("it ends")
}

/// Updates a word as one that executes an atomic instruction.
fn update(guest: &Guest, address: u64) {
    guest.begin_update();
    guest.refer(address, GuestAccess::Update);
}

#[test]
fn computing_takes_as_long_as_it_is_said_to() {
    let outcome = run(4, 4, 0, |guest, index| guest.compute(Cycles(1_000_000 * (index + 1))));
    let outcome = outcome.expect("it ends");
    let starts = Cycles(100_000);
    assert!(outcome.end >= Cycles(4_000_000) && outcome.end < Cycles(4_000_000) + starts);
    assert_eq!(outcome.tasks[2].of(Activity::Working), Cycles(3_000_000));
}

#[test]
fn a_counter_that_all_update_is_as_slow_as_that_of_fibers() {
    const ROUNDS: u64 = 2_000;
    for cores in [1, 2, 6, 24] {
        for think in [200, 20_000] {
            let guests = run(cores, cores, 2_000, move |guest, _| {
                for _ in 0..ROUNDS {
                    guest.compute(Cycles(think));
                    update(guest, DATA);
                }
            });
            let counter = std::rc::Rc::new(<Sim as Platform>::U64::new(0));
            let fibers = fibers(cores, cores, move |_| {
                for _ in 0..ROUNDS {
                    Sim::work(Cycles(think));
                    counter.fetch_add(1, Order::Relaxed);
                }
            });
            let ratio = guests.expect("it ends").end.0 as f64 / fibers.end.0 as f64;
            assert!((0.95..1.05).contains(&ratio), "{cores} cores, {think} cycles: {ratio}");
        }
    }
}

#[test]
fn one_that_updates_again_at_once_does_so_before_the_line_leaves() {
    const ROUNDS: u64 = 4_000;
    let think = Cycles(5);
    // One core of each of two nodes.
    let works = |index: u64| index.is_multiple_of(6);
    let hammered = |cores| {
        let outcome = run(cores, cores, 2_000, move |guest, index| {
            for _ in (0..ROUNDS).filter(|_| works(index)) {
                guest.compute(think);
                update(guest, DATA);
            }
        });
        outcome.expect("it ends").end.0 as f64
    };
    let counter = std::rc::Rc::new(<Sim as Platform>::U64::new(0));
    let fibers = fibers(7, 7, move |index| {
        for _ in (0..ROUNDS).filter(|_| works(index)) {
            Sim::work(think);
            counter.fetch_add(1, Order::Relaxed);
        }
    });
    // A quarter of the transfer has room for another update or two.
    let times = fibers.end.0 as f64 / hammered(7);
    assert!((1.5..4.0).contains(&times), "{times}");
    assert!(hammered(7) > 2.0 * hammered(1), "sharing costs still");
}

#[test]
fn a_core_keeps_a_line_as_long_as_the_machine_file_says() {
    const ROUNDS: u64 = 20_000;
    const TRANSFER_NS: f64 = 100.0;
    let mut machine = kilocore_machine::find(MACHINE).expect("built in");
    machine.latency.same_group_ns.value = TRANSFER_NS;
    let ns = |cycles: Cycles| cycles.0 as f64 / machine.clock_ghz.value;
    let hammered = |machine: &Description, cores| {
        let outcome = run_on(machine, cores, cores, 2_000, |guest, _| {
            (0..ROUNDS).for_each(|_| update(guest, DATA));
        });
        ns(outcome.expect("it ends").end) / ROUNDS as f64 / f64::from(cores)
    };
    let alone = hammered(&machine, 1);
    for held in [40.0, 60.0, 80.0] {
        machine.coherence.write_hold_ns =
            Some(Figure { value: held, source: None, estimated: None });
        // Each time that the line comes, it is updated until it leaves. The last update ends after that.
        let updates = held / alone;
        let seen = TRANSFER_NS / hammered(&machine, 2);
        assert!((updates - 0.1..updates + 1.0).contains(&seen), "{held} ns: {seen} for {updates}");
    }
}

#[test]
fn false_sharing_costs_and_lines_of_ones_own_do_not() {
    let stored = |apart: u64| {
        let outcome = run(8, 8, 1_000, move |guest, index| {
            for _ in 0..2_000 {
                guest.compute(Cycles(50));
                guest.refer(DATA + index * apart, GuestAccess::Store);
                if guest.now() >= guest.limit() {
                    guest.catch_up();
                }
            }
        });
        outcome.expect("it ends").end.0
    };
    // Stores wait together in their buffer, and one more is done before the line leaves.
    let (shared, own) = (stored(8), stored(LINE));
    assert!(shared > 3 * own, "{shared} {own}");
}

#[test]
fn the_filter_never_has_a_line_that_the_core_has_not() {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let options = Options { cores: 2, seed: 1 };
    let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
    let allows = |guests: &Guests, writes| {
        let filter = guests.filter().expect("a guest runs");
        // SAFETY: this thread is the guest that runs, and the machine lives.
        unsafe { &*filter }.allows(DATA, writes)
    };
    let steps = AtomicU32::new(0);
    let steps = &steps;
    thread::scope(|scope| {
        let guest = guests.begin();
        guest.refer(DATA, GuestAccess::Store);
        assert!(allows(&guests, true));
        let newborn = guest.fork();
        let other = guests.clone();
        scope.spawn(move || {
            let guest = newborn.arrive();
            assert!(!allows(&other, false));
            guest.refer(DATA, GuestAccess::Load);
            assert!(allows(&other, false) && !allows(&other, true));
            steps.store(1, Ordering::Release);
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
            assert!(!allows(&other, false), "the other one has written it");
            guest.change_address_space(Cycles(0), DATA, 4096);
            guest.end(None, || {});
        });
        guest.compute(Cycles(100_000));
        guest.catch_up();
        assert_eq!(steps.load(Ordering::Acquire), 1);
        assert!(allows(&guests, false) && !allows(&guests, true));
        guest.refer(DATA, GuestAccess::Store);
        assert!(allows(&guests, true));
        guest.compute(Cycles(10_000_000));
        guest.catch_up();
        assert!(!allows(&guests, false), "its page is gone");
        guest.end(None, || {});
    });
    assert!(guests.failure().is_none());
}

#[test]
fn a_futex_wakes_who_waits_and_the_time_is_up_for_who_waits_in_vain() {
    let word = Arc::new(AtomicU32::new(0));
    let outcome = run(2, 2, 1_000, move |guest, index| {
        if index == 0 {
            let timed_out = guest.futex_wait(DATA + LINE, || true, Some(Cycles(50_000)));
            assert_eq!(timed_out, Parked::TimedOut);
            let unchanged = || word.load(Ordering::Relaxed) == 0;
            assert_eq!(guest.futex_wait(DATA, unchanged, None), Parked::Woken);
            assert_eq!(guest.futex_wait(DATA, unchanged, None), Parked::Changed);
        } else {
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
            word.store(1, Ordering::Relaxed);
            assert_eq!(guest.futex_wake(DATA, u32::MAX), 1);
            assert_eq!(guest.futex_wake(DATA, u32::MAX), 0);
        }
    });
    let end = outcome.expect("it ends").end.0;
    assert!((1_000_000..1_200_000).contains(&end), "{end}");
}

#[test]
fn a_broadcast_moves_waiters_from_one_futex_to_another() {
    let outcome = run(4, 4, 1_000, |guest, index| {
        if index > 0 {
            assert_eq!(guest.futex_wait(DATA, || true, None), Parked::Woken);
            return;
        }
        guest.compute(Cycles(1_000_000));
        let requeued = guest.futex_requeue(DATA, 1, DATA + LINE, u32::MAX);
        assert_eq!((requeued.woken, requeued.moved), (1, 2));
        assert_eq!(guest.futex_wake(DATA, u32::MAX), 0);
        assert_eq!(guest.futex_wake(DATA + LINE, u32::MAX), 2);
    });
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn who_waits_for_ever_is_a_deadlock() {
    let outcome = run(2, 2, 1_000, |guest, index| {
        if index == 1 {
            guest.futex_wait(DATA, || true, None);
        }
    });
    assert!(matches!(outcome, Err(SimError::Deadlock { ref tasks, .. }) if *tasks == [1]));
}

#[test]
fn a_spinner_goes_on_when_its_line_is_written_and_when_its_patience_is_over() {
    let outcome = run(2, 2, 1_000, |guest, index| {
        if index == 0 {
            guest.refer(DATA, GuestAccess::Load);
            assert!(!guest.spin_on(DATA, Cycles(100_000)));
            assert!(guest.spin_on(DATA, Cycles(100_000_000)));
            let now = guest.now().0;
            assert!((1_000_000..1_100_000).contains(&now), "{now}");
        } else {
            guest.refer(DATA + LINE, GuestAccess::Store);
            guest.compute(Cycles(1_000_000));
            guest.refer(DATA, GuestAccess::Store);
        }
    });
    assert!(outcome.expect("it ends").tasks[0].of(Activity::Spinning) > Cycles(900_000));
}

#[test]
fn the_patience_of_a_wait_that_is_over_ends_no_later_one() {
    const NOBODYS: u64 = DATA + 4 * LINE;
    let outcome = run(2, 2, 1_000, |guest, index| {
        if index == 0 {
            guest.refer(DATA, GuestAccess::Load);
            assert!(guest.spin_on(DATA, Cycles(2_000_000)));
            guest.refer(NOBODYS, GuestAccess::Load);
            let since = guest.now();
            assert!(!guest.spin_on(NOBODYS, Cycles(5_000_000)), "nobody writes it");
            assert!(guest.now().since(since) >= Cycles(5_000_000));
        } else {
            guest.refer(DATA + LINE, GuestAccess::Store);
            guest.compute(Cycles(1_000_000));
            guest.refer(DATA, GuestAccess::Store);
        }
    });
    assert!(outcome.is_ok());
}

#[test]
fn the_times_of_all_have_the_waits_that_are_under_way() {
    let outcome = run(2, 2, 1_000, |guest, index| {
        if index == 0 {
            guest.refer(DATA, GuestAccess::Load);
            assert!(guest.spin_on(DATA, Cycles(100_000_000)));
        } else {
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
            let (now, times) = (guest.now().0, guest.times_of_all());
            let [spins, computes] = [0, 1].map(|task: usize| times[task]);
            let spun = spins.of(Activity::Spinning).0;
            assert!((900_000..=now).contains(&spun), "{spun} of {now}");
            assert!((1_000_000..=now).contains(&computes.of(Activity::Working).0));
            guest.refer(DATA, GuestAccess::Store);
        }
    });
    assert!(outcome.is_ok());
}

#[test]
fn pages_that_were_touched_before_have_a_frame_where_the_task_is() {
    let faults = |before: bool| {
        let machine = kilocore_machine::find(MACHINE).expect("built in");
        let options = Options { cores: 1, seed: 1 };
        let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
        let guest = guests.begin();
        if before {
            guest.has_touched((0..100).map(|page| DATA / Guest::PAGE + page));
        }
        assert_eq!(guest.now(), Cycles(0), "it costs nothing");
        let counted = guests.page_faults();
        (0..100).for_each(|page| {
            guest.refer(DATA + page * Guest::PAGE, GuestAccess::Load);
        });
        let (after, now) = (guests.page_faults(), guest.now());
        guest.end(None, || {});
        (after - counted, now)
    };
    let ((none, quick), (all, slow)) = (faults(true), faults(false));
    assert_eq!((none, all), (0, 100));
    assert!(quick * 3 < slow, "{quick:?} {slow:?}");
}

#[test]
fn pages_cost_what_the_machine_says() {
    const PAGES: u64 = 1_000;
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let ns = |machine: &Description| {
        let outcome = run_on(machine, 1, 1, 0, |guest, _| {
            (0..PAGES).for_each(|page| {
                guest.refer(DATA + page * Guest::PAGE, GuestAccess::Store);
            });
            guest.change_address_space(Cycles(0), DATA, PAGES * Guest::PAGE);
        });
        outcome.expect("it ends").end.0 as f64 / machine.clock_ghz.value
    };
    let today = ns(&machine);
    let slower = |of: fn(&mut OperatingSystem) -> &mut Option<Figure>, usual: f64| {
        let mut machine = machine.clone();
        let value = usual + 3_000.0;
        *of(&mut machine.os) = Some(Figure { value, source: None, estimated: None });
        (ns(&machine) - today) / PAGES as f64
    };
    let fault = slower(|os| &mut os.page_fault_ns, OperatingSystem::PAGE_FAULT_NS);
    let unmap = slower(|os| &mut os.unmap_page_ns, OperatingSystem::UNMAP_PAGE_NS);
    for more in [fault, unmap] {
        assert!((2_990.0..3_010.0).contains(&more), "{fault} {unmap}");
    }
}

#[test]
fn interrupts_take_what_the_machine_says() {
    const STEPS: u64 = 20_000;
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let cycles = |every_us: f64, takes_ns: f64| {
        let figure = |value| Some(Figure { value, source: None, estimated: None });
        let mut machine = machine.clone();
        machine.os.interrupt_every_us = figure(every_us);
        machine.os.interrupt_ns = figure(takes_ns);
        let outcome = run_on(&machine, 1, 1, 0, |guest, _| {
            (0..STEPS).for_each(|_| guest.compute(Cycles(10_000)));
        });
        outcome.expect("it ends").end.0
    };
    let undisturbed = cycles(100.0, 0.0);
    assert_eq!(undisturbed, STEPS * 10_000);
    let more = |every_us, takes_ns| cycles(every_us, takes_ns) as f64 / undisturbed as f64 - 1.0;
    let often = more(100.0, 5_000.0);
    assert!((0.045..0.055).contains(&often), "{often}");
    // What a machine has that says nothing of it.
    let usual = more(OperatingSystem::INTERRUPT_EVERY_US, OperatingSystem::INTERRUPT_NS);
    assert!((0.0001..0.001).contains(&usual), "{usual}");
}

#[test]
fn who_ends_wakes_who_waits_for_that() {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let options = Options { cores: 2, seed: 1 };
    let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
    let word = Arc::new(AtomicU32::new(1));
    thread::scope(|scope| {
        let guest = guests.begin();
        let (newborn, cleared) = (guest.fork(), Arc::clone(&word));
        scope.spawn(move || {
            let guest = newborn.arrive();
            guest.compute(Cycles(1_000_000));
            guest.end(Some(DATA), move || cleared.store(0, Ordering::Release));
        });
        let unchanged = || word.load(Ordering::Acquire) == 1;
        assert_eq!(guest.futex_wait(DATA, unchanged, None), Parked::Woken);
        assert_eq!(guest.futex_wait(DATA, unchanged, None), Parked::Changed);
        guest.end(None, || {});
    });
    assert!(guests.failure().is_none());
}

#[test]
fn who_was_outside_comes_back_while_others_run_and_when_nobody_does() {
    let (go, gone) = std::sync::mpsc::channel();
    let channel = Mutex::new((go, Some(gone)));
    let outcome = run(2, 2, 1_000, move |guest, index| {
        if index == 0 {
            let gone = channel.lock().expect("nobody panics").1.take().expect("once");
            guest.go_outside();
            gone.recv().expect("the other one tells");
            guest.come_back();
            guest.compute(Cycles(1_000));
        } else {
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
            channel.lock().expect("nobody panics").0.send(()).expect("it waits");
        }
    });
    assert!(outcome.expect("it ends").end >= Cycles(1_000_000));
}

#[test]
fn more_threads_than_cores_take_turns() {
    let outcome = run(2, 6, 1_000, |guest, _| {
        for _ in 0..30 {
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
        }
    });
    let outcome = outcome.expect("it ends");
    let expected = 6.0 * 30e6 / 2.0;
    assert!((0.99..1.1).contains(&(outcome.end.0 as f64 / expected)), "{}", outcome.end.0);
}

#[test]
fn a_run_is_the_same_whatever_the_host_does() {
    let once = || {
        run(12, 16, 2_000, |guest, index| {
            let mut random = index * 7 + 1;
            for _ in 0..300 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                guest.compute(Cycles(random >> 52));
                if random >> 33 & 15 == 0 {
                    thread::yield_now();
                }
                let address = DATA + (random >> 40) % 64 * 48;
                match random >> 36 & 7 {
                    0 => update(guest, address),
                    1 | 2 => drop(guest.refer(address, GuestAccess::Store)),
                    3 => drop(guest.futex_wait(address, || true, Some(Cycles(5_000)))),
                    4 => drop(guest.futex_wake(address, 1)),
                    5 => guest.yield_now(),
                    _ => drop(guest.refer(address + index * 8192, GuestAccess::Load)),
                }
            }
        })
    };
    let first = once().expect("it ends");
    for _ in 0..4 {
        assert_eq!(once().expect("it ends"), first);
    }
}

/// Two threads on cores of their own. The first one lets the second go while that waits for its turn, or not, and the second
/// does `meanwhile` then. Returns when each has ended, and how often the second was let go.
fn let_go(is: bool, meanwhile: impl Fn(&Guest) + Sync) -> ([Cycles; 2], u32) {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let guests = Guests::new(&machine, Options { cores: 2, seed: 1 }, Cycles(0)).expect("it has");
    let (guests, meanwhile) = (&guests, &meanwhile);
    thread::scope(|scope| {
        let first = guests.begin();
        let newborn = first.fork();
        let task = newborn.task();
        let second = scope.spawn(move || {
            let guest = newborn.arrive();
            let mut times = 0;
            for _ in 0..10 {
                guest.compute(Cycles(100_000));
                guest.catch_up();
                while guest.is_let_go() {
                    times += 1;
                    meanwhile(&guest);
                    guest.wait_again();
                }
            }
            let end = guest.now();
            guest.end(None, || {});
            (end, times)
        });
        for _ in 0..5 {
            first.compute(Cycles(150_000));
            first.catch_up();
            // It may have been woken, and not wait yet.
            while is && !guests.let_go(task) {
                thread::yield_now();
            }
        }
        let end = first.now();
        first.end(None, || {});
        let (second, times) = second.join().expect("no panic");
        assert!(guests.failure().is_none());
        ([end, second], times)
    })
}

#[test]
fn who_is_let_go_has_waited_all_the_time_for_the_simulator() {
    let (ends, times) = let_go(false, |_| {});
    assert_eq!(times, 0);
    let meanwhile = |guest: &Guest| {
        guest.compute(Cycles(1_000_000));
        assert!(!guest.refer(DATA, GuestAccess::Update) && guest.outcome().is_none());
        guest.catch_up();
        guest.change_address_space(Cycles(1_000_000), DATA, Guest::PAGE);
        assert!(guest.is_let_go());
    };
    let (let_go, times) = let_go(true, meanwhile);
    assert_eq!((let_go, times), (ends, 5));
}
