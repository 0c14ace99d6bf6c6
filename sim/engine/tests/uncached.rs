//! Machines without caches: each reference goes to the memory, in simulated order.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_platform::{Atomic, AtomicInt, CpuId, Cycles, Ordering, Platform, SharedCell, Wait};
use kilocore_sim::{Options, Reference, ReferenceKind, Sim, Simulation, UncachedMemory};

/// Remembers all references. Each takes 100 cycles.
#[derive(Debug)]
struct Remembering(Rc<RefCell<Vec<Reference>>>);

impl UncachedMemory for Remembering {
    fn refer(&mut self, reference: Reference) -> Cycles {
        self.0.borrow_mut().push(reference);
        Cycles(100)
    }
}

fn run(cores: u32, bodies: Vec<Box<dyn FnOnce()>>) -> (Vec<Reference>, Cycles) {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
    let seen = Rc::new(RefCell::new(Vec::new()));
    simulation.replace_caches(Box::new(Remembering(Rc::clone(&seen))));
    for body in bodies {
        simulation.spawn(body).unwrap();
    }
    let outcome = simulation.run().unwrap();
    (seen.take(), outcome.end)
}

type Word = <Sim as Platform>::U64;

#[test]
fn every_reference_is_seen_and_paid_for() {
    let words = Rc::new([Word::new(0), Word::new(0)]);
    let plain = Rc::new(<Sim as Platform>::Cell::<[u64; 3]>::new([0; 3]));
    let addresses = [&words[0], &words[1]].map(|word| std::ptr::from_ref(word).addr());
    let (seen, end) = run(
        1,
        vec![Box::new(move || {
            words[0].load(Ordering::Relaxed);
            words[0].load(Ordering::Relaxed);
            words[1].store(1, Ordering::Relaxed);
            words[1].fetch_add(1, Ordering::Relaxed);
            plain.with(|_| ());
        })],
    );
    let kinds: Vec<ReferenceKind> = seen.iter().map(|reference| reference.kind).collect();
    use ReferenceKind::{Read, ReadModifyWrite, Write};
    assert_eq!(kinds, [Read, Read, Write, ReadModifyWrite, Read, Read, Read]);
    let at = |index: usize| seen[index].address.get();
    assert_eq!([at(0), at(1), at(2), at(3)], [0, 0, 1, 1].map(|word| addresses[word]));
    assert_eq!([at(5) - at(4), at(6) - at(5)], [8, 8]);
    assert!(end >= Cycles(700), "{end:?}");
}

#[test]
fn references_come_in_simulated_order() {
    let word = Rc::new(Word::new(0));
    let bodies = (0..8).map(|_| {
        let word = Rc::clone(&word);
        let body = move || {
            for _ in 0..50 {
                word.fetch_add(1, Ordering::Relaxed);
            }
        };
        Box::new(body) as Box<dyn FnOnce()>
    });
    let (seen, _) = run(8, bodies.collect());
    assert_eq!(seen.len(), 400);
    assert!(seen.is_sorted_by_key(|reference| reference.now));
    assert_eq!(word.load(Ordering::Relaxed), 400);
}

#[test]
fn a_waiter_refers_to_its_word_when_that_is_written_and_not_for_its_neighbour() {
    let words = Rc::new([Word::new(0), Word::new(0)]);
    let waited = Rc::clone(&words);
    let (seen, _) = run(
        2,
        vec![
            Box::new(move || {
                Sim::wait_until(&waited[0], Wait::Spin, |value| value == 2);
            }),
            Box::new(move || {
                for value in 1..=2 {
                    Sim::work(Cycles(1000));
                    words[1].store(value, Ordering::Relaxed);
                    Sim::work(Cycles(1000));
                    words[0].store(value, Ordering::Release);
                }
            }),
        ],
    );
    let of_waiter = seen.iter().filter(|reference| reference.core == CpuId(0));
    assert_eq!(of_waiter.count(), 3, "once before it waits, and once for each time it is written");
}
