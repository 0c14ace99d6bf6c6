//! Many lines from memory at once: the two limits, and who waits for whom.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_platform::{Cycles, NodeId, Platform};
use kilocore_sim::{MOST_OVERLAP, Options, Outcome, Sim, Simulation};

fn simulate(cores: u32, body: impl Fn(u32) + Clone + 'static) -> Outcome {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
    for thread in 0..cores {
        let body = body.clone();
        simulation.spawn(move || body(thread)).unwrap();
    }
    simulation.run().unwrap()
}

/// Cycles of 2.6 GHz that a line takes at 13 GB/s.
const LINE: f64 = 64.0 / 13.0 * 2.6;
/// Cycles to local memory: 98 ns.
const LOCAL: u64 = 255;

#[test]
fn a_line_takes_a_latency_and_a_window_of_lines_no_longer() {
    for lines in [1, MOST_OVERLAP] {
        let outcome = simulate(1, move |_| Sim::fetch(NodeId(0), lines, MOST_OVERLAP));
        assert_eq!(outcome.end, Cycles(LOCAL));
    }
    let outcome = simulate(1, |_| Sim::fetch(NodeId(0), 100, 1));
    assert_eq!(outcome.end, Cycles(100 * LOCAL));
    assert_eq!(simulate(1, |_| Sim::fetch(NodeId(0), 0, 1)).end, Cycles(0));
}

#[test]
fn batches_of_a_node_pass_its_channels_one_after_the_other() {
    let outcome = simulate(6, |_| Sim::fetch(NodeId(0), 1000, MOST_OVERLAP));
    // Five batches on the channels, and then the last one at a core's own pace.
    let expected = 5.0 * 1000.0 * LINE + 100.0 * LOCAL as f64;
    assert!((outcome.end.0 as f64 - expected).abs() < 10.0, "{:?} {expected}", outcome.end);
}

#[test]
fn nodes_do_not_hold_each_other_up() {
    let alone = simulate(1, |_| Sim::fetch(NodeId(0), 1000, MOST_OVERLAP)).end;
    let outcome = simulate(12, |thread| {
        if thread % 6 == 0 {
            Sim::fetch(Sim::node(), 1000, MOST_OVERLAP);
        }
    });
    assert_eq!(outcome.end, alone);
}

#[test]
fn another_nodes_memory_is_farther_and_its_link_narrower() {
    let took = |home: u32| {
        let took = Rc::new(Cell::new(Cycles(0)));
        let seen = Rc::clone(&took);
        simulate(6, move |_| {
            for _ in 0..10 {
                Sim::fetch(NodeId(home), 100, MOST_OVERLAP);
            }
            seen.set(Sim::now());
        });
        took.get().0 as f64
    };
    let ratio = took(1) / took(0);
    // Six cores saturate either; the link carries 0.325 of what the channels do.
    assert!((ratio - 1.0 / 0.325).abs() < 0.1, "{ratio}");
}

#[test]
fn a_clock_that_ran_ahead_catches_up_before_the_count() {
    let order = Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = Rc::clone(&order);
    simulate(2, move |thread| {
        Sim::work(Cycles(if thread == 0 { 1000 } else { 10 }));
        Sim::catch_up();
        seen.borrow_mut().push(thread);
    });
    assert_eq!(*order.borrow(), [1, 0]);
}
