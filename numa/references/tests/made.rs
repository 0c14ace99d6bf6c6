//! Made streams.

use kilocore_references::{
    About, Backing, Block, Burst, Callers, Contents, Ending, Event, EventKind, Instructions,
    Mapping, Move, PageNumber, ReadError, Reader, Region, ThreadId, Writer,
};
use proptest::prelude::*;

pub(crate) fn about() -> About {
    About {
        command: vec!["xz".into(), "-T4".into()],
        quantum: 2_000,
        page_bytes: 4_096,
        cpus: 2,
        ..About::default()
    }
}

fn a_region() -> impl Strategy<Value = Region> {
    (0..PageNumber::END)
        .prop_flat_map(|first| (Just(first), 0..=PageNumber::END - first))
        .prop_map(|(first, pages)| Region { first: PageNumber(first), pages })
}

pub(crate) fn a_backing() -> impl Strategy<Value = Backing> {
    prop_oneof![
        Just(Backing::Anonymous),
        Just(Backing::Heap),
        Just(Backing::Stack),
        Just(Backing::Unknown),
        "/[^\0]{0,40}".prop_map(|name| Backing::File(name.into())),
    ]
}

pub(crate) fn some_callers() -> impl Strategy<Value = Callers> {
    prop::collection::vec(1..u64::MAX, 0..=Callers::MOST).prop_map(|all| Callers::new(&all))
}

pub(crate) fn an_event_kind() -> impl Strategy<Value = EventKind> {
    let burst =
        (0..PageNumber::END, any::<u32>(), any::<u32>()).prop_map(|(page, reads, writes)| {
            EventKind::Burst(Burst { page: PageNumber(page), reads, writes })
        });
    let mapping = (a_region(), a_backing(), any::<bool>(), some_callers());
    let mapped = mapping.prop_map(|(region, backing, shared, callers)| {
        // Only of anonymous memory it is told who mapped it.
        let callers = if backing == Backing::Anonymous { callers } else { Callers::default() };
        EventKind::Mapped(Box::new(Mapping { region, backing, shared, callers }))
    });
    let block = (0..u64::MAX / 2, 0..u64::MAX / 2, some_callers());
    let allocated = block.prop_map(|(address, bytes, callers)| {
        EventKind::Allocated(Box::new(Block { address, bytes, callers }))
    });
    prop_oneof![
        8 => burst,
        2 => any::<u32>().prop_map(|instructions| EventKind::Quantum { instructions }),
        1 => mapped,
        1 => allocated,
        1 => any::<u64>().prop_map(EventKind::Freed),
        1 => a_region().prop_map(EventKind::Unmapped),
        1 => a_region().prop_map(EventKind::Discarded),
        1 => (a_region(), a_region()).prop_map(|(from, to)| EventKind::Moved(Box::new(Move { from, to }))),
        1 => prop_oneof![
            Just(EventKind::Started),
            Just(EventKind::Forked),
            Just(EventKind::Replaced),
            Just(EventKind::Ended)
        ],
    ]
}

pub(crate) fn some_events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0..u64::MAX / 2, 0..u32::MAX, an_event_kind()).prop_map(|(at, thread, kind)| {
        Event { at: Instructions(at), thread: ThreadId(thread), kind }
    });
    prop::collection::vec(event, 0..60)
}

/// As a program of four threads does it, in several packets.
pub(crate) fn many() -> Vec<Event> {
    let mut events = Vec::new();
    for round in 0..20_000_u64 {
        let (at, thread) = (Instructions(round / 4 * 2_000), ThreadId((round % 4) as u32));
        for place in 0..8 {
            let page =
                PageNumber(0x7_f000_0000 + ((round % 4) << 12) + (round / 40 + place * place));
            let burst = Burst { page, reads: 40 + (round % 7) as u32, writes: (place % 3) as u32 };
            events.push(Event { at, thread, kind: EventKind::Burst(burst) });
        }
        events.push(Event { at, thread, kind: EventKind::Quantum { instructions: 2_000 } });
    }
    events
}

/// The bytes of a file with these events.
pub(crate) fn packed(events: &[Event]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("made.refs");
    let mut writer = Writer::create(&path, &about()).expect("it can be written there");
    events.iter().for_each(|event| writer.push(event).expect("it is possible"));
    writer.finish(Ending::Exited(0), 3).expect("there is room");
    std::fs::read(&path).expect("it was written")
}

/// All events of a file, and what it says of them.
pub(crate) fn read(bytes: &[u8]) -> Result<(Vec<Event>, Contents), ReadError> {
    let mut reader = Reader::new(bytes)?;
    let events = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((events, *reader.contents().expect("it was read to its end")))
}
