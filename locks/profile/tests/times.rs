//! Where the threads' time went, as a part of the document.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Activities, Finding, RoleTimes, Run, ThreadTimes, WaitEdge, WaitedFor, WaitedWord, WordKind,
};

#[test]
fn a_run_without_times_is_read_and_written_without_them() {
    let old = r#"{"cores":2,"wall_ns":1.0,"exit_status":0,"processes":[]}"#;
    let run: Run = serde_json::from_str(old).expect("an old document is one still");
    assert_eq!(run.times, None);
    assert!(!serde_json::to_string(&run).expect("it can be written").contains("times"));
}

#[test]
fn the_document_is_as_its_description_says() {
    let edge =
        |to| WaitEdge { from: 0, to, word: 0, direct: Nanoseconds(40), in_all: Nanoseconds(80) };
    let times = ThreadTimes {
        observed: Nanoseconds(100),
        words: vec![WaitedWord { kind: WordKind::GlobalInterpreterLock, ..WaitedWord::default() }],
        edges: [WaitedFor::Role(3), WaitedFor::Outside, WaitedFor::Unknown].map(edge).to_vec(),
        findings: vec![Finding::NoContention { wait: 0.0, known: 1.0 }],
        ..ThreadTimes::default()
    };
    let run = Run { times: Some(times), ..Run::default() };
    let text = serde_json::to_string(&run).expect("it can be written");
    for part in [
        r#""to":{"role":3}"#,
        r#""to":"outside""#,
        r#""to":"unknown""#,
        r#""kind":"global-interpreter-lock""#,
        r#"{"finding":"no-contention","wait":0.0,"known":1.0}"#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(serde_json::from_str::<Run>(&text).expect("it can be read"), run);
}

#[test]
fn all_activities_but_absence_are_named_and_are_the_threads_time() {
    let text = serde_json::to_value(Activities::default()).expect("it can be written");
    let fields = text.as_object().expect("it has fields").keys().cloned();
    let mut times = Activities::default();
    for (number, field) in fields.enumerate() {
        // A power of two each, so that no field can stand in for others.
        let one = format!("{{\"{field}\":{}}}", 1_u64 << number);
        times += serde_json::from_str(&one).expect("a field alone is enough");
    }
    let named: Nanoseconds = times.named().iter().map(|(_, time)| *time).sum();
    assert_eq!(named, times.present());
    assert_eq!(named + times.absent, Nanoseconds((1 << 18) - 1));
}

#[test]
fn roles_and_words_have_names_for_people() {
    let role = RoleTimes { name: "server".into(), main: true, ..RoleTimes::default() };
    assert_eq!(role.to_string(), "server (main thread)");
    assert_eq!(RoleTimes::default().to_string(), "threads without a name");
    let word =
        WaitedWord { address: 4096, words: 1, kind: WordKind::Lock, ..WaitedWord::default() };
    assert_eq!(word.to_string(), "lock at 0x1000");
    assert_eq!(WaitedWord { name: "Store::lock".into(), ..word }.to_string(), "Store::lock");
}
