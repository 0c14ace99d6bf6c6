//! Recording programs that use a known number of pages. Needs a C compiler, and the kernel's
//! tracepoints: where these cannot be had, the tests say so and end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kilocore_page_trace::recorder::{Options, RecordError, Recording, record};
use kilocore_page_trace::{Ending, EventKind, Reader, Summary, Trace};

/// What `known_pages.c` touches, in all.
const PAGES: u64 = 25_000;
/// Of these, what another thread gives back.
const BY_OTHER: u64 = 20_000;

fn options(folder: &Path) -> Options {
    Options { output: folder.join("x.pages"), delay: None, duration: None, events: None }
}

/// Records, if that is possible here.
fn recorded(words: &[&str], options: &Options) -> Option<Recording> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    match record(&words, options) {
        Ok(recording) => Some(recording),
        Err(
            error @ (RecordError::Tracepoints(_)
            | RecordError::Refused { .. }
            | RecordError::NoPerfEvents { .. }),
        ) => {
            println!("not tested: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn known_pages(folder: &Path) -> PathBuf {
    let program = folder.join("known-pages");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .arg(&program)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorder/known_pages.c"))
        .status()
        .expect("there is a C compiler");
    assert!(built.success());
    program
}

#[test]
fn a_program_that_uses_known_pages_is_seen_to_use_them() {
    let folder = tempfile::tempdir().expect("there is room");
    let program = known_pages(folder.path());
    let options = options(folder.path());
    let words = [program.to_str().expect("an ordinary name")];
    let Some(recording) = recorded(&words, &options) else { return };
    let header = &recording.header;
    let about = &header.about;
    assert_eq!(recording.status.code(), Some(7));
    assert_eq!((about.ending, about.processes, about.threads), (Ending::ProgramEnded, 2, 3));
    // Now and then the kernel leaves out records of softirqs, which release its own pages: more of them the
    // busier the host is.
    let unseen = about.unseen;
    assert!(unseen.lost < PAGES / 20 && unseen.releases_inferred <= unseen.lost, "{unseen:?}");

    let reader = Reader::open(&options.output).expect("it was written");
    assert_eq!(reader.header(), header);
    let summary = Summary::of(reader).expect("it is whole");
    // A program of C touches a few hundred pages besides: its own, its libraries', and the tables.
    let range = PAGES - unseen.lost..PAGES + 1_500;
    assert!(range.contains(&summary.zeroed), "{summary:?}");
    let faults = about.page_faults.expect("they are counted");
    assert!((PAGES..PAGES + 1_500).contains(&(faults.minor + faults.major)), "{faults:?}");
    let released = summary.releases;
    assert!(range.contains(&released.pages), "{released:?}");
    // A core has the newest pages in a list of its own for a while, and whoever empties that list
    // later releases them: so a few go back another way.
    let by_other = BY_OTHER - 300 - unseen.lost..BY_OTHER + 700;
    assert!(by_other.contains(&released.by_other_thread), "{released:?}");
    assert!(summary.held_at_end < 700 + unseen.lost, "{summary:?}");
    assert!((BY_OTHER..BY_OTHER + 1_500).contains(&summary.held_at_most), "{summary:?}");
}

#[test]
fn a_recording_ends_with_enough_events_and_the_program_with_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let words = ["sh", "-c", "while true; do /bin/true; done"];
    let options = Options { events: Some(2_000), ..options(folder.path()) };
    let Some(recording) = recorded(&words, &options) else { return };
    assert_eq!(recording.status.code(), None, "a signal ended it");
    let trace = Trace::read(&options.output).expect("it was written");
    assert_eq!((trace.events.len(), trace.header.about.ending), (2_000, Ending::EnoughEvents));
}

#[test]
fn a_recording_may_begin_late_and_end_early() {
    let folder = tempfile::tempdir().expect("there is room");
    let program = known_pages(folder.path());
    let text = format!("{}; exec sleep 100", program.display());
    let (delay, duration) = (Duration::from_millis(700), Duration::from_millis(300));
    let options =
        Options { delay: Some(delay), duration: Some(duration), ..options(folder.path()) };
    let Some(recording) = recorded(&["sh", "-c", &text], &options) else { return };
    let about = &recording.header.about;
    assert_eq!((about.ending, recording.status.code()), (Ending::TimeWasUp, None));
    assert!(about.duration.0 >= duration.as_nanos() as u64, "{about:?}");
    // On a machine with much else to do it may still be at it, but it began before.
    let trace = Trace::read(&options.output).expect("it was written");
    let allocations = |event: &&_| {
        let event: &kilocore_page_trace::Event = event;
        matches!(event.kind, EventKind::Allocate { .. })
    };
    assert!((trace.events.iter().filter(allocations).count() as u64) < PAGES);

    let late = Options { delay: Some(Duration::from_secs(50)), ..options };
    let Some(recording) = recorded(&["true"], &late) else { return };
    assert_eq!(recording.header.contents.events, 0);
    assert!(recording.warnings.iter().any(|text| text.contains("before the recording")));
}

#[test]
fn what_cannot_be_recorded_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("there is room");
    let missing = OsString::from("no-such-program-anywhere");
    let error = record(&[missing], &options(folder.path())).expect_err("there is none");
    match error {
        RecordError::Start { source, .. } => {
            assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
        }
        other => println!("not tested: {other}"),
    }
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    let nowhere = Options { output: folder.path().join("missing/x"), ..options(folder.path()) };
    let error = record(&["true".into()], &nowhere).expect_err("no such folder").to_string();
    assert!(error.contains("missing/x"), "{error}");
    assert!(matches!(record(&[], &options(folder.path())), Err(RecordError::NoProgram)));
}
