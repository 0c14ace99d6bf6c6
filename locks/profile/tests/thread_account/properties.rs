//! Any stream of events, in any order.

use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};
use kilocore_lock_profile::{Activities, ThreadTimes, WaitedFor};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Call {
    Begin(u64),
    End(u64),
    Take(Event),
    Quiet(u32, Option<Reason>),
}

fn word() -> impl Strategy<Value = Word> {
    (1..3_u32, 0..6_u64).prop_map(|(space, address)| Word { space, address })
}

fn reason() -> impl Strategy<Value = Reason> {
    prop_oneof![
        Just(Reason::Preempted),
        word().prop_map(Reason::Futex),
        word().prop_map(Reason::Futex),
        Just(Reason::Sleep),
        Just(Reason::Io("read")),
        Just(Reason::End),
        Just(Reason::KernelLock),
        Just(Reason::PageFault),
        Just(Reason::Other("pause")),
        Just(Reason::Unknown),
    ]
}

fn event(moment: impl Strategy<Value = u64>) -> impl Strategy<Value = Event> {
    let what = prop_oneof![
        3 => reason().prop_map(EventKind::Out),
        3 => Just(EventKind::In),
        2 => proptest::option::of(0..10_u32).prop_map(|by| EventKind::Waking { by: by.map(ThreadId) }),
        1 => any::<(bool, bool)>().prop_map(|(kernel, spins)| EventKind::Tick { kernel, spins }),
        1 => word().prop_map(EventKind::Acquired),
        1 => word().prop_map(EventKind::Released),
        1 => Just(EventKind::ContentionBegins),
        1 => Just(EventKind::ContentionEnds),
    ];
    (moment, 0..8_u32, what).prop_map(|(at, thread, what)| Event {
        at: Nanoseconds(at),
        thread: ThreadId(thread),
        what,
    })
}

fn calls(most: u64) -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        1 => (0..=most).prop_map(Call::Begin),
        1 => (0..=most).prop_map(Call::End),
        12 => event(0..=most).prop_map(Call::Take),
        2 => (0..8_u32, proptest::option::of(reason())).prop_map(|(id, r)| Call::Quiet(id, r)),
    ];
    proptest::collection::vec(call, 0..120)
}

fn kind_of(word: Word) -> WordKind {
    match word.address {
        0 => WordKind::Lock,
        1 => WordKind::ReadWriteLock,
        2 => WordKind::Condition,
        3 => WordKind::Barrier,
        4 => WordKind::GlobalInterpreterLock,
        _ => WordKind::Unknown,
    }
}

fn account(calls: &[Call]) -> Account {
    let mut account = Account::new();
    for call in calls {
        match call {
            Call::Begin(at) => account.begin_window(Nanoseconds(*at)),
            Call::End(at) => account.end_window(Nanoseconds(*at)),
            Call::Take(event) => account.take(event),
            Call::Quiet(thread, reason) => account.quiet(ThreadId(*thread), *reason),
        }
    }
    account
}

/// With a role for each thread, so that the times of each can be seen.
fn each_for_itself(calls: &[Call]) -> ThreadTimes {
    let name = |id| ["a", "b", "c", "d", "e", "f", "g", "h"][id as usize].to_owned();
    let thread =
        |id| Thread { id: ThreadId(id), process: 1, name: name(id), function: None, main: id == 0 };
    let threads: Vec<Thread> = (0..8).map(thread).collect();
    account(calls).finish(&threads, &kind_of, &|_| String::new())
}

fn whole(times: &Activities) -> Nanoseconds {
    times.present() + times.absent
}

proptest! {
    #[test]
    fn what_a_thread_did_adds_up_to_the_observed_time(calls in calls(1_000)) {
        let times = each_for_itself(&calls);
        prop_assert_eq!(times.roles.len(), 8);
        for role in &times.roles {
            prop_assert_eq!(whole(&role.times), times.observed, "{:?}", role);
            let waited: Nanoseconds = role.waits.iter().map(|wait| wait.waited).sum();
            prop_assert!(waited <= role.times.waiting());
            let ended = role.times.ends;
            prop_assert!(waited + ended >= role.times.waiting());
        }
    }

    #[test]
    fn waits_are_the_same_seen_from_roles_words_and_edges(calls in calls(1_000)) {
        let times = each_for_itself(&calls);
        let waits = times.roles.iter().flat_map(|role| &role.waits);
        let by_roles: Nanoseconds = waits.map(|wait| wait.waited).sum();
        let by_words: Nanoseconds = times.words.iter().map(|word| word.waited).sum();
        let by_edges: Nanoseconds = times.edges.iter().map(|edge| edge.direct).sum();
        prop_assert_eq!(by_roles, by_words);
        prop_assert_eq!(by_edges, by_words);
        let blamed: Nanoseconds = times.ranking.iter().map(|one| one.waited_for).sum();
        prop_assert!(blamed <= by_edges);
        for one in &times.ranking {
            prop_assert!(one.computing + one.ready + one.asleep <= one.waited_for);
        }
        prop_assert!(times.edges.iter().all(|edge| edge.in_all >= edge.direct));
    }

    #[test]
    fn ids_are_places_and_the_same_input_gives_the_same_document(calls in calls(1_000)) {
        let times = each_for_itself(&calls);
        prop_assert_eq!(&times, &each_for_itself(&calls));
        prop_assert!(times.roles.iter().enumerate().all(|(place, role)| role.id as usize == place));
        prop_assert!(times.words.iter().enumerate().all(|(place, word)| word.id as usize == place));
        for edge in &times.edges {
            prop_assert!((edge.word as usize) < times.words.len());
            if let WaitedFor::Role(to) = edge.to {
                prop_assert!((to as usize) < times.roles.len());
            }
        }
        let text = serde_json::to_string(&times).expect("it can be written");
        prop_assert_eq!(serde_json::from_str::<ThreadTimes>(&text).expect("it can be read"), times);
    }

    #[test]
    fn no_clock_is_too_wild(calls in calls(u64::MAX)) {
        let times = account(&calls).finish(&[], &kind_of, &|_| String::new());
        for share in [times.coverage.unknown_share, times.coverage.unknown_target_share] {
            prop_assert!((0.0..=1.0).contains(&share), "{share}");
        }
        prop_assert!(times.findings.iter().all(|finding| !finding.to_string().is_empty()));
    }
}
