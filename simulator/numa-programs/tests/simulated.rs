//! On simulated machines.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use kilocore_numa_programs::{Program, Size};
use kilocore_platform::Cycles;
use kilocore_sim::{Options, Reference, Sim, Simulation, UncachedMemory};

use crate::common::{assert_agree, native, simulated};

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

#[test]
fn private_memory_is_private_and_no_reference_goes_elsewhere() {
    const THREADS: usize = 32;
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    for program in Program::ALL {
        let options = Options { cores: THREADS as u32, seed: 1 };
        let mut simulation = Simulation::new(&machine, options).unwrap();
        let run = program.prepare::<Sim>(Size::Small, THREADS, 1).unwrap();
        let mut pages = Pages::default();
        for (thread, range) in run.private_memory() {
            pages.private.extend(range.step_by(4096).map(|address| (address / 4096, thread)));
        }
        for range in run.shared_memory() {
            pages.shared.extend(range.step_by(4096).map(|address| address / 4096));
        }
        let pages = Rc::new(RefCell::new(pages));
        simulation.replace_caches(Box::new(Watching(Rc::clone(&pages))));
        for index in 0..THREADS {
            let run = run.clone();
            simulation.spawn(move || run.thread(index)).unwrap();
        }
        simulation.run().unwrap();
        run.check().unwrap();
        assert_eq!(pages.borrow().wrong, [], "{program}");
    }
}
