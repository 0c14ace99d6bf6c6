//! Whatever a program does, each reference is paid for once.

use kilocore_placement::advice::Placement;
use kilocore_placement::{
    Balanced, BalancedOptions, Memory, Never, Options, PageSize, Start, Streamed,
};
use kilocore_references::{
    Backing, Block, Burst, Callers, Event, EventKind, Instructions, Mapping, Move, PageNumber,
    ThreadId,
};
use proptest::prelude::*;

use crate::advice::stream::{Stream, region};

const NODES: u32 = 3;

fn event_kind() -> impl Strategy<Value = EventKind> {
    let region = || (0_u64..40, 0_u64..10).prop_map(|(first, pages)| region(first, pages));
    let backing = prop_oneof![
        Just(Backing::Anonymous),
        Just(Backing::Heap),
        Just(Backing::Unknown),
        "/[ab]".prop_map(|path| Backing::File(path.into())),
    ];
    let mapping = (region(), backing).prop_map(|(region, backing)| Mapping {
        region,
        backing,
        shared: false,
        callers: Callers::default(),
    });
    let block = (0_u64..300_000, 0_u64..50_000, 1_u64..4).prop_map(|(address, bytes, caller)| {
        let callers = Callers::new(&[caller, 9]);
        EventKind::Allocated(Box::new(Block { address, bytes, callers }))
    });
    // What the system moves does not overlap.
    let moved = (region(), region()).prop_map(|(from, mut to)| {
        to.first.0 += 60;
        EventKind::Moved(Box::new(Move { from, to }))
    });
    prop_oneof![
        20 => (0_u64..70, 0_u32..300, 0_u32..30).prop_map(|(page, reads, writes)| {
            EventKind::Burst(Burst { page: PageNumber(page), reads, writes })
        }),
        2 => mapping.prop_map(|mapping| EventKind::Mapped(Box::new(mapping))),
        1 => region().prop_map(EventKind::Unmapped),
        1 => region().prop_map(EventKind::Discarded),
        1 => moved,
        2 => block,
        1 => (0_u64..300_000).prop_map(EventKind::Freed),
    ]
}

proptest! {
    #[test]
    fn the_costs_of_all_mappings_are_those_of_the_memories(
        events in prop::collection::vec((0..NODES, event_kind()), 0..300),
    ) {
        let options = Options::lee_and_cho(NODES);
        let in_turn = Options { start: Start::RoundRobin, ..options.clone() };
        let balanced = Balanced::new(BalancedOptions::default());
        let mut plain = Streamed::new(vec![
            Memory::new(options.clone(), Box::new(Never)).expect("sensible").with_optimum(),
            Memory::new(in_turn, Box::new(Never)).expect("sensible"),
            Memory::new(options, Box::new(balanced)).expect("sensible"),
        ], PageSize::SMALL).expect("large enough");
        let mut stream = Stream::on(NODES);
        for (thread, kind) in events {
            let event = Event { at: Instructions(0), thread: ThreadId(thread), kind };
            plain.take(&event);
            stream.0.take(&event);
        }
        let advice = stream.advice();
        let memories: Vec<&Memory> = plain.memories().collect();
        let cycles = |index: usize| memories[index].account().cycles;
        let cost = |placement| advice.costs.of(placement).0;
        prop_assert_eq!(cost(Placement::FirstTouch), cycles(0));
        prop_assert_eq!(cost(Placement::Interleaved), cycles(1));
        prop_assert_eq!(cost(Placement::Replicated), cycles(2));
        prop_assert_eq!(Some(cost(Placement::Optimum)), memories[0].optimum().map(|it| it.0));
        prop_assert!(cost(Placement::Moved) <= cost(Placement::FirstTouch));
        let account = memories[0].account();
        prop_assert_eq!(advice.references(), account.references());
        let remote: u64 = advice.mappings.iter().map(|row| row.remote).sum();
        prop_assert_eq!(remote, account.remote_reads + account.remote_writes);
        prop_assert_eq!(advice.loads.iter().sum::<u64>(), account.references());
    }
}
