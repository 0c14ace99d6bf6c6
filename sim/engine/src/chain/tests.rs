//! What chains consist of.

use super::*;

/// Two tasks hand the turn over to each other so often, and each computes 10 and takes 1 to begin.
fn turns(many: u64) -> Chains {
    let mut chains = Chains::new();
    let none = TaskTimes::default();
    let tasks = [TaskId(0), TaskId(1)];
    chains.know(tasks[1], Cycles(0));
    chains.run(tasks[0], Cycles(0), &none);
    let mut now = Cycles(0);
    for turn in 0..many {
        let (own, other) = ((turn % 2) as usize, ((turn + 1) % 2) as usize);
        now += Cycles(10);
        chains.sample(tasks[own], Place(1 + own as u64));
        chains.end_wait(tasks[other], Waits::Woken, tasks[own], now, &none);
        chains.stop(tasks[own], Stop::Asleep, now, &none);
        now += Cycles(1);
        chains.run(tasks[other], now, &none);
    }
    chains
}

#[test]
fn a_chain_of_many_turns_has_all_of_them_and_few_links() {
    let chains = turns(100_000);
    let chain = chains.of(TaskId(0), Cycles(1_100_000), &TaskTimes::default());
    let time = |part: ChainPart| {
        let share = chain.parts.iter().find(|share| share.part == part);
        share.map_or(0, |share| share.time.0)
    };
    assert_eq!(time(ChainPart::Computing(Place(1))), 500_000);
    assert_eq!(time(ChainPart::Computing(Place(2))), 500_000);
    assert_eq!(time(ChainPart::Thread(TaskId(1))), 500_000);
    let how = Waits::Woken;
    let over = HandOver { how, waiter: Place::OTHER, waker: Place::OTHER };
    assert_eq!(time(ChainPart::HandOver(over)), 100_000);
    assert!(chains.links.len() < 300, "{}", chains.links.len());
}

#[test]
fn times_of_more_places_than_are_told_apart_are_kept() {
    let mut chains = Chains::new();
    chains.know(TaskId(0), Cycles(0));
    let mut times = TaskTimes::default();
    chains.run(TaskId(0), Cycles(0), &times);
    let mut now = Cycles(0);
    for place in 1..=5_000 {
        chains.tell(TaskId(0), Place(place), &times);
        times.add(crate::outcome::Activity::Stalled, Cycles(place));
        now += Cycles(place);
    }
    let chain = chains.of(TaskId(0), now, &times);
    let stalled = |share: &&ChainShare| matches!(share.part, ChainPart::Lines(_));
    let all: u64 = chain.parts.iter().filter(stalled).map(|share| share.time.0).sum();
    assert_eq!(all, now.0);
    assert!(chain.parts.len() <= 1_100, "{}", chain.parts.len());
    assert_eq!(chain.parts[0].part, ChainPart::Thread(TaskId(0)));
    assert_eq!(chain.parts[1].part, ChainPart::Lines(Place::OTHER));
}

/// One that computes, and is put off by one that sleeps and now and then takes its core for a moment.
#[test]
fn a_task_that_wakes_from_a_sleep_and_takes_the_core_is_not_what_bounds_the_run() {
    let mut chains = Chains::new();
    let none = TaskTimes::default();
    let [worker, sleeper] = [TaskId(0), TaskId(1)];
    chains.know(sleeper, Cycles(0));
    chains.run(worker, Cycles(0), &none);
    chains.stop(sleeper, Stop::Asleep, Cycles(0), &none);
    let mut now = Cycles(0);
    for _ in 0..10 {
        now += Cycles(100);
        chains.sample(worker, Place(1));
        chains.ready(sleeper, now);
        chains.stop(worker, Stop::Ready, now, &none);
        chains.run(sleeper, now, &none);
        now += Cycles(5);
        chains.stop(sleeper, Stop::Asleep, now, &none);
        chains.pass_core(worker, sleeper, now, &none);
        chains.run(worker, now, &none);
    }
    let chain = chains.of(worker, now, &none);
    let time = |part: ChainPart| {
        let share = chain.parts.iter().find(|share| share.part == part);
        share.map_or(0, |share| share.time.0)
    };
    assert_eq!(time(ChainPart::Computing(Place(1))), 1_000);
    let over = HandOver { how: Waits::Core, waiter: Place::OTHER, waker: Place::OTHER };
    assert_eq!(time(ChainPart::HandOver(over)), 50);
    assert_eq!(time(ChainPart::Asleep(Place::OTHER)), 0);
}
