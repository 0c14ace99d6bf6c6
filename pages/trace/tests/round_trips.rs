//! What is written is read.

use kilocore_page_trace::{
    Cpu, Event, EventKind, Nanoseconds, Order, Page, Reader, Thread, Trace, WriteError, Writer,
    write_text,
};
use proptest::prelude::*;

use crate::made::{about, many, packed, read, some_events};

proptest! {
    #[test]
    fn packed_traces_come_back(events in some_events()) {
        let trace = read(&packed(&events)).expect("it was written");
        prop_assert_eq!(&trace.events, &events);
        prop_assert_eq!(&trace.header.about, &about());
        let allocations = |event: &&Event| matches!(event.kind, EventKind::Allocate { .. });
        let contents = trace.header.contents;
        prop_assert_eq!(contents.events, events.len() as u64);
        prop_assert_eq!(contents.allocations as usize, events.iter().filter(allocations).count());
        let threads = events.iter().map(|event| event.thread.0 + 1).max().unwrap_or(0);
        prop_assert_eq!(contents.threads, threads);
    }

    #[test]
    fn traces_come_back_from_text(events in some_events()) {
        let trace = read(&packed(&events)).expect("it was written");
        let mut text = Vec::new();
        write_text(&mut text, &trace.header, trace.events.iter().copied()).expect("there is room");
        prop_assert_eq!(text.split(|byte| *byte == b'\n').count(), events.len() + 2);
        prop_assert_eq!(read(&text), Ok(trace));
    }
}

#[test]
fn traces_of_several_packets_come_back_and_are_small() {
    let events = many();
    assert!(events.len() > 1 << 18, "{} events", events.len());
    let bytes = packed(&events);
    assert_eq!(read(&bytes).expect("it was written").events, events);
    let mut reader = Reader::new(&bytes[..]).expect("it was written");
    assert_eq!(reader.header().contents.events, events.len() as u64);
    assert!(reader.by_ref().all(|event| event.is_ok()) && reader.next().is_none());
    assert!(bytes.len() < 5 * events.len(), "{} bytes for {} events", bytes.len(), events.len());
}

#[test]
fn a_trace_is_written_again_as_it_was() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("again.pages");
    let bytes = packed(&many());
    read(&bytes).expect("it was written").write(&path).expect("there is room");
    assert_eq!(std::fs::read(&path).expect("it was written"), bytes);
    assert_eq!(Trace::read(&path).map_err(|error| error.to_string()), read(&bytes));
}

#[test]
fn what_no_trace_may_have_is_not_written() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("none.pages");
    let mut writer = Writer::create(&path).expect("there is room");
    let event =
        |at, cpu, kind| Event { at: Nanoseconds(at), cpu: Cpu(cpu), thread: Thread(1), kind };
    let block = |page| EventKind::Release { page: Page(page), order: Order::SINGLE };
    let taken =
        EventKind::Allocate { page: Page(3), order: Order::SINGLE, zeroed: true, movable: false };
    writer.push(event(7, 0, taken)).expect("it can happen");
    let refused = |result: Result<(), WriteError>| result.expect_err("it cannot").to_string();
    assert!(refused(writer.push(event(7, 0, taken))).contains("event 2 allocates pages"));
    assert!(refused(writer.push(event(7, 0, block(4)))).contains("event 2 releases pages"));
    assert!(refused(writer.push(event(6, 0, block(3)))).contains("older"));
    assert!(refused(writer.push(event(8, u32::MAX, block(3)))).contains("beyond"));
    assert_eq!((writer.events(), writer.held().pages()), (1, 1));
    drop(writer);
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left behind");
    let nowhere = Writer::create(folder.path().join("missing/x")).expect_err("no such folder");
    assert!(nowhere.to_string().contains("missing/x") && nowhere.to_string().contains("room"));
    assert!(Writer::create(folder.path()).is_err(), "a folder is no file");
}
