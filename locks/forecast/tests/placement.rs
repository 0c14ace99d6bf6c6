//! Where the compiler puts what a thread keeps for a lock makes no difference to a simulation.

use std::mem::MaybeUninit;
use std::rc::Rc;

use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_platform::{Cycles, Padded};
use kilocore_sim::{Options, Sim, Simulation};

/// 24 threads that acquire one lock. Each keeps its state for the lock in place `place` of [`Places`].
struct Contended {
    place: usize,
}

/// Places one behind the other, of which the first begins a cache line.
#[repr(C, align(128))]
struct Places<T>([MaybeUninit<T>; 8]);

impl LockVisitor<Sim> for Contended {
    type Output = Cycles;

    fn visit<L: RawLock<Sim>>(self) -> Cycles {
        let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
        let mut simulation = Simulation::new(&machine, Options { cores: 24, seed: 1 }).unwrap();
        let lock = Rc::new(Padded(L::new()));
        for _ in 0..24 {
            let lock = Rc::clone(&lock);
            let place = self.place;
            simulation
                .spawn(move || {
                    let mut places = Places([const { MaybeUninit::uninit() }; 8]);
                    let thread: &mut L::Thread = places.0[place].write(L::Thread::default());
                    for _ in 0..200 {
                        lock.acquire(thread);
                        Sim::work(Cycles(400));
                        // SAFETY: acquired above.
                        unsafe { lock.release(thread) };
                        Sim::work(Cycles(2000));
                    }
                    // SAFETY: written above, and not used after this.
                    unsafe { places.0[place].assume_init_drop() };
                })
                .unwrap();
        }
        simulation.run().unwrap().end
    }
}

#[test]
fn where_a_thread_keeps_its_state_makes_no_difference() {
    for name in ["cna", "malthusian-spin", "c-bo-mcs", "backoff"] {
        let lock: LockId = name.parse().expect("a lock");
        let ends: Vec<Cycles> = [0, 1, 3, 6].map(|place| lock.visit(Contended { place })).to_vec();
        assert!(ends.iter().all(|&end| end == ends[0]), "{name}: {ends:?}");
    }
}
