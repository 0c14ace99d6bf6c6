//! The sweep against the definition, evaluated nanosecond by nanosecond.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;

use crate::{WaitedFor, WordKind};
use proptest::prelude::*;

use super::{Weight, graph};
use crate::thread_account::holders::holds;
use crate::thread_account::kept::{Activity, Begin, ThreadIndex, Turn, Wait, Window, WordIndex};

const THREADS: u32 = 6;
const WORDS: u32 = 3;
const END: u64 = 40;

type Edges = BTreeMap<(u32, WaitedFor, WordIndex), Weight>;
type Ends = BTreeMap<(WaitedFor, Activity), Nanoseconds>;

/// Two threads a role, and the last thread is of another program.
fn party(thread: ThreadIndex) -> WaitedFor {
    if thread.0 == THREADS { WaitedFor::Outside } else { WaitedFor::Role(thread.0 / 2) }
}

/// For whom a wait is at a moment, and whether its word says that.
fn target(window: &Window, wait: &Wait, now: u64) -> Option<ThreadIndex> {
    let turns: Vec<Turn> =
        window.turns.iter().filter(|turn| turn.word == wait.word).copied().collect();
    let holds = holds(&turns, false, 0, END);
    let others = holds.iter().filter(|hold| {
        hold.thread != wait.thread && hold.from < wait.until && hold.until > wait.from
    });
    match others.map(|hold| hold.from).min() {
        Some(since) if now >= since => {
            let now =
                |hold: &&crate::thread_account::holders::Hold| hold.from <= now && now < hold.until;
            holds.iter().find(now).map(|hold| hold.thread)
        }
        _ => wait.waker,
    }
}

/// What a thread does at a moment.
fn doing(window: &Window, thread: ThreadIndex, now: u64) -> Activity {
    let begun = window.begins.iter().filter(|begin| begin.thread == thread && begin.at <= now);
    begun.max_by_key(|begin| begin.at).map(|begin| begin.doing).unwrap_or_default()
}

/// The graph by its definition, if no chain is a circle.
fn by_definition(window: &Window) -> (Edges, Ends) {
    let (mut edges, mut ends) = (Edges::new(), Ends::new());
    for now in 0..END {
        let waiting: BTreeMap<ThreadIndex, &Wait> = window
            .waits
            .iter()
            .filter(|wait| wait.from <= now && now < wait.until)
            .map(|wait| (wait.thread, wait))
            .collect();
        for &thread in waiting.keys() {
            let mut at = thread;
            let end = loop {
                let Some(wait) = waiting.get(&at) else {
                    break (party(at), doing(window, at, now));
                };
                let next = target(window, wait, now);
                let to = next.map_or(WaitedFor::Unknown, party);
                let WaitedFor::Role(from) = party(at) else { panic!("only the program waits") };
                let edge = edges.entry((from, to, wait.word)).or_default();
                edge.direct.0 += u64::from(at == thread);
                edge.in_all.0 += 1;
                match next {
                    Some(next) => at = next,
                    None => break (WaitedFor::Unknown, Activity::Unknown),
                }
            };
            ends.entry(end).or_default().0 += 1;
        }
    }
    (edges, ends)
}

/// Waits of each thread, one after the other. Everybody waits for threads of higher numbers only, so
/// that there is no circle; a lock's holders have higher numbers than its waiters.
fn window() -> impl Strategy<Value = Window> {
    let wait = (0..8_u64, 0..12_u64, 0..WORDS, proptest::option::of(1..=THREADS));
    let waits = proptest::collection::vec(proptest::collection::vec(wait, 0..4), 3);
    let turn = (0..END, 0..WORDS, 3..THREADS, any::<bool>());
    let upper = (0..8_u64, 0..12_u64, WORDS..=WORDS, Just(Some(THREADS)));
    let upper = proptest::collection::vec(proptest::collection::vec(upper, 0..4), 3);
    let doing =
        prop_oneof![Just(Activity::Computing), Just(Activity::Ready), Just(Activity::Asleep)];
    let begins = proptest::collection::btree_map((0..THREADS, 0..END), doing, 0..12);
    let turns = proptest::collection::vec(turn, 0..12);
    (waits, upper, turns, begins).prop_map(|(waits, upper, turns, begins)| {
        let mut window = Window { from: 0, until: END, ..Window::default() };
        for (thread, waits) in waits.into_iter().chain(upper).enumerate() {
            let (thread, mut at) = (thread as u32, 0);
            for (pause, length, word, waker) in waits {
                let from = (at + pause).min(END);
                let until = (from + length).min(END);
                at = until;
                let waker = waker.filter(|&waker| waker > thread).map(ThreadIndex);
                let (thread, word) = (ThreadIndex(thread), WordIndex(word));
                window.waits.push(Wait { thread, word, from, until, waker });
            }
        }
        for (at, word, thread, acquired) in turns {
            let (word, thread) = (WordIndex(word), ThreadIndex(thread));
            window.turns.push(Turn { word, thread, at, acquired });
        }
        window.turns.sort_by_key(|turn| turn.at);
        for ((thread, at), doing) in begins {
            window.begins.push(Begin { at, thread: ThreadIndex(thread), doing });
        }
        window
    })
}

fn swept(window: &Window, kinds: &[WordKind]) -> super::Graph {
    let parties: Vec<WaitedFor> = (0..=THREADS).map(|thread| party(ThreadIndex(thread))).collect();
    graph(std::slice::from_ref(window), &parties, kinds)
}

proptest! {
    #[test]
    fn the_sweep_is_what_the_definition_says(window in window()) {
        let graph = swept(&window, &[WordKind::Lock; WORDS as usize + 1]);
        let (edges, ends) = by_definition(&window);
        prop_assert_eq!(graph.edges, edges);
        prop_assert_eq!(graph.ends, ends);
    }

    #[test]
    fn circles_lose_no_time(
        waits in proptest::collection::vec((0..THREADS, 0..=THREADS, 0..WORDS, 0..END, 0..END), 0..20),
        turns in proptest::collection::vec((0..END, 0..WORDS, 0..THREADS, any::<bool>()), 0..20),
    ) {
        let mut window = Window { from: 0, until: END, ..Window::default() };
        let mut last = [0; THREADS as usize];
        for (thread, waker, word, a, b) in waits {
            // A thread has one wait at a time.
            let from = a.min(b).max(last[thread as usize]);
            let until = a.max(b).max(from);
            last[thread as usize] = until;
            let (thread, waker) = (ThreadIndex(thread), Some(ThreadIndex(waker)));
            window.waits.push(Wait { thread, word: WordIndex(word), from, until, waker });
        }
        for (at, word, thread, acquired) in turns {
            let (word, thread) = (WordIndex(word), ThreadIndex(thread));
            window.turns.push(Turn { word, thread, at, acquired });
        }
        window.turns.sort_by_key(|turn| turn.at);
        let graph = swept(&window, &[WordKind::Lock; WORDS as usize]);
        let waited = Nanoseconds(window.waits.iter().map(|wait| wait.until - wait.from).sum());
        let direct: Nanoseconds = graph.edges.values().map(|weight| weight.direct).sum();
        prop_assert_eq!(direct, waited);
        prop_assert_eq!(graph.ends.values().copied().sum::<Nanoseconds>(), waited);
    }
}

#[test]
fn ten_thousand_waiters_of_a_busy_lock_cost_little() {
    // Every microsecond the lock goes to the next thread, while all others wait for it.
    let (threads, turns) = (10_000_u32, 100_000_u64);
    let end = turns * 1_000;
    let wait = |thread| Wait {
        thread: ThreadIndex(thread),
        word: WordIndex(0),
        from: 0,
        until: end,
        waker: None,
    };
    let turn = |turn: u64| Turn {
        word: WordIndex(0),
        thread: ThreadIndex(threads + (turn % 2) as u32),
        at: turn * 1_000,
        acquired: true,
    };
    let window = Window {
        from: 0,
        until: end,
        waits: (0..threads).map(wait).collect(),
        turns: (0..turns).map(turn).collect(),
        begins: vec![Begin { at: 0, thread: ThreadIndex(threads), doing: Activity::Computing }],
    };
    let mut parties = vec![WaitedFor::Role(0); threads as usize];
    parties.extend([WaitedFor::Role(1), WaitedFor::Role(2)]);
    let graph = graph(&[window], &parties, &[WordKind::Lock]);
    let half = Nanoseconds(u64::from(threads) * end / 2);
    assert_eq!(graph.ends[&(WaitedFor::Role(1), Activity::Computing)], half);
    assert_eq!(graph.ends[&(WaitedFor::Role(2), Activity::Unknown)], half);
}
