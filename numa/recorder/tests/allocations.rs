//! What streams say of blocks, and of who allocated them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use kilocore_reference_recorder::{Allocations, Options};
use kilocore_references::{Block, Callers, EventKind};

use crate::support::{compiled, folder, options, ran, words};

/// What a program allocated.
#[derive(Debug, Default)]
struct AllocatedBlocks {
    blocks: Vec<Block>,
    freed: Vec<u64>,
    /// The first address, the bytes and the callers of anonymous memory.
    mapped: Vec<(u64, u64, Callers)>,
    not_covered: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl AllocatedBlocks {
    fn block(&self, bytes: u64) -> &Block {
        let found: Vec<&Block> = self.blocks.iter().filter(|block| block.bytes == bytes).collect();
        assert_eq!(found.len(), 1, "{bytes}: {found:?}");
        found[0]
    }

    fn was_freed_after(&self, block: &Block) -> bool {
        self.freed.contains(&block.address)
    }

    fn callers_of_mapping(&self, pages: u64) -> &Callers {
        let found = self.mapped.iter().find(|(_, bytes, _)| *bytes == pages << 12);
        &found.expect("it was mapped").2
    }

    fn address(&self, line: usize, word: usize) -> u64 {
        let word = self.lines[line][word].trim_start_matches("0x");
        u64::from_str_radix(word, 16).expect("an address")
    }
}

fn with_blocks(smallest_block: u64) -> Options<'static> {
    let library = kilocore_shipped::folder().join("libkilocore_allocations.so");
    Options {
        allocations: Some(Allocations { smallest_block, ..Allocations::new(library) }),
        ..options()
    }
}

fn seen(command: &[OsString], options: Options<'_>) -> AllocatedBlocks {
    let ran = ran(command, options, |stream| {
        let mut seen = AllocatedBlocks {
            not_covered: stream.about().not_covered.clone(),
            ..AllocatedBlocks::default()
        };
        for event in stream.by_ref() {
            match event.expect("the stream is whole").kind {
                EventKind::Allocated(block) => seen.blocks.push(*block),
                EventKind::Freed(address) => seen.freed.push(address),
                EventKind::Mapped(it) if !it.callers.is_empty() => {
                    seen.mapped.push((
                        it.region.first.address(),
                        it.region.pages << 12,
                        it.callers,
                    ));
                }
                _ => {}
            }
        }
        seen
    });
    assert_eq!(ran.status.code(), Some(0));
    let text = String::from_utf8_lossy(&ran.stdout);
    let lines = text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    AllocatedBlocks { lines, ..ran.made }
}

/// No function of the program is longer.
const LONGEST: u64 = 2000;

fn is_in(address: u64, function: u64) -> bool {
    (function..function + LONGEST).contains(&address)
}

#[test]
fn blocks_are_told_with_their_callers() {
    let folder = folder();
    let program = compiled(folder.path(), "allocations.c");
    let seen = seen(&words(&program, &[]), with_blocks(4096));
    assert_eq!(seen.lines[1], ["clean", "clean"], "the program does not see how it is recorded");
    let first = seen.block(10_000);
    let again = seen.blocks.iter().filter(|block| block.bytes == 10_000).count();
    assert_eq!(again, 1, "that of `calloc` is another one, which has callers of its own");
    assert_eq!(first.address, seen.address(2, 0));
    for bytes in [20_000, 300_000, 30_000, 40_000, 50_000] {
        assert!(seen.was_freed_after(seen.block(bytes)), "{bytes}");
    }
    assert!(!seen.blocks.iter().any(|block| block.bytes == 4095), "it is small");
    let (main, block) = (seen.address(0, 0), seen.address(0, 1));
    let callers = first.callers.addresses();
    let inner = callers.iter().position(|&caller| is_in(caller, block)).expect("it is a caller");
    assert!(inner <= 3, "only the library is further in: {callers:x?}");
    assert!(is_in(callers[inner + 1], main), "{callers:x?}");
}

#[test]
fn what_was_left_by_a_jump_is_no_caller() {
    let folder = folder();
    let program = compiled(folder.path(), "allocations.c");
    let seen = seen(&words(&program, &[]), with_blocks(4096));
    let (main, mapping) = (seen.address(0, 0), seen.address(0, 2));
    for pages in [123, 7] {
        let callers = seen.callers_of_mapping(pages).addresses();
        assert!(is_in(callers[0], mapping) && is_in(callers[1], main), "{pages}: {callers:x?}");
        // Further out are only those that start a program.
        assert!(callers.len() < 10, "{pages}: {callers:x?}");
    }
    let deep = seen.block(50_000).callers.addresses();
    assert_eq!(deep.len(), Callers::MOST, "more are not kept");
}

#[test]
fn smaller_blocks_are_told_if_somebody_asks() {
    let folder = folder();
    let program = compiled(folder.path(), "allocations.c");
    let seen = seen(&words(&program, &[]), with_blocks(4000));
    assert!(seen.was_freed_after(seen.block(4095)));
}

#[test]
fn a_static_program_tells_of_mappings_only() {
    let folder = folder();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/allocations.c");
    let program = folder.path().join("static");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-static", "-o"]).arg(&program).arg(source);
    assert!(compiler.status().expect("there is a compiler").success());
    let seen = seen(&words(&program, &[]), with_blocks(4096));
    assert!(seen.blocks.is_empty() && seen.freed.is_empty());
    let said = seen.not_covered.iter().any(|what| what.contains("linked statically"));
    assert!(said, "{:?}", seen.not_covered);
    let (main, mapping) = (seen.address(0, 0), seen.address(0, 2));
    let callers = seen.callers_of_mapping(123).addresses();
    assert!(is_in(callers[0], mapping) && is_in(callers[1], main), "{callers:x?}");
}

#[test]
fn few_blocks_are_told_if_somebody_asks_for_large_ones() {
    let folder = folder();
    let program = compiled(folder.path(), "allocations.c");
    let seen = seen(&words(&program, &[]), with_blocks(1 << 20));
    assert!(seen.blocks.is_empty(), "{:?}", seen.blocks);
}

#[test]
fn programs_that_are_executed_find_nothing_of_it() {
    let script = "test -z \"$LD_PRELOAD$KILOCORE_SMALLEST_BLOCK\"";
    let ran = ran(&words(Path::new("sh"), &["-c", script]), with_blocks(4096), |stream| {
        stream.for_each(|event| drop(event.expect("the stream is whole")));
    });
    assert_eq!(ran.status.code(), Some(0));
}
