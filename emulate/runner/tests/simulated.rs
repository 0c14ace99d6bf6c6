//! Programs under `run`, beside the same loops on the simulator: the locks are one source, behind the same door.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

use kilocore_locks::{Fences, LockId, LockVisitor, Moderated, RawLock, Room, Slept};
use kilocore_platform::{Atomic, Cycles, Ordering, Platform};
use kilocore_sim::{Options, Sim, Simulation};

use crate::support::{MACHINE, program, under};

/// Threads that think and hold, in turns of the loop of `work.c`, so often.
#[derive(Clone, Copy)]
struct Loop {
    cores: u32,
    rounds: u32,
    think: u32,
    hold: u32,
}

/// Cycles of a turn: an addition, a comparison and a jump.
const TURN: u64 = 3;

/// A mutex as `run` lays it out, on one line, and beside it what `run` keeps elsewhere and what the holder writes.
#[repr(C, align(64))]
struct Mutex<L> {
    lock: L,
    kind: <Sim as Platform>::U32,
    stamp: <Sim as Platform>::U32,
    queued: <Sim as Platform>::U64,
    counter: Line,
    room: Room<Sim>,
}

/// What the holder writes, on a line of its own.
#[repr(align(64))]
struct Line(<Sim as Platform>::U64);

/// As `run` has it where the kernel offers `membarrier`: a release looks, and pays for no fence.
struct Free;

// SAFETY: simulated operations are sequentially consistent.
unsafe impl Fences<Sim> for Free {
    fn guests(room: &Room<Sim>) -> u32 {
        room.count()
    }
    fn announce(_: &Room<Sim>) -> bool {
        true
    }
}

impl<L: RawLock<Sim>> Mutex<L> {
    fn new() -> Self {
        Self {
            lock: L::new(),
            kind: Atomic::new(0),
            stamp: Atomic::new(0),
            queued: Atomic::new(0),
            counter: Line(Atomic::new(0)),
            room: Room::default(),
        }
    }

    fn moderated(&self) -> Moderated<'_, Sim, L, Free> {
        // As each call does, to find out whose mutex it is.
        self.kind.load(Ordering::Relaxed);
        Moderated {
            lock: &self.lock,
            stamp: &self.stamp,
            queued: &self.queued,
            room: &self.room,
            key: 1,
            process: 1,
            fences: PhantomData,
        }
    }

    fn hold(&self, thread: &mut L::Thread, places: u32, cycles: Cycles) {
        let lock = self.moderated();
        if !lock.try_acquire(thread) {
            lock.acquire(thread, places, |word, value, _| {
                Sim::park(word, value, None);
                Slept::Enough
            });
        }
        Sim::work(cycles);
        self.counter.0.store(self.counter.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let lock = self.moderated();
        assert!(lock.is_held(), "by the caller");
        // SAFETY: the caller has acquired it above.
        unsafe { lock.release(thread) };
    }
}

impl LockVisitor<Sim> for Loop {
    /// In ns.
    type Output = f64;

    fn visit<L: RawLock<Sim>>(self) -> f64 {
        let machine = kilocore_machine::find(MACHINE).expect("built in");
        let options = Options { cores: self.cores, seed: 1 };
        let mut simulation = Simulation::new(&machine, options).expect("it has the cores");
        simulation.keep_waiters_on_cores();
        let mutex = Rc::new(Mutex::<L>::new());
        let ended = Rc::new(Cell::new(0));
        for _ in 0..self.cores {
            let (mutex, ended) = (Rc::clone(&mutex), Rc::clone(&ended));
            let body = move || {
                let mut thread = L::Thread::default();
                let cycles = |turns: u32| Cycles(u64::from(turns) * TURN);
                for _ in 0..self.rounds {
                    Sim::work(cycles(self.think));
                    mutex.hold(&mut thread, (self.cores - 1).max(1), cycles(self.hold));
                }
                ended.set(ended.get() + 1);
            };
            simulation.spawn(body).expect("there is memory");
        }
        let outcome = simulation.run().expect("it ends");
        assert_eq!(ended.get(), self.cores, "all have ended");
        outcome.end.0 as f64 / machine.clock_ghz.value
    }
}

impl Loop {
    /// How long it takes in the emulation, in ns.
    fn emulated(self, lock: LockId) -> f64 {
        let words =
            [self.cores, self.rounds, self.think, self.hold].map(|number| number.to_string());
        let arguments = [&*words[0], &*words[1], &*words[2], &*words[3], "mutex"];
        let (point, _) = under(lock.name(), self.cores, &program("work", &[]), &arguments);
        point.report.parallel.expect("it has threads").ns()
    }

    /// The same with twice the rounds, for what no start and no end is in.
    fn twice(self) -> Self {
        Self { rounds: 2 * self.rounds, ..self }
    }

    /// By which part the emulation is slower than the simulation.
    fn off(self, lock: LockId) -> f64 {
        let emulated = self.twice().emulated(lock) - self.emulated(lock);
        let simulated = lock.visit::<Sim, _>(self.twice()) - lock.visit::<Sim, _>(self);
        emulated / simulated - 1.0
    }
}

#[test]
fn locks_under_run_take_as_long_as_the_same_locks_simulated() {
    let mut all = Vec::new();
    for lock in [LockId::Ticket, LockId::Mcs, LockId::Cna, LockId::Hmcs, LockId::Futex] {
        for cores in [1, 4, 12, 48] {
            let rounds = 200 / cores.min(8);
            let off = Loop { cores, rounds, think: 6_000, hold: 600 }.off(lock);
            println!("{} on {cores}: {:+.1} %", lock.name(), 100.0 * off);
            all.push(off.abs());
        }
    }
    all.sort_by(f64::total_cmp);
    // On many cores, `run` lets waiters give way that would wait for long. On the simulator they keep their cores.
    assert!(all[all.len() / 2] < 0.05, "{all:?}");
    assert!(all.iter().all(|&off| off < 1.0), "{all:?}");
}
