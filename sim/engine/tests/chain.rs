//! The chain of waits that bounds a run, of programs whose chain is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use kilocore_platform::Cycles;
use kilocore_sim::{
    Chain, ChainPart, Guest, GuestAccess, Guests, HandOver, Options, Outcome, Place, TaskId, Waits,
};

const MACHINE: &str = "opteron-6344-4s";
const DATA: u64 = 0x7f00_0000_0000;
/// Where the words are by which threads are joined.
const ENDS: u64 = DATA + (1 << 20);
const LINE: u64 = 64;

/// A task makes so many, each of which does `body` with its number from 1 on, and waits for all of them.
fn joined(
    cores: u32,
    threads: u64,
    body: impl Fn(&Guest, u64) + Send + Sync + 'static,
) -> (Chain, Outcome) {
    let machine = kilocore_machine::find(MACHINE).expect("built in");
    let options = Options { cores, seed: 1 };
    let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
    let (body, mut result) = (&body, None);
    thread::scope(|scope| {
        let guest = guests.begin();
        let words: Vec<_> = (1..=threads).map(|_| Arc::new(AtomicU32::new(1))).collect();
        for (word, index) in words.iter().zip(1..) {
            let (newborn, cleared) = (guest.fork(), Arc::clone(word));
            scope.spawn(move || {
                let guest = newborn.arrive();
                body(&guest, index);
                let clears = Some(ENDS + index * LINE);
                guest.end(clears, move || cleared.store(0, Ordering::Release));
            });
        }
        for (word, index) in words.iter().zip(1..) {
            let unchanged = || word.load(Ordering::Acquire) == 1;
            guest.is_at(Place(1));
            guest.futex_wait(ENDS + index * LINE, unchanged, None);
        }
        guest.catch_up();
        result = guest.outcome().map(|outcome| (guest.chain(), outcome));
        guest.end(None, || {});
    });
    assert!(guests.failure().is_none());
    result.expect("it has ended")
}

fn time(chain: &Chain, of: impl Fn(&ChainPart) -> bool) -> u64 {
    chain.parts.iter().filter(|share| of(&share.part)).map(|share| share.time.0).sum()
}

fn is_thread(part: &ChainPart) -> bool {
    matches!(part, ChainPart::Thread(_))
}

fn is_hand_over(part: &ChainPart) -> bool {
    matches!(part, ChainPart::HandOver(_))
}

/// All parts are the run's time together, and so are hand-overs and what threads have.
#[track_caller]
fn check(chain: &Chain, outcome: &Outcome) {
    assert_eq!(chain.end, outcome.end, "the main task ends last");
    assert_eq!(time(chain, |part| !is_thread(part)), chain.end.0, "{chain:?}");
    assert_eq!(time(chain, |part| is_thread(part) || is_hand_over(part)), chain.end.0, "{chain:?}");
}

#[test]
fn the_parts_of_a_chain_are_as_long_as_the_run() {
    for cores in [1, 2, 12] {
        let (chain, outcome) = joined(cores, 16, |guest, index| {
            let mut random = index * 7 + 1;
            for _ in 0..400 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                guest.compute(Cycles(random >> 52));
                guest.is_at(Place(1 + (random >> 48) % 5));
                guest.computes_at(Place(random >> 50 & 3));
                let address = DATA + (random >> 40) % 64 * 48;
                match random >> 36 & 15 {
                    0..=2 => {
                        guest.begin_update();
                        guest.refer(address, GuestAccess::Update);
                    }
                    3 | 4 => drop(guest.refer(address, GuestAccess::Store)),
                    5 | 6 => drop(guest.futex_wait(address, || true, Some(Cycles(50_000)))),
                    7..=9 => drop(guest.futex_wake(address, 4)),
                    10 => guest.yield_now(),
                    11 => guest.sleep(Cycles(5_000)),
                    12 | 13 => {
                        guest.refer(address, GuestAccess::Load);
                        guest.spin_on(address, Cycles(20_000));
                    }
                    _ => drop(guest.refer(address + index * 8192, GuestAccess::Load)),
                }
            }
        });
        check(&chain, &outcome);
        // On one core nobody can write a line while another one watches it there.
        let kinds: &[Waits] = match cores {
            1 => &[Waits::Woken, Waits::Core],
            2 => &[Waits::Woken, Waits::Core, Waits::Written],
            _ => &[Waits::Woken, Waits::Written],
        };
        for how in kinds {
            let is =
                |part: &ChainPart| matches!(part, ChainPart::HandOver(over) if over.how == *how);
            assert!(chain.parts.iter().any(|share| is(&share.part)), "{cores}: {how:?} {chain:?}");
        }
    }
}

#[test]
fn the_slowest_of_threads_that_are_joined_is_the_chain() {
    let (chain, outcome) = joined(8, 6, |guest, index| {
        guest.is_at(Place(10 + index));
        let turns = if index == 4 { 3_000 } else { 100 };
        for _ in 0..turns {
            guest.compute(Cycles(1_000));
            guest.computes_at(Place(10 + index));
        }
    });
    check(&chain, &outcome);
    let slow = time(&chain, |part| *part == ChainPart::Computing(Place(14)));
    assert!((2_990_000..3_010_000).contains(&slow), "{chain:?}");
    assert!(time(&chain, |part| *part == ChainPart::Thread(TaskId(4))) >= slow, "{chain:?}");
    let over = HandOver { how: Waits::Woken, waiter: Place(1), waker: Place(14) };
    let joins = chain.parts.iter().find(|share| share.part == ChainPart::HandOver(over));
    assert_eq!(joins.map(|share| share.count), Some(1), "{chain:?}");
    assert_eq!(time(&chain, |part| *part == ChainPart::Computing(Place(11))), 0, "{chain:?}");
}

#[test]
fn threads_that_share_a_core_are_one_chain() {
    let (chain, outcome) = joined(1, 3, |guest, index| {
        guest.is_at(Place(10 + index));
        for _ in 0..30_000 {
            guest.compute(Cycles(1_000));
            guest.computes_at(Place(10 + index));
            if guest.now() >= guest.limit() {
                guest.catch_up();
            }
        }
    });
    check(&chain, &outcome);
    for index in 1..=3 {
        let computed = time(&chain, |part| *part == ChainPart::Computing(Place(10 + index)));
        assert!((29_000_000..31_000_000).contains(&computed), "{index}: {chain:?}");
    }
}

#[test]
fn a_sleep_that_nobody_ends_is_a_part_of_the_chain() {
    let (chain, outcome) = joined(4, 2, |guest, index| {
        guest.is_at(Place(10 + index));
        if index == 1 {
            guest.sleep(Cycles(4_000_000));
        } else {
            guest.compute(Cycles(1_000_000));
        }
    });
    check(&chain, &outcome);
    let asleep = time(&chain, |part| *part == ChainPart::Asleep(Place(11)));
    assert!((3_990_000..4_100_000).contains(&asleep), "{chain:?}");
}

#[test]
fn the_last_of_several_events_that_a_wait_needs_ends_it() {
    // On one core. Who is woken does not go on before the other one's time on the core is up.
    let waits = AtomicU32::new(0);
    let (chain, outcome) = joined(1, 2, move |guest, index| {
        guest.is_at(Place(10 + index));
        if index == 1 {
            guest.futex_wait(DATA, || waits.fetch_add(1, Ordering::Relaxed) == 0, None);
            guest.compute(Cycles(100_000_000));
        } else {
            while waits.load(Ordering::Relaxed) == 0 {
                guest.compute(Cycles(10_000));
                guest.yield_now();
            }
            guest.futex_wake(DATA, 1);
            guest.is_at(Place(20));
            for _ in 0..4_000 {
                guest.compute(Cycles(10_000));
                guest.catch_up();
            }
        }
    });
    check(&chain, &outcome);
    let of = |how, waker| {
        let over = HandOver { how, waiter: Place(11), waker };
        chain.parts.iter().find(|share| share.part == ChainPart::HandOver(over))
    };
    let core = of(Waits::Core, Place(20)).expect("it gets the core");
    assert!(core.count >= 1 && core.time < Cycles(1_000_000), "{chain:?}");
    assert!(of(Waits::Woken, Place(12)).is_none(), "{chain:?}");
}

#[test]
fn each_wait_of_several_has_the_event_that_ended_it() {
    // One that spins is looked after by two writers. What the first has written is not enough.
    let (chain, outcome) = joined(4, 3, |guest, index| {
        guest.is_at(Place(10 + index));
        match index {
            1 => {
                guest.refer(DATA, GuestAccess::Load);
                for _ in 0..2 {
                    assert!(guest.spin_on(DATA, Cycles(100_000_000)));
                    guest.refer(DATA, GuestAccess::Load);
                }
                guest.compute(Cycles(500_000));
            }
            _ => {
                guest.compute(Cycles(1_000_000 * (index - 1)));
                guest.catch_up();
                guest.refer(DATA, GuestAccess::Store);
            }
        }
    });
    check(&chain, &outcome);
    let over = HandOver { how: Waits::Written, waiter: Place(11), waker: Place(13) };
    let last = chain.parts.iter().find(|share| share.part == ChainPart::HandOver(over));
    assert_eq!(last.map(|share| share.count), Some(1), "{chain:?}");
    assert_eq!(time(&chain, |part| *part == ChainPart::Thread(TaskId(2))), 0, "{chain:?}");
    assert!(time(&chain, |part| *part == ChainPart::Thread(TaskId(3))) >= 2_000_000, "{chain:?}");
}
