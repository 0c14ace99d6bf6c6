//! Programs whose references are known.

use std::thread::sleep;
use std::time::Duration;

use kilocore_reference_recorder::Options;
use kilocore_references::Ending;

use crate::support::{compiled, first_page, folder, options, ran, summed, words};

const ROUNDS: u64 = 100_000;

#[test]
fn loops_with_known_references_are_counted_exactly() {
    let folder = folder();
    let program = compiled(folder.path(), "known_counts.c");
    let ran = summed(&words(&program, &[]), options());
    assert_eq!(ran.status.code(), Some(7));
    let sums = ran.made;
    assert_eq!((sums.started, sums.ending), (1, Ending::Exited(7)));
    let first = first_page(&ran.stdout);
    let expected = [
        (ROUNDS, 0),
        (0, ROUNDS),
        (ROUNDS, ROUNDS),
        (ROUNDS, ROUNDS),
        (ROUNDS, ROUNDS),
        // An access that spans two pages counts for both, and one that just does not counts once.
        (ROUNDS, 0),
        (ROUNDS, 0),
        (ROUNDS, 0),
        (0, ROUNDS),
        (0, ROUNDS),
        (0, ROUNDS % 4096),
    ];
    for (page, expected) in expected.into_iter().enumerate() {
        assert_eq!(sums.of(0, first + page as u64), expected, "page {page}");
    }
    // Eight loops of three instructions, and what the program takes to begin and end.
    let loops = 8 * 3 * ROUNDS;
    assert!((loops..loops + 1_000_000).contains(&sums.instructions), "{}", sums.instructions);
}

/// With every length of a quantum, and whoever comes late.
#[test]
fn threads_have_what_they_did() {
    let folder = folder();
    let program = compiled(folder.path(), "threads.c");
    for quantum in [1, 2_000, 1_000_000] {
        let options = Options { quantum, slots: 256, ..options() };
        let ran = summed(&words(&program, &[]), options);
        assert_eq!(ran.status.code(), Some(0));
        let (sums, first) = (ran.made, first_page(&ran.stdout));
        assert_eq!((sums.started, sums.ended), (3, 2));
        // Whoever executes something first has the lower number.
        let swap = sums.of(2, first) != (0, 0);
        let (one, two) = if swap { (2, 1) } else { (1, 2) };
        for page in 0..64 {
            assert_eq!(sums.of(one, first + page), (200 * 512, 0), "page {page}");
            assert_eq!(sums.of(two, first + 64 + page), (200 * 512, 0), "page {page}");
            assert_eq!(sums.of(one, first + 64 + page), (0, 0), "page {page}");
        }
        assert_eq!(sums.of(1, first + 128), (200, 200));
        assert_eq!(sums.of(2, first + 128), (200, 200));
    }
}

#[test]
fn threads_that_come_and_go_are_all_recorded() {
    let folder = folder();
    let program = compiled(folder.path(), "many_threads.c");
    let options = Options { threads: 10, slots: 256, ..options() };
    let ran = summed(&words(&program, &["400", "8", "5000"]), options);
    assert_eq!(ran.status.code(), Some(0));
    let (sums, first) = (ran.made, first_page(&ran.stdout));
    assert_eq!((sums.started, sums.ended, ran.threads_unrecorded), (401, 400, 0));
    for page in 0..400 {
        assert_eq!(sums.of_all(first + page), (0, 5_000), "page {page}");
    }
}

#[test]
fn threads_for_which_there_is_no_ring_are_counted() {
    let folder = folder();
    let program = compiled(folder.path(), "many_threads.c");
    let options = Options { threads: 3, ..options() };
    let ran = summed(&words(&program, &["40", "40", "3000000"]), options);
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(ran.made.started as u64 + ran.threads_unrecorded, 41);
    assert!(ran.threads_unrecorded > 0);
}

#[test]
fn the_program_waits_for_a_slow_consumer_and_nothing_is_lost() {
    let folder = folder();
    let program = compiled(folder.path(), "known_counts.c");
    let options = Options { slots: 256, quantum: 100, ..options() };
    let ran = ran(&words(&program, &[]), options, |stream| {
        let mut instructions = 0;
        for (number, event) in stream.enumerate() {
            if let kilocore_references::EventKind::Quantum { instructions: more } =
                event.expect("the stream is whole").kind
            {
                instructions += u64::from(more);
            }
            if number % 1_000 == 0 {
                sleep(Duration::from_millis(2));
            }
        }
        instructions
    });
    assert_eq!(ran.status.code(), Some(7));
    assert!(ran.made > 8 * 3 * ROUNDS, "{}", ran.made);
}
