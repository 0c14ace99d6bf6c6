//! Streams in files, and the memory that streams take.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kilocore_reference_recorder::Tee;
use kilocore_references::{Ending, EventKind, Reader, Wrong};

use crate::support::{compiled, folder, options, ran, words};

#[test]
fn what_was_written_is_what_was_read() {
    let folder = folder();
    let program = compiled(folder.path(), "threads.c");
    let path = folder.path().join("threads.refs");
    let ran = ran(&words(&program, &[]), options(), |stream| {
        let mut tee = Tee::new(stream, &path).expect("it can be written there");
        let events: Vec<_> = tee.by_ref().map(|event| event.expect("all is well")).collect();
        (events, tee.finish().expect("there is room"))
    });
    let (events, contents) = ran.made;
    assert_eq!((contents.ending, contents.threads), (Ending::Exited(0), 3));
    let mut reader = Reader::open(&path).expect("it was written");
    assert_eq!(reader.about().quantum, 2_000);
    assert!(reader.about().command[0].ends_with("threads"));
    for event in &events {
        assert_eq!(&reader.next().expect("as many").expect("it is whole"), event);
    }
    assert!(reader.next().is_none());
    assert_eq!(reader.contents(), Some(&contents));

    let bytes = std::fs::read(&path).expect("it was written");
    assert!(bytes.len() < 3 * events.len(), "{} for {} events", bytes.len(), events.len());
    let mut cut = Reader::new(&bytes[..bytes.len() - 9]).expect("the beginning is there");
    let error = cut.find_map(Result::err).expect("something is missing");
    assert!(matches!(error.what, Wrong::Truncated), "{error}");
}

#[test]
fn whoever_stops_reading_lets_the_program_go_on() {
    let folder = folder();
    let program = compiled(folder.path(), "threads.c");
    let path = folder.path().join("some.refs");
    let ran = ran(&words(&program, &[]), options(), |stream| {
        let mut tee = Tee::new(stream, &path).expect("it can be written there");
        let first = tee.next().expect("something happens").expect("all is well");
        assert_eq!(first.kind, EventKind::Started);
        tee.by_ref().take(999).for_each(|event| drop(event.expect("all is well")));
        tee.finish().expect("there is room")
    });
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!((ran.made.events, ran.made.ending), (1_000, Ending::Stopped));
    assert_eq!(Reader::open(&path).expect("it was written").count(), 1_000);
}

#[test]
fn a_trace_that_is_not_completed_leaves_nothing_behind() {
    let folder = folder();
    let ran = ran(&words("true".as_ref(), &[]), options(), |stream| {
        let mut tee = Tee::new(stream, &folder.path().join("x.refs")).expect("it can be written");
        assert!(tee.by_ref().all(|event| event.is_ok()));
    });
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}

/// The most memory that the recorder of a program had, in KiB, as far as it was seen. The recorder is a
/// process of its own.
fn most_memory(program: &Path, rounds: &str) -> u64 {
    let own = std::env::current_exe().expect("a program knows where it is");
    let folder = own.ancestors().nth(2).expect("it is in `deps`");
    let mut recorder = Command::new(folder.join("examples/count_references"))
        .arg(options().library)
        .args(["--quantum", "10"])
        .arg(program)
        .args(["3", "3", rounds])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("Cargo builds examples for tests");
    let mut most = 0;
    while recorder.try_wait().expect("it is a child").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", recorder.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(now.unwrap_or(0));
        sleep(Duration::from_millis(2));
    }
    most
}

#[test]
fn the_memory_of_the_recorder_does_not_grow_with_the_run() {
    let folder = folder();
    let program = compiled(folder.path(), "many_threads.c");
    // Enough to fill the rings several times, and ten times as much.
    let (short, long) = (most_memory(&program, "300000"), most_memory(&program, "3000000"));
    assert!(short > 0 && long < short + 4_096, "{short} KiB, and then {long} KiB");
}
