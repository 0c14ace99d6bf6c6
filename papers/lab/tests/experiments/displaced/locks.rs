//! Every lock, also behind frames that grow and shrink from one call to the next.

use std::hint::black_box;
use std::rc::Rc;

use kilocore_locks::{LockId, LockVisitor, RawLock, RawRwLock, RwLockId, RwLockVisitor};
use kilocore_platform::{Cycles, Platform, SharedCell};
use kilocore_sim::{Options, Random, Sim, Simulation};

use super::assert_same_wherever_it_lies;

/// Fewer than threads, so that some of them wait without a core.
const CORES: u32 = 24;
const THREADS: u64 = 30;
const SECTIONS: usize = 40;

/// How many bytes of frames lie below successive calls of a lock, in turn.
#[derive(Debug, Clone, Copy)]
struct Frames(&'static [usize]);

const FRAMES: [Frames; 5] =
    [Frames(&[0]), Frames(&[40]), Frames(&[200]), Frames(&[1_000]), Frames(&[0, 200, 40, 1_000])];

impl Frames {
    /// Calls `call`, the `turn`-th of its task.
    fn call<R>(self, turn: usize, call: impl FnOnce() -> R) -> R {
        match self.0[turn % self.0.len()] {
            0 => call(),
            40 => farther_down::<40, R>(call),
            200 => farther_down::<200, R>(call),
            _ => farther_down::<1_000, R>(call),
        }
    }
}

#[inline(never)]
fn farther_down<const BYTES: usize, R>(call: impl FnOnce() -> R) -> R {
    let frame = black_box([0_u8; BYTES]);
    let result = call();
    black_box(&frame);
    result
}

/// Simulates threads that compute and enter sections under a lock. `enters` makes what a thread calls in
/// each section, with a number from 0 to 1 that is left to chance and the section's number.
fn simulate<T, S>(lock: T, enters: impl Fn() -> S) -> String
where
    T: 'static,
    S: FnMut(&T, f64, usize) + 'static,
{
    let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
    let options = Options { cores: CORES, seed: 1 };
    let mut simulation = Simulation::new(&machine, options).expect("it has the cores");
    let lock = Rc::new(lock);
    for thread in 0..THREADS {
        let (lock, mut enter) = (Rc::clone(&lock), enters());
        let body = move || {
            let mut random = Random::new(1, thread);
            for section in 0..SECTIONS {
                Sim::work(Cycles((random.uniform() * 20_000.0) as u64));
                enter(&lock, random.uniform(), section);
            }
        };
        simulation.spawn(body).expect("there is memory for it");
    }
    format!("{:?}", simulation.run().expect("all threads end"))
}

struct Sections(Frames);

impl LockVisitor<Sim> for Sections {
    type Output = String;

    fn visit<L: RawLock<Sim>>(self) -> String {
        let Self(frames) = self;
        let data = <Sim as Platform>::Cell::new(0_u64);
        simulate((L::new(), data), || {
            let mut state = L::Thread::default();
            move |(lock, data), _, section| {
                frames.call(section, || lock.acquire(&mut state));
                // SAFETY: the lock is held.
                data.with_mut(|data| unsafe { *data += 1 });
                Sim::work(Cycles(400));
                // SAFETY: acquired above.
                frames.call(section + 1, || unsafe { lock.release(&mut state) });
            }
        })
    }
}

impl RwLockVisitor<Sim> for Sections {
    type Output = String;

    fn visit<L: RawRwLock<Sim>>(self) -> String {
        let Self(frames) = self;
        simulate(L::new(), || {
            move |lock, chance, section| {
                if chance < 0.5 {
                    frames.call(section, || lock.acquire());
                    Sim::work(Cycles(400));
                    // SAFETY: acquired above.
                    frames.call(section + 1, || unsafe { lock.release() });
                } else {
                    let reader = frames.call(section, || lock.acquire_shared());
                    Sim::work(Cycles(400));
                    // SAFETY: acquired above.
                    frames.call(section + 1, || unsafe { lock.release_shared(reader) });
                }
            }
        })
    }
}

#[test]
fn locks() {
    for &lock in LockId::ALL {
        assert_same_in_all_frames(lock.name(), |frames| lock.visit(Sections(frames)));
    }
}

#[test]
fn read_write_locks() {
    for &lock in RwLockId::ALL {
        assert_same_in_all_frames(lock.name(), |frames| lock.visit(Sections(frames)));
    }
}

fn assert_same_in_all_frames(name: &str, figures: impl Fn(Frames) -> String) {
    let [first, others @ ..] = FRAMES;
    let found = figures(first);
    for frames in others {
        assert_eq!(found, figures(frames), "{name}, {frames:?}");
    }
    assert_same_wherever_it_lies(name, || figures(first));
}
