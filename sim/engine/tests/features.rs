//! What some machines have and others have not.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_machine::{Description, Figure};
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Parked, Platform};
use kilocore_sim::{Options, Sim, SimU32, SimU64, Simulation};

fn figure(value: f64) -> Option<Figure> {
    Some(Figure { value, source: None, estimated: Some("for a test".to_owned()) })
}

fn xeon() -> Description {
    kilocore_machine::find("xeon-e7-4830v3-4s").unwrap()
}

fn simulate(machine: &Description, threads: u32, body: impl Fn(u32) + Clone + 'static) {
    let mut simulation = Simulation::new(machine, Options { cores: threads, seed: 1 }).unwrap();
    for thread in 0..threads {
        let body = body.clone();
        simulation.spawn(move || body(thread)).unwrap();
    }
    simulation.run().unwrap();
}

/// Cycles until all other cores have read what core 0 wrote, asking at the same moment.
fn until_all_have_read(machine: &Description, threads: u32) -> u64 {
    let word = Rc::new(Padded(SimU64::new(0)));
    let last = Rc::new(Cell::new(0));
    let seen = Rc::clone(&last);
    simulate(machine, threads, move |thread| {
        if thread == 0 {
            word.store(1, Ordering::Release);
            return;
        }
        Sim::work(Cycles(100_000));
        assert_eq!(word.load(Ordering::Acquire), 1);
        seen.set(seen.get().max(Sim::now().0));
    });
    last.get() - 100_000
}

#[test]
fn a_shared_cache_that_finds_copies_serves_its_cores_side_by_side() {
    let mut machine = xeon();
    machine.caches.shared_finds_copies.value = 0.0;
    let (one, other) = (until_all_have_read(&machine, 12), until_all_have_read(&machine, 48));
    machine.caches.shared_finds_copies.value = 1.0;
    let (one_finding, other_finding) =
        (until_all_have_read(&machine, 12), until_all_have_read(&machine, 48));
    // Eleven readers of the writer's node: the first fetches, ten wait for it and no longer for
    // each other.
    let cycles = |ns: f64| (ns * machine.clock_ghz.value) as u64;
    let fetch = cycles(machine.latency.same_group_ns.value);
    let hit = cycles(machine.caches.shared_hit_ns.value);
    let passing = 10 * cycles(machine.coherence.home_service_ns.value).max(1);
    assert!(one_finding >= fetch + hit, "{one_finding}: none has it before it is there");
    assert!(one_finding < fetch + hit + 2 * passing, "{one_finding}");
    assert!(one > one_finding + 5 * hit, "{one} {one_finding}");
    assert!(other > 2 * other_finding, "{other} {other_finding}");
}

/// Cycles from the wake until a thread runs that has slept for `asleep` cycles.
fn wake_after(machine: &Description, asleep: u64) -> u64 {
    let word = Rc::new(SimU32::new(0));
    let (ran, woken) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (at, since) = (Rc::clone(&ran), Rc::clone(&woken));
    simulate(machine, 2, move |thread| {
        if thread == 0 {
            assert_eq!(Sim::park(&word, 0, None), Parked::Woken);
            at.set(Sim::now().0);
        } else {
            Sim::work(Cycles(asleep));
            word.store(1, Ordering::Release);
            since.set(Sim::now().0);
            assert_eq!(Sim::unpark(&*word, 1), 1);
        }
    });
    ran.get() - woken.get()
}

/// Cycles of a write by core 1, which has read what core 0 wrote. Core 0 may have read it in between.
fn write_after_read(machine: &Description, read_again: bool) -> u64 {
    let word = Rc::new(Padded(SimU64::new(0)));
    let took = Rc::new(Cell::new(0));
    let seen = Rc::clone(&took);
    simulate(machine, 2, move |thread| {
        let at = |time: u64| Sim::work(Cycles(time - Sim::now().0));
        if thread == 0 {
            word.store(1, Ordering::Release);
            at(20_000);
            if read_again {
                assert_eq!(word.load(Ordering::Acquire), 1);
            }
            return;
        }
        at(10_000);
        assert_eq!(word.load(Ordering::Acquire), 1);
        at(30_000);
        word.fetch_add(1, Ordering::AcqRel);
        seen.set(Sim::now().0 - 30_000);
    });
    took.get()
}

#[test]
fn a_read_takes_what_was_written_where_it_does_so() {
    let mut machine = xeon();
    let transfer = (machine.latency.same_group_ns.value * machine.clock_ghz.value) as u64;
    let shared = write_after_read(&machine, false);
    assert!(shared >= transfer, "the writer has its copy still: {shared}");
    machine.coherence.migratory_sharing = figure(1.0);
    let taken = write_after_read(&machine, false);
    assert!(taken < transfer / 2, "{taken}");
    // Who reads a line that was taken and not written gets a copy.
    let read_again = write_after_read(&machine, true);
    assert!(read_again >= transfer, "{read_again}");
}

#[test]
fn a_core_that_goes_idle_comes_back_when_it_is() {
    let mut machine = xeon();
    machine.os.context_switch_ns.value = 2_000.0;
    let us = |us: f64| (us * 1000.0 * machine.clock_ghz.value) as u64;
    let plain = wake_after(&machine, us(5.0));
    machine.os.idle_entry_ns = figure(30_000.0);
    machine.os.idle_return_ns = figure(7_000.0);
    let after = |asleep| wake_after(&machine, us(asleep));
    // When it runs does not depend on when it was woken.
    let (soon, late) = (after(5.0), after(15.0));
    assert_eq!(soon - late, us(10.0));
    // Going idle takes longer than what else there is of the wake, and then it has to come back.
    assert!((us(30.0)..us(32.0)).contains(&(soon + us(5.0) - us(7.0))), "{soon}");
    // It is idle at last.
    assert_eq!(after(40.0), plain);
}

#[test]
fn a_core_that_was_idle_for_long_takes_longer_to_wake() {
    let mut machine = xeon();
    machine.os.deep_idle_after_us.value = 50.0;
    machine.os.deep_idle_exit_ns.value = 16_000.0;
    let us = |us: f64| (us * 1000.0 * machine.clock_ghz.value) as u64;
    let (shortly, long) = (wake_after(&machine, us(20.0)), wake_after(&machine, us(80.0)));
    assert_eq!(long - shortly, us(16.0));
    machine.os.deep_idle_after_us.value = 0.0;
    assert_eq!(wake_after(&machine, us(80.0)), shortly);
}
