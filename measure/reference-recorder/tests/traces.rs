//! Streams in files.

use kilocore_reference_recorder::Tee;
use kilocore_references::{Ending, Reader, What, Wrong};

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
        assert_eq!(first.what, What::Started);
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
