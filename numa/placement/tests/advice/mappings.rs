//! Which mapping a reference belongs to.

use kilocore_placement::advice::MemoryKind;
use kilocore_references::{Backing, EventKind, Move};

use crate::advice::stream::{Stream, named, region};

fn file(path: &str) -> Backing {
    Backing::File(path.into())
}

/// The reads of each row, by name.
fn reads(stream: Stream) -> Vec<(String, u64)> {
    let advice = stream.advice();
    let mut reads: Vec<(String, u64)> =
        advice.mappings.iter().map(|row| (row.kind.to_string(), row.reads)).collect();
    reads.sort();
    reads
}

fn are(found: Vec<(String, u64)>, expected: &[(&str, u64)]) {
    let found: Vec<(&str, u64)> = found.iter().map(|(name, reads)| (&**name, *reads)).collect();
    assert_eq!(found, expected);
}

#[test]
fn zeroed_data_is_told_from_the_file_and_from_other_memory() {
    let mut stream = Stream::on(2);
    stream.map(10, 4, file("/bin/x"));
    stream.map(14, 2, Backing::Anonymous); // right behind it, at the beginning
    stream.map(20, 8, file("/lib/y"));
    stream.refer(0, 10, 1, 0);
    stream.refer(0, 14, 2, 0);
    stream.map(26, 4, Backing::Anonymous); // in the place of its end
    stream.refer(0, 26, 4, 0);
    stream.refer(0, 20, 8, 0);
    stream.map(30, 4, file("/data"));
    stream.map(34, 2, Backing::Anonymous); // by chance
    stream.refer(0, 34, 16, 0);
    are(
        reads(stream),
        &[
            ("/bin/x", 1),
            ("/bin/x, zeroed data", 2),
            ("/lib/y", 8),
            ("/lib/y, zeroed data", 4),
            ("anonymous #1, 8 KiB", 16),
        ],
    );
}

#[test]
fn a_mapping_that_is_gone_keeps_what_it_had() {
    let mut stream = Stream::on(2);
    stream.map(10, 1, Backing::Anonymous);
    stream.refer(0, 10, 20, 0);
    stream.unmap(10, 1);
    stream.map(10, 1, Backing::Anonymous);
    stream.refer(1, 10, 30, 0);
    let advice = stream.advice();
    let (first, second) =
        (named(&advice, "anonymous #1, 4 KiB"), named(&advice, "anonymous #2, 4 KiB"));
    assert_eq!((first.reads, first.mapped, first.remote), (20, false, 0));
    assert_eq!((second.reads, second.mapped, second.remote), (30, true, 0), "it is a new page");
}

#[test]
fn memory_that_moves_stays_what_it_is() {
    let mut stream = Stream::on(2);
    stream.map(10, 2, Backing::Anonymous);
    stream.map(12, 2, Backing::Heap);
    stream.refer(0, 11, 1, 0);
    stream.take(0, EventKind::Moved(Box::new(Move { from: region(10, 4), to: region(50, 6) })));
    stream.refer(0, 51, 2, 0);
    stream.refer(0, 52, 4, 0);
    stream.refer(0, 55, 8, 0); // new, at the end
    stream.refer(0, 11, 16, 0); // nothing is there any more
    are(
        reads(stream),
        &[("[heap]", 12), ("anonymous #1, 8 KiB", 3), ("memory of no known mapping", 16)],
    );
}

#[test]
fn pages_that_were_given_back_count_anew() {
    let mut stream = Stream::on(2);
    stream.map(10, 4, Backing::Heap);
    stream.refer(0, 10, 10, 0);
    stream.take(0, EventKind::Discarded(region(10, 4)));
    stream.refer(1, 10, 10, 0);
    let advice = stream.advice();
    let heap = named(&advice, "[heap]");
    assert_eq!((heap.touched_bytes, heap.remote, heap.nodes), (8192, 0, 2));
}

#[test]
fn references_that_are_none_do_not_touch_a_page() {
    let mut stream = Stream::on(2);
    stream.refer(1, 10, 0, 0);
    stream.map(10, 1, Backing::Heap);
    stream.refer(1, 10, 0, 0);
    stream.refer(0, 10, 10, 0);
    let advice = stream.advice();
    assert_eq!(advice.mappings.len(), 1);
    assert_eq!((advice.mappings[0].remote, advice.mappings[0].touched_bytes), (0, 4096));
}

#[test]
fn many_short_mappings_share_a_row() {
    let mut stream = Stream::on(2);
    for _ in 0..10_000 {
        stream.map(10, 4, Backing::Anonymous);
        stream.refer(0, 10, 0, 1);
        stream.refer(1, 10, 3, 0);
        stream.unmap(10, 4);
    }
    let advice = stream.advice();
    assert_eq!(advice.mappings.len(), 33);
    let others = named(&advice, "other anonymous, 16 KiB to 32 KiB");
    assert_eq!(others.kind, MemoryKind::OtherAnonymous { from_bytes: 16384 });
    assert_eq!((others.mappings, others.reads), (10_000 - 32, 3 * (10_000 - 32)));
    assert_eq!(advice.references(), 40_000);
}
