//! Tasks that execute phases.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_platform::{CpuId, Cycles, Platform};
use kilocore_sim::occupancy::{Bytes, Hardware, MissCurve, Phase, settled};
use kilocore_sim::{CoreSet, MachineView, Move, Options, Scheduler, Sim, Simulation, TaskCounters};

const CORES: u32 = 2;

fn simulation(cores: u32) -> (Simulation, Hardware) {
    let machine = kilocore_machine::find("xeon-e5345-2s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
    let hardware = Hardware::new(&machine, cores);
    simulation.share_caches(hardware.clone());
    (simulation, hardware)
}

fn phase(bytes: f64, references: f64) -> Phase {
    Phase {
        cpi: 1.0,
        references,
        curve: MissCurve::new(&[(0.0, 1.0), (bytes, 0.0)]).unwrap(),
        overlap: 2.0,
        written_back: 0.0,
        private: Bytes(0.0),
    }
}

/// Keeps what was counted when it looked last.
#[derive(Debug)]
struct Watcher {
    counters: Rc<RefCell<Vec<TaskCounters>>>,
}

impl Scheduler for Watcher {
    fn period(&self) -> Cycles {
        Cycles(1_000_000)
    }

    fn balance(&mut self, view: &MachineView<'_>) -> Vec<Move> {
        *self.counters.borrow_mut() = view.tasks.iter().map(|task| task.counters).collect();
        Vec::new()
    }
}

#[test]
fn a_phase_without_references_takes_its_cycles() {
    let (mut simulation, _) = simulation(1);
    simulation.spawn(|| _ = Sim::execute(&phase(1.0, 0.0), 1e6)).unwrap();
    assert_eq!(simulation.run().unwrap().end, Cycles(1_000_000));
}

#[test]
fn two_phases_beside_each_other_are_as_fast_as_the_settled_model_says() {
    let (mut simulation, hardware) = simulation(CORES);
    let phase = phase(4e6, 0.02);
    let beside = settled(&hardware, &[(0, &phase), (1, &phase)])[0];
    let times = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..CORES {
        let (phase, times) = (phase.clone(), Rc::clone(&times));
        simulation
            .spawn(move || {
                let run = |instructions: f64| {
                    for _ in 0..1000 {
                        Sim::execute(&phase, instructions / 1000.0);
                    }
                };
                run(2e8);
                let before = Sim::now();
                run(1e8);
                times.borrow_mut().push(1e8 / (Sim::now() - before).0 as f64);
                // Company for the other, until that has ended, too.
                run(1e8);
            })
            .unwrap();
    }
    simulation.run().unwrap();
    for &speed in times.borrow().iter() {
        assert!((speed / beside - 1.0).abs() < 0.03, "{speed} for {beside}");
    }
}

#[test]
fn neighbours_references_are_those_of_the_same_cache_while_a_task_runs() {
    let (mut simulation, _) = simulation(4);
    let counters = Rc::new(RefCell::new(Vec::new()));
    simulation.schedule_with(Box::new(Watcher { counters: Rc::clone(&counters) }));
    // Cores 0 and 1 share a cache, and core 2 has nobody beside it.
    for (core, references) in [(0, 0.01), (1, 0.001), (2, 0.02)] {
        let only = CoreSet::from_iter([CpuId(core)]);
        let phase = phase(1e5, references);
        simulation
            .spawn_on(&only, move || {
                for _ in 0..1000 {
                    Sim::execute(&phase, 1e5);
                }
            })
            .unwrap();
    }
    simulation.run().unwrap();
    let seen = counters.borrow();
    let near = |left: u64, right: u64| left.abs_diff(right) * 50 <= right;
    assert!(near(seen[0].neighbour_references, seen[1].references), "{seen:?}");
    assert!(near(seen[1].neighbour_references, seen[0].references), "{seen:?}");
    assert_eq!(seen[2].neighbour_references, 0);
    assert!(near(seen[0].references * 100, seen[0].instructions));
    assert!(seen[0].misses > 0 && seen[0].misses < seen[0].references / 100);
}

#[test]
fn what_a_task_finds_when_it_comes_back_depends_on_who_ran_meanwhile() {
    // Two tasks of one core, by slices of 10 ms. Beside arithmetic a task keeps its 2 MB; a streamer
    // of 8 MB evicts them in each of its slices.
    let speed = |other: Phase| {
        let (mut simulation, _) = simulation(1);
        let spent = Rc::new(RefCell::new(0));
        let mine = Rc::clone(&spent);
        let task = phase(2e6, 0.01);
        simulation
            .spawn(move || {
                for _ in 0..4000 {
                    Sim::execute(&task, 1e5);
                }
                let times = Sim::times();
                *mine.borrow_mut() = times.total().0;
            })
            .unwrap();
        simulation
            .spawn(move || {
                for _ in 0..4000 {
                    Sim::execute(&other, 1e5);
                }
            })
            .unwrap();
        simulation.run().unwrap();
        4e8 / spent.take() as f64
    };
    let (beside_arithmetic, beside_streamer) = (speed(phase(1e3, 0.001)), speed(phase(8e8, 0.02)));
    assert!(beside_arithmetic > 0.97, "{beside_arithmetic}");
    assert!(beside_streamer < 0.9 * beside_arithmetic, "{beside_streamer}");
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let run = || {
        let (mut simulation, _) = simulation(CORES);
        for task in 0..4 {
            let phase = phase(1e6 * f64::from(task + 1), 0.02);
            simulation
                .spawn(move || {
                    for _ in 0..500 {
                        Sim::execute(&phase, 1e5);
                    }
                })
                .unwrap();
        }
        simulation.run().unwrap()
    };
    let (one, other) = (run(), run());
    assert_eq!(one.end, other.end);
    assert_eq!(one.tasks, other.tasks);
}

#[test]
fn a_core_whose_task_has_ended_asks_nothing_of_memory() {
    // Seven lines under way on each of four cores: more than the bus carries.
    let streamer = Phase { overlap: 7.0, ..phase(1e12, 0.05) };
    let machine = kilocore_machine::find("xeon-e5345-2s").unwrap();
    let alone = settled(&Hardware::new(&machine, 4), &[(0, &streamer)])[0];
    let (mut simulation, _) = simulation(4);
    let speeds = Rc::new(RefCell::new((0.0, 0.0)));
    for task in 0..4 {
        let (streamer, speeds) = (streamer.clone(), Rc::clone(&speeds));
        simulation
            .spawn(move || {
                // The speed of the last of so many stretches.
                let run = |stretches: u32| {
                    (0..stretches).fold(0.0, |_, _| {
                        let done = Sim::execute(&streamer, 1e5);
                        done.instructions / done.cycles
                    })
                };
                let beside = run(200);
                if task == 0 {
                    let after = run(400);
                    *speeds.borrow_mut() = (beside, after);
                }
            })
            .unwrap();
    }
    simulation.run().unwrap();
    let (beside, after) = speeds.take();
    assert!(beside < 0.7 * alone, "{beside} beside others, {alone} alone");
    assert!((after / alone - 1.0).abs() < 0.01, "{after} after others, {alone} alone");
}
