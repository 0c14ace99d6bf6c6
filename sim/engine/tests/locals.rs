//! What tasks keep on their stacks for others to see.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_platform::{Atomic, Cycles, Ordering, Platform};
use kilocore_sim::{Options, Outcome, Sim, SimU32, Simulation};

fn run(body: impl FnOnce() + 'static) -> Outcome {
    let machine = kilocore_machine::find("xeon-e7-4830v3-4s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores: 1, seed: 1 }).unwrap();
    simulation.spawn(body).unwrap();
    simulation.run().unwrap()
}

/// How long an access to a word takes.
fn cost(word: &SimU32) -> u64 {
    let before = Sim::now();
    word.store(1, Ordering::Relaxed);
    word.swap(2, Ordering::Relaxed);
    (Sim::now() - before).0
}

fn cost_of_local() -> u64 {
    Sim::with_local(SimU32::new(0), cost)
}

/// The same, with a lot on the stack.
#[inline(never)]
fn cost_farther_down() -> u64 {
    let frame = std::hint::black_box([0_u8; 3000]);
    let cost = cost_of_local();
    std::hint::black_box(&frame);
    cost
}

#[test]
#[should_panic(expected = "lies in a stack frame")]
fn words_in_frames_are_refused() {
    run(|| {
        let word = SimU32::new(0);
        word.store(1, Ordering::Relaxed);
    });
}

#[test]
fn a_later_value_has_the_lines_of_an_earlier_one_whatever_frames_lie_below() {
    run(|| {
        let first = cost_of_local();
        let later = [cost_of_local(), cost_farther_down(), cost_of_local()];
        assert!(later[0] < first, "it is in the cache: {later:?}, {first}");
        assert_eq!(later, [later[0]; 3]);
    });
}

#[test]
fn values_at_the_same_time_have_lines_of_their_own() {
    run(|| {
        let first = cost_of_local();
        let both = Sim::with_local(SimU32::new(0), |outer| {
            let inner = cost_of_local();
            (cost(outer), inner, cost_of_local())
        });
        let (outer, inner, inner_again) = both;
        assert!(outer < first && inner == first && inner_again == outer, "{both:?}, {first}");
    });
}

#[test]
fn values_for_which_there_is_no_room_have_new_lines_each_time() {
    const WORDS: usize = 2_000;
    fn cost_of_last() -> u64 {
        let words: [SimU32; WORDS] = std::array::from_fn(|_| SimU32::new(0));
        Sim::with_local(words, |words| cost(&words[WORDS - 1]))
    }
    run(|| {
        let first = cost_of_local();
        assert_eq!([cost_of_last(), cost_of_last()], [first; 2]);
        assert!(cost_of_local() < first, "the room that there is was given back");
    });
    fn nested(depth: u32) -> u64 {
        match depth {
            0 => cost_of_local(),
            _ => Sim::with_local(SimU32::new(depth), |word| {
                let below = nested(depth - 1);
                assert_eq!(word.load(Ordering::Relaxed), depth);
                below
            }),
        }
    }
    run(|| assert!(nested(100) > 0));
}

#[test]
fn values_are_dropped_when_they_are_not_lent_any_more() {
    struct Counted(Rc<Cell<u32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let body = {
        let dropped = Rc::clone(&dropped);
        move || {
            let lent = |large: bool| {
                Sim::with_local((Counted(Rc::clone(&dropped)), [0_u8; 64]), |_| dropped.get());
                let value = (Counted(Rc::clone(&dropped)), [large; 10_000]);
                Sim::with_local(value, |_| dropped.get())
            };
            assert_eq!((lent(true), lent(false)), (1, 3));
        }
    };
    body();
    assert_eq!(dropped.take(), 4, "outside of tasks");
    run(body);
    assert_eq!(dropped.get(), 4);
}

#[test]
fn others_wake_a_task_through_the_word_that_it_lends() {
    let machine = kilocore_machine::find("xeon-e7-4830v3-4s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores: 2, seed: 1 }).unwrap();
    let lent: Rc<Cell<*const SimU32>> = Rc::new(Cell::new(std::ptr::null()));
    let waker = Rc::clone(&lent);
    simulation
        .spawn(move || {
            Sim::with_local(SimU32::new(0), |word| {
                lent.set(word);
                while word.load(Ordering::Acquire) == 0 {
                    Sim::park(word, 0, None);
                }
            });
        })
        .unwrap();
    simulation
        .spawn(move || {
            Sim::work(Cycles(1_000_000));
            // SAFETY: the other task lends the word until it has been set.
            unsafe { (*waker.get()).store(1, Ordering::Release) };
            assert_eq!(Sim::unpark(waker.get(), 1), 1);
        })
        .unwrap();
    simulation.run().unwrap();
}
