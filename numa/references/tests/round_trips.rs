//! What is written is read.

use kilocore_references::record::{MOST_MORE, Record};
use kilocore_references::{
    Backing, Callers, Ending, Event, EventKind, Mapping, PageNumber, Reader, Region, ThreadId,
    WriteError, Writer,
};
use proptest::prelude::*;

use crate::made::{about, an_event_kind, many, packed, read, some_events};

proptest! {
    #[test]
    fn traces_come_back(events in some_events()) {
        let (back, contents) = read(&packed(&events)).expect("it was written");
        prop_assert_eq!(&back, &events);
        prop_assert_eq!(contents.events, events.len() as u64);
        prop_assert_eq!((contents.ending, contents.threads_unrecorded), (Ending::Exited(0), 3));
        let threads = events.iter().map(|event| event.thread.0 + 1).max().unwrap_or(0);
        prop_assert_eq!(contents.threads, threads);
    }

    #[test]
    fn records_come_back(kind in an_event_kind(), number: u64) {
        let record = match kind {
            EventKind::Burst(burst) => Record::Burst(burst),
            EventKind::Quantum { instructions } => Record::Quantum(instructions),
            EventKind::Mapped(mapping) => Record::Mapped(number, mapping),
            EventKind::Unmapped(region) => Record::Unmapped(number, region),
            EventKind::Discarded(region) => Record::Discarded(number, region),
            EventKind::Moved(it) => Record::Moved(number, it),
            EventKind::Allocated(block) => Record::Allocated(number, block),
            EventKind::Freed(address) => Record::Freed(number, address),
            EventKind::Started => Record::Started(ThreadId(number as u32)),
            EventKind::Forked => Record::Forked,
            EventKind::Replaced => Record::Replaced(format!("/bin/{number}").into()),
            _ => Record::Ended,
        };
        let mut slots = Vec::new();
        record.encode(|slot| slots.push(slot));
        // A page of 52 bits is cut off where a region begins behind the last one.
        if let Record::Mapped(_, it) = &record
            && it.region.first.0 == PageNumber::END
        {
            return Ok(());
        }
        prop_assert_eq!(Record::decode(&slots), Some(record));
        prop_assert_eq!(Record::decode(&slots[..slots.len() - 1]), None);
    }

    #[test]
    fn any_slots_are_a_record_or_none(slots: Vec<[u64; 2]>) {
        let _ = Record::decode(&slots);
    }
}

#[test]
fn traces_of_several_packets_come_back_and_are_small() {
    let events = many();
    assert!(events.len() > 2 << 16, "{} events", events.len());
    let bytes = packed(&events);
    assert_eq!(read(&bytes).expect("it was written").0, events);
    assert_eq!(Reader::new(&bytes[..]).expect("it was written").about(), &about());
    assert!(bytes.len() < events.len(), "{} bytes for {} events", bytes.len(), events.len());
}

#[test]
fn the_end_of_a_long_name_is_kept() {
    let long = format!("{}/the-file", "ä/".repeat(700));
    let region = Region::of_bytes(0x5000, 1);
    let mapping = Mapping {
        region,
        backing: Backing::File(long.into()),
        shared: true,
        callers: Callers::default(),
    };
    let mut slots = Vec::new();
    Record::Mapped(7, Box::new(mapping)).encode(|slot| slots.push(slot));
    assert!(slots.len() <= 1 + MOST_MORE);
    let Some(Record::Mapped(7, back)) = Record::decode(&slots) else { panic!("it is a mapping") };
    let Backing::File(name) = back.backing else { panic!("it is a file") };
    assert!(back.shared && name.ends_with("ä//the-file") && name.len() > 980, "{name}");
}

#[test]
fn a_trace_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.refs");
    let mut writer = Writer::create(&path, &about()).expect("it can be written there");
    let beyond = EventKind::Unmapped(Region { first: PageNumber(PageNumber::END), pages: 1 });
    let event = Event { at: Default::default(), thread: ThreadId(0), kind: beyond };
    assert!(matches!(writer.push(&event), Err(WriteError::Beyond { number: 1 })));
    drop(writer);
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    let error = Writer::create(folder.path().join("missing/x"), &about()).expect_err("no folder");
    assert!(error.to_string().contains("missing/x"), "{error}");
    assert!(Writer::create(folder.path(), &about()).is_err());
}
