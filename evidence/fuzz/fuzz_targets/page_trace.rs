//! Traces of pages, packed and as text: what is read is written and read again. Packets have a
//! checksum, which no chance finds, so bytes are also packed here as the events of a file.
#![no_main]

use kilocore_page_trace::{About, Contents, Header, Summary, Trace, write_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if let Some((&[low, high, pages], columns)) = bytes.split_first_chunk() {
        let count = u16::from_le_bytes([low, high]);
        let contents =
            Contents { events: count.into(), pages: pages.into(), ..Contents::default() };
        let header = Header { about: About::default(), contents };
        let header = serde_json::to_vec(&header).expect("it is written");
        let mut file = b"KC-PAGES\x01\0\0\0".to_vec();
        packet(&mut file, 1, &header);
        packet(&mut file, count.into(), columns);
        check(&file);
    }
});

fn packet(file: &mut Vec<u8>, count: u32, raw: &[u8]) {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(raw.len()));
    zstd_safe::compress(&mut packed, raw, 1).expect("there is room");
    for number in [count, raw.len() as u32, packed.len() as u32] {
        file.extend(number.to_le_bytes());
    }
    file.extend(packed);
}

fn check(bytes: &[u8]) {
    let Ok(trace) = Trace::read_from(bytes) else { return };
    let summary = Summary::of(trace.events.iter().copied().map(Ok::<_, ()>)).expect("no errors");
    assert_eq!(summary.held_at_end, trace.header.contents.held_at_end);
    let mut text = Vec::new();
    write_text(&mut text, &trace.header, trace.events.iter().copied()).expect("there is room");
    assert!(Trace::read_from(&text[..]).expect("what was accepted is accepted again") == trace);
}
