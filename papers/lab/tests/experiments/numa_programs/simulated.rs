//! On simulated machines.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use kilocore_lab::numa_programs::{Program, Run, Size};
use kilocore_platform::Cycles;
use kilocore_sim::{Options, Outcome, Reference, Sim, Simulation, UncachedMemory};

use crate::numa_programs::common::{assert_agree, native, simulated};

#[test]
fn simulated_threads_come_to_the_result_of_real_ones() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let real = native(workload, 1, 5);
        for threads in [8, 32] {
            let (summary, outcome) = simulated(workload, threads, 5);
            assert_agree(real, summary);
            assert!(outcome.operations < 1_000_000, "{program}: {}", outcome.operations);
        }
    }
}

#[test]
fn more_cores_make_all_of_them_faster() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let [alone, eight] = [1, 8].map(|threads| simulated(workload, threads, 5).1.end);
        assert!(eight < alone, "{program}: {alone:?} and {eight:?}");
    }
}

/// Whose each page is, and the references of others to it, or to none of the program's pages.
#[derive(Debug, Default)]
struct Pages {
    private: BTreeMap<usize, usize>,
    shared: BTreeSet<usize>,
    wrong: Vec<Reference>,
}

#[derive(Debug)]
struct Watching(Rc<RefCell<Pages>>);

impl UncachedMemory for Watching {
    fn refer(&mut self, reference: Reference) -> Cycles {
        let mut pages = self.0.borrow_mut();
        let page = reference.address.get() / 4096;
        let known = match pages.private.get(&page) {
            Some(&thread) => thread == reference.core.0 as usize,
            None => pages.shared.contains(&page),
        };
        if !known {
            pages.wrong.push(reference);
        }
        Cycles(1)
    }
}

const THREADS: usize = 32;

/// Runs a program without caches, on the memory that is made for it.
fn without_caches<M: UncachedMemory + 'static>(
    program: Program,
    size: Size,
    memory: impl FnOnce(&dyn Run) -> M,
) -> Outcome {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let options = Options { cores: THREADS as u32, seed: 1 };
    let mut simulation = Simulation::new(&machine, options).unwrap();
    let run = program.prepare::<Sim>(size, THREADS, 1).unwrap();
    simulation.replace_caches(Box::new(memory(&*run)));
    for index in 0..THREADS {
        let run = run.clone();
        simulation.spawn(move || run.thread(index)).unwrap();
    }
    let outcome = simulation.run().unwrap();
    run.check().unwrap();
    outcome
}

#[test]
fn private_memory_is_private_and_no_reference_goes_elsewhere() {
    for program in Program::ALL {
        let seen = Rc::new(RefCell::new(Pages::default()));
        without_caches(program, Size::Small, |run| {
            let mut pages = seen.borrow_mut();
            for (thread, range) in run.private_memory() {
                pages.private.extend(range.step_by(4096).map(|address| (address / 4096, thread)));
            }
            for range in run.shared_memory() {
                pages.shared.extend(range.step_by(4096).map(|address| address / 4096));
            }
            Watching(Rc::clone(&seen))
        });
        assert_eq!(seen.borrow().wrong, [], "{program}");
    }
}

/// Memory in which each reference takes a cycle.
#[derive(Debug)]
struct Even;

impl UncachedMemory for Even {
    fn refer(&mut self, _reference: Reference) -> Cycles {
        Cycles(1)
    }

    fn lookahead(&self) -> Cycles {
        Cycles(200)
    }
}

#[test]
fn published_sizes_take_about_as_many_references_as_were_published() {
    // Millions, of Lee and Cho's table 2.
    let published = [8.935, 58.716, 39.341, 33.107];
    for (program, published) in Program::ALL.into_iter().zip(published) {
        let outcome = without_caches(program, Size::Published, |_| Even);
        let millions = outcome.operations as f64 / 1e6;
        assert!((millions / published - 1.0).abs() < 0.1, "{program}: {millions}");
    }
}

#[test]
fn a_simulation_is_the_same_every_time() {
    for program in Program::ALL {
        let workload = program.workload(Size::Small);
        let [one, other] = [(); 2].map(|()| simulated(workload, 8, 1));
        assert_eq!(one, other, "{program}");
    }
}
