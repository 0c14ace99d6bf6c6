//! Streams of references of programs that run elsewhere.

use kilocore_placement::{FixedDelay, Memory, Never, Options, PageSize, Streamed};
use kilocore_references::{
    Backing, Burst, Callers, Event, EventKind, Instructions, Mapping, Move, PageNumber, Region,
    ThreadId,
};

fn streamed(processors: u32) -> Streamed {
    let options = Options::lee_and_cho(processors);
    let never = Memory::new(options.clone(), Box::new(Never)).unwrap();
    let fixed = Memory::new(options, Box::new(FixedDelay { delay: 2 })).unwrap();
    Streamed::new(vec![never, fixed], PageSize::SMALL).unwrap()
}

fn take(streamed: &mut Streamed, thread: u32, kind: EventKind) {
    streamed.take(&Event { at: Instructions(0), thread: ThreadId(thread), kind });
}

fn reads(streamed: &mut Streamed, thread: u32, page: u64, reads: u32) {
    let burst = Burst { page: PageNumber(page), reads, writes: 0 };
    take(streamed, thread, EventKind::Burst(burst));
}

fn region(first: u64, pages: u64) -> Region {
    Region { first: PageNumber(first), pages }
}

/// What the references have cost so far, in each memory.
fn cycles(streamed: &Streamed) -> Vec<u64> {
    streamed.memories().map(|memory| memory.account().cycles).collect()
}

#[test]
fn all_memories_see_the_same_string() {
    let mut streamed = streamed(2);
    reads(&mut streamed, 0, 77, 1);
    reads(&mut streamed, 1, 77, 10);
    assert_eq!(cycles(&streamed), [5 + 10 * 100, 5 + 2 * 100 + 4596 + 8 * 5]);
    assert_eq!(streamed.threads(), 2);
}

#[test]
fn threads_are_dealt_to_nodes_in_turn() {
    let options = Options { nodes: 2, processors_per_node: 2, ..Options::lee_and_cho(1) };
    let memory = Memory::new(options, Box::new(Never)).unwrap();
    let mut streamed = Streamed::new(vec![memory], PageSize::SMALL).unwrap();
    reads(&mut streamed, 0, 1, 1);
    for (thread, remote) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
        reads(&mut streamed, thread, 1, 1);
        assert_eq!(streamed.memories().next().unwrap().account().remote_reads, remote);
    }
}

#[test]
fn memory_that_is_mapped_anew_has_new_pages() {
    let mapping = Mapping {
        region: region(70, 10),
        backing: Backing::Anonymous,
        shared: false,
        callers: Callers::default(),
    };
    let changes = [
        EventKind::Mapped(Box::new(mapping)),
        EventKind::Unmapped(region(70, 10)),
        EventKind::Discarded(region(77, 1)),
    ];
    for change in changes {
        let mut streamed = streamed(2);
        reads(&mut streamed, 0, 77, 1);
        take(&mut streamed, 0, change);
        reads(&mut streamed, 1, 77, 1);
        let memory = streamed.memories().next().unwrap();
        assert_eq!(memory.account().remote_reads, 0, "thread 1 is the first to touch it");
        assert_eq!(memory.machine().pages(), 1, "its number is used again");
    }
}

#[test]
fn pages_that_move_stay_where_their_contents_are() {
    let mut streamed = streamed(2);
    reads(&mut streamed, 0, 77, 1);
    reads(&mut streamed, 0, 78, 1);
    let moved = Move { from: region(77, 2), to: region(100, 1) };
    take(&mut streamed, 0, EventKind::Moved(Box::new(moved)));
    let remote = |streamed: &Streamed| streamed.memories().next().unwrap().account().remote_reads;
    reads(&mut streamed, 1, 100, 1);
    assert_eq!(remote(&streamed), 1);
    reads(&mut streamed, 1, 78, 1);
    assert_eq!(remote(&streamed), 1, "the second page is gone, and this is another one");
}

#[test]
fn large_pages_are_gone_only_as_a_whole() {
    let options = Options::lee_and_cho(2);
    let memory = Memory::new(options, Box::new(Never)).unwrap();
    let mut streamed = Streamed::new(vec![memory], PageSize::LARGE).unwrap();
    let remote = |streamed: &Streamed| streamed.memories().next().unwrap().account().remote_reads;
    reads(&mut streamed, 0, 512, 1);
    reads(&mut streamed, 1, 1023, 1);
    assert_eq!(remote(&streamed), 1, "both are in the same 2 MiB");
    take(&mut streamed, 0, EventKind::Unmapped(region(600, 900)));
    reads(&mut streamed, 1, 1023, 1);
    assert_eq!(remote(&streamed), 2);
    take(&mut streamed, 0, EventKind::Unmapped(region(512, 512)));
    reads(&mut streamed, 1, 1023, 1);
    assert_eq!(remote(&streamed), 2);
}

#[test]
fn numbers_of_pages_do_not_grow_with_the_run() {
    let mut streamed = streamed(2);
    for round in 0..1000 {
        reads(&mut streamed, 0, 1000 + round, 1);
        reads(&mut streamed, 1, 1000 + round, 5);
        take(&mut streamed, 0, EventKind::Unmapped(region(1000 + round, 1)));
    }
    for memory in streamed.memories() {
        assert_eq!(memory.machine().pages(), 1);
    }
    assert_eq!(cycles(&streamed)[1], 1000 * (5 + 2 * 100 + 4596 + 3 * 5), "each round is alike");
}

#[test]
fn a_stream_has_no_pages_below_4_kib() {
    let memory = Memory::new(Options::lee_and_cho(1), Box::new(Never)).unwrap();
    let small = PageSize::of(1024).unwrap();
    assert!(Streamed::new(vec![memory], small).unwrap_err().to_string().contains("1024"));
}
