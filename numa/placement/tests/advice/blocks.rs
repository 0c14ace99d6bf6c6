//! Blocks of the program's allocator: whose rows they are, and for how long.
//!
//! Callers of a file that cannot be read are named by their distance from its beginning. A call is taken to
//! be just before the address that it returns to.

use kilocore_placement::advice::{Advice, MemoryKind, Reason, Thresholds, Verdict};
use kilocore_references::{Backing, EventKind, Move};

use crate::advice::stream::{Stream, named, region};

const PAGE: u64 = 4096;
/// The program lies here.
const PROGRAM: u64 = 0x400 * PAGE;
/// The C library lies here.
const LIBC: u64 = 0x800 * PAGE;
/// The library that tells of blocks lies here.
const TELLER: u64 = 0x900 * PAGE;

/// A stream with these, and a heap of 100 pages from page 10 on.
fn stream() -> Stream {
    let mut stream = Stream::on(2);
    let file = |path: &str| Backing::File(path.into());
    stream.map(PROGRAM / PAGE, 16, file("/no/such/program"));
    stream.map(LIBC / PAGE, 16, file("/no/such/libc.so.6"));
    stream.map(TELLER / PAGE, 16, file("/no/such/libkilocore_allocations.so"));
    stream.map(10, 100, Backing::Heap);
    stream
}

/// Allocates as a place of the program does, by way of the libraries.
fn allocate(stream: &mut Stream, address: u64, bytes: u64, place: u64) {
    stream.allocate(address, bytes, &[TELLER + 8, PROGRAM + place, PROGRAM + 0x901, LIBC + 7]);
}

fn reads(advice: &Advice) -> Vec<(String, u64)> {
    let mut reads: Vec<(String, u64)> =
        advice.mappings.iter().map(|row| (row.kind.to_string(), row.reads)).collect();
    reads.sort();
    reads
}

fn are(advice: &Advice, expected: &[(&str, u64)]) {
    let found = reads(advice);
    let found: Vec<(&str, u64)> = found.iter().map(|(name, reads)| (&**name, *reads)).collect();
    assert_eq!(found, expected);
}

const FIRST: &str = "program+0x100 via program+0x900";
const SECOND: &str = "program+0x200 via program+0x900";

#[test]
fn blocks_of_a_place_are_one_row_and_the_rest_is_the_heaps() {
    let mut stream = stream();
    allocate(&mut stream, 20 * PAGE + 16, 2 * PAGE, 0x101);
    allocate(&mut stream, 30 * PAGE + 16, 3 * PAGE, 0x101);
    allocate(&mut stream, 40 * PAGE + 16, PAGE, 0x201);
    for (page, reads) in [(20, 1), (21, 2), (30, 4), (32, 8), (40, 16), (22, 32), (33, 64)] {
        stream.refer(0, page, reads, 0);
    }
    let advice = stream.advice();
    are(&advice, &[(SECOND, 16), ("[heap], the rest", 96), (FIRST, 15)].map_sorted());
    let row = named(&advice, FIRST);
    assert_eq!((row.mappings, row.smallest, row.largest), (2, 2 * PAGE, 3 * PAGE));
    assert!(row.mapped);
    assert_eq!(row.touched_bytes, 4 * PAGE);
    let MemoryKind::Allocated(site) = &row.kind else { panic!("{:?}", row.kind) };
    let offsets: Vec<u64> = site.frames().iter().map(|frame| frame.offset).collect();
    assert_eq!(offsets, [0x100, 0x900], "libraries are left out");
}

/// Rows in the order of their names.
trait MapSorted {
    fn map_sorted(self) -> Self;
}

impl<const N: usize> MapSorted for [(&str, u64); N] {
    fn map_sorted(mut self) -> Self {
        self.sort_unstable();
        self
    }
}

#[test]
fn what_is_freed_is_the_heaps_until_somebody_has_it() {
    let mut stream = stream();
    allocate(&mut stream, 20 * PAGE, 2 * PAGE, 0x101);
    stream.refer(0, 20, 1, 0);
    stream.refer(0, 21, 2, 0);
    stream.free(20 * PAGE);
    stream.refer(0, 20, 4, 0);
    // Another place gets a part of it.
    allocate(&mut stream, 20 * PAGE, PAGE, 0x201);
    stream.refer(0, 20, 8, 0);
    stream.refer(0, 21, 16, 0);
    let advice = stream.advice();
    are(&advice, &[("[heap], the rest", 20), (FIRST, 3), (SECOND, 8)].map_sorted());
    assert!(!named(&advice, FIRST).mapped && named(&advice, SECOND).mapped);
}

#[test]
fn a_page_that_is_used_again_stays_where_it_is() {
    let mut stream = stream();
    allocate(&mut stream, 20 * PAGE, PAGE, 0x101);
    // The first node fills the page, so it lies there.
    stream.refer(0, 20, 0, 20);
    stream.free(20 * PAGE);
    allocate(&mut stream, 20 * PAGE, PAGE, 0x201);
    // Only the other one uses what comes there next.
    (0..200).for_each(|_| stream.refer(1, 20, 10, 0));
    let advice = stream.advice();
    let (first, second) = (named(&advice, FIRST), named(&advice, SECOND));
    assert_eq!((first.remote, first.nodes), (0, 1));
    assert_eq!((second.remote, second.nodes, second.shared_reads), (2000, 1, 0));
    assert_eq!(second.verdict.word(), "move");
    assert!(matches!(first.verdict, Verdict::Leave(_)));
}

#[test]
fn blocks_of_one_place_at_one_address_are_not_one_block() {
    let mut stream = stream();
    for thread in [0, 1, 0, 1] {
        allocate(&mut stream, 20 * PAGE, PAGE, 0x101);
        stream.refer(thread, 20, 100, 0);
        stream.free(20 * PAGE);
    }
    let advice = stream.advice();
    let row = named(&advice, FIRST);
    assert_eq!((row.mappings, row.nodes, row.shared_reads), (4, 2, 0), "nobody shared any of them");
}

#[test]
fn a_buffer_that_is_allocated_again_and_again_stays_in_caches() {
    let mut stream = stream();
    for _ in 0..100 {
        allocate(&mut stream, 20 * PAGE, PAGE, 0x101);
        stream.refer(0, 20, 0, 1);
        (0..10).for_each(|_| stream.refer(1, 20, 10, 0));
        stream.free(20 * PAGE);
    }
    let cached_bytes = PAGE;
    let thresholds = Thresholds { least_references: 10, cached_bytes, ..Thresholds::default() };
    let advice = stream.0.advice(&thresholds);
    let row = named(&advice, FIRST);
    assert_eq!(row.touched_bytes, 100 * PAGE);
    assert!(matches!(row.verdict, Verdict::Leave(Reason::Cached(_))), "{:?}", row.verdict);
}

#[test]
fn a_free_that_was_not_told_is_noticed_at_the_next_block() {
    let mut stream = stream();
    allocate(&mut stream, 20 * PAGE, 4 * PAGE, 0x101);
    allocate(&mut stream, 21 * PAGE, PAGE, 0x201);
    (20..24).for_each(|page| stream.refer(0, page, 1, 0));
    // It tells late.
    stream.free(20 * PAGE);
    (20..24).for_each(|page| stream.refer(0, page, 10, 0));
    stream.free(77 * PAGE); // there was none
    let advice = stream.advice();
    are(&advice, &[("[heap], the rest", 30), (FIRST, 3), (SECOND, 11)].map_sorted());
}

#[test]
fn blocks_go_with_the_memory_that_they_are_in() {
    let mut stream = stream();
    allocate(&mut stream, 20 * PAGE, 2 * PAGE, 0x101);
    allocate(&mut stream, 30 * PAGE, 2 * PAGE, 0x201);
    stream.unmap(20, 2);
    stream.map(20, 2, Backing::Stack);
    stream.refer(0, 20, 5, 0);
    stream.take(0, EventKind::Moved(Box::new(Move { from: region(30, 2), to: region(500, 2) })));
    stream.refer(0, 500, 6, 0);
    let advice = stream.advice();
    are(&advice, &[("[heap], the rest", 6), ("[stack]", 5)]);
}

#[test]
fn mappings_have_their_places_too() {
    let mut stream = stream();
    stream.map_from(200, 4, &[LIBC + 9, PROGRAM + 0x101, PROGRAM + 0x901]);
    stream.map_from(300, 4, &[LIBC + 9, PROGRAM + 0x101, PROGRAM + 0x901]);
    // What an allocator maps is a heap, and what it cuts from it are blocks.
    stream.map_from(400, 16, &[LIBC + 9, TELLER + 8, PROGRAM + 0x201, PROGRAM + 0x901]);
    allocate(&mut stream, 400 * PAGE + 16, 15 * PAGE, 0x201);
    for (page, reads) in [(200, 1), (300, 2), (400, 4), (414, 8), (415, 16)] {
        stream.refer(0, page, reads, 0);
    }
    let advice = stream.advice();
    are(&advice, &[("[heap], the rest", 16), (FIRST, 3), (SECOND, 12)].map_sorted());
}

#[test]
fn places_with_the_same_name_are_told_apart_by_their_callers() {
    let mut stream = stream();
    for (page, outer) in [(20, 0x301), (30, 0x401)] {
        let callers = [PROGRAM + 0x101, PROGRAM + 0x901, PROGRAM + outer];
        stream.allocate(page * PAGE, PAGE, &callers);
        stream.refer(0, page, 1, 0);
    }
    let advice = stream.advice();
    let third = |outer: &str| format!("{FIRST} via program+{outer}");
    are(&advice, &[(&third("0x300"), 1), (&third("0x400"), 1)]);
}

#[test]
fn code_of_no_file_has_its_address_for_a_name() {
    let mut stream = stream();
    stream.allocate(20 * PAGE, PAGE, &[0x7000_0001]);
    stream.allocate(30 * PAGE, PAGE, &[]);
    stream.refer(0, 20, 1, 0);
    stream.refer(0, 30, 2, 0);
    are(&stream.advice(), &[("an unknown place", 2), ("code at 0x70000000", 1)]);
}

#[test]
fn many_places_share_a_row() {
    let mut stream = stream();
    for place in 0..1000 {
        allocate(&mut stream, 20 * PAGE, PAGE, 0x1000 + place);
        stream.refer(0, 20, 3, 0);
        stream.free(20 * PAGE);
        stream.refer(0, 20, 1, 0); // so that the heap has the page
    }
    let advice = stream.advice();
    assert_eq!(advice.references(), 4000);
    assert_eq!(advice.mappings.len(), 256 + 2);
    let others = named(&advice, "other blocks");
    assert_eq!((others.mappings, others.reads), (1000 - 256, 3 * (1000 - 256)));
}
