//! Made traces.

use kilocore_page_trace::{
    About, Cpu, Event, EventKind, Held, Nanoseconds, Order, Page, Thread, Trace, Writer,
};
use proptest::prelude::*;

/// What an event is made of: how much later it is, where, who, what, and of which block.
type Step = ((u64, u32, u32), (bool, u32, u8), (bool, bool));

fn step() -> impl Strategy<Value = Step> {
    let time = prop_oneof![9 => 0u64..5_000, 1 => 0u64..1 << 40];
    let page = prop_oneof![3 => 0u32..64, 1 => 0u32..Page::MOST];
    let order = prop_oneof![3 => Just(0u8), 1 => 0u8..=10];
    ((time, 0u32..5, 0u32..9), (any::<bool>(), page, order), any::<(bool, bool)>())
}

/// The steps that can happen, as events.
pub(crate) fn events(steps: Vec<Step>) -> Vec<Event> {
    let (mut held, mut at) = (Held::default(), 0);
    let mut events = Vec::new();
    for ((later, cpu, thread), (takes, page, order), (zeroed, movable)) in steps {
        at += later;
        let order = Order::new(order).expect("an order");
        let page = Page(page / order.pages() * order.pages());
        let kind = if takes {
            EventKind::Allocate { page, order, zeroed, movable }
        } else {
            EventKind::Release { page, order }
        };
        let event = Event { at: Nanoseconds(at), cpu: Cpu(cpu), thread: Thread(thread), kind };
        if held.apply(&event).is_ok() {
            events.push(event);
        }
    }
    events
}

pub(crate) fn some_events() -> impl Strategy<Value = Vec<Event>> {
    proptest::collection::vec(step(), 0..400).prop_map(events)
}

/// Something to say of a trace.
pub(crate) fn about() -> About {
    About {
        command: vec!["some program".to_owned(), "--fast".to_owned()],
        kernel: "6.1".to_owned(),
        cpus: 5,
        page_bytes: 4096,
        not_covered: vec!["what others do".to_owned()],
        ..About::default()
    }
}

/// A trace of these events, as a file has it.
pub(crate) fn packed(events: &[Event]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("made.pages");
    let mut writer = Writer::create(&path).expect("there is room");
    events.iter().for_each(|event| writer.push(*event).expect("it can happen"));
    writer.finish(about()).expect("there is room");
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1, "only the trace is left");
    std::fs::read(path).expect("it was written")
}

/// Many events, of more than a packet: pages are taken and given back in turn.
pub(crate) fn many() -> Vec<Event> {
    let steps = (0..800_000_u32).map(|index| {
        let page = index.wrapping_mul(2_654_435_761) % 5_000;
        (
            (u64::from(index % 977), index / 64 % 3, index / 7 % 4),
            (index % 3 != 0, page, 0),
            (true, true),
        )
    });
    events(steps.collect())
}

/// Reads a trace from bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<Trace, String> {
    Trace::read_from(bytes).map_err(|error| error.to_string())
}
