//! Programs that end in odd ways.

use kilocore_emulation::{Asked, EmulateError, emulate_all};
use kilocore_process::Output;

use crate::support::{emulator, on, orders, program, try_on};

#[test]
fn a_deadlock_is_told() {
    let error = try_on(4, &program("ends", &[]), &["deadlock"]).expect_err("it never ends");
    let EmulateError::Failed { cores: 4, why } = &error else { panic!("{error}") };
    assert!(why.contains("wait for ever: "), "{why}");
    // With the function of the program's own in which each waits.
    assert!(
        why.contains("thread 1 in main in ") && why.contains("thread 2 in wait_for_it in "),
        "{why}"
    );
}

#[test]
fn a_run_that_needs_a_file_to_itself_is_repeated_alone() {
    let folder = tempfile::tempdir().expect("there is room");
    let words = [program("ends", &[]).into(), "owns".into(), folder.path().join("own").into()];
    let asked = [1, 2, 4, 8].map(|cores| Asked::from(orders(cores)));
    let points =
        emulate_all(&words, &asked, &emulator(), Output::Discarded, &|point| !point.ended_badly());
    let points = points.expect("they are emulated");
    assert!(points.len() == 4 && points.iter().all(|point| point.status.success()), "{points:?}");
}

#[test]
fn a_program_that_exits_while_its_threads_run_has_ended() {
    let (point, _) = try_on(4, &program("ends", &[]), &["middle"]).expect("it ends");
    assert_eq!(point.status.code(), Some(5));
}

#[test]
fn threads_that_wait_when_the_program_exits_do_not_go_on() {
    // It is a matter of moments, so more than one run is looked at.
    for _ in 0..5 {
        let (point, text) = try_on(4, &program("ends", &[]), &["waiting"]).expect("it ends");
        assert_eq!((point.status.code(), text.as_str()), (Some(6), ""));
    }
}

#[test]
fn a_thread_may_get_signals_until_it_is_gone() {
    on(4, &program("ends", &[]), &["signalled"]);
}

#[test]
fn a_program_that_is_killed_has_no_report() {
    for how in ["killed", "aborts"] {
        let error = try_on(4, &program("ends", &[]), &[how]).expect_err("it reports nothing");
        assert!(matches!(error, EmulateError::NoReport { .. }), "{how}: {error}");
    }
}

#[test]
fn processes_that_a_program_forks_are_not_emulated_and_do_not_disturb() {
    let (point, _) = try_on(4, &program("ends", &[]), &["forks"]).expect("it ends");
    assert_eq!((point.status.code(), point.report.counts.outside), (Some(7), 1));
    let (point, _) = try_on(4, &program("ends", &[]), &["pipe"]).expect("it ends");
    assert_eq!((point.status.code(), point.report.counts.outside), (Some(0), 1));
}

#[test]
fn a_thousand_threads_come_and_go() {
    let (point, _) = on(8, &program("ends", &[]), &["many"]);
    assert_eq!(point.report.threads.len(), 1_001);
}

#[test]
fn a_static_program_is_emulated_like_any_other() {
    let (point, text) = on(4, &program("work", &["-static"]), &["4", "100", "100", "10", "mutex"]);
    assert_eq!((text.trim(), point.report.threads.len()), ("400", 5));
}

#[test]
fn a_program_that_another_one_replaces_is_not_emulated_to_its_end() {
    let error = try_on(4, &program("ends", &[]), &["replaced"]).expect_err("it is gone");
    let EmulateError::Failed { why, .. } = &error else { panic!("{error}") };
    assert!(why.contains("replaced by another one"), "{why}");
    on(4, &program("ends", &[]), &["no-such"]);
}

#[test]
fn a_run_in_which_nothing_can_happen_any_more_ends_and_says_why() {
    // One thread alone has nobody to stop.
    on(1, &program("unaligned", &[]), &["0"]);
    let error = try_on(4, &program("unaligned", &[]), &["4"]).expect_err("it stands still");
    let EmulateError::Failed { why, .. } = &error else { panic!("{error}") };
    assert!(why.contains("QEMU had to stop all threads"), "{why}");
}

#[test]
fn processes_are_counted_after_a_call_that_makes_the_result_one_for_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("out");
    let script = format!("echo text > '{}'; /bin/true; :", file.display());
    let (point, _) = try_on(1, std::path::Path::new("/bin/sh"), &["-c", &script]).expect("it ends");
    assert!(point.status.success() && file.exists());
    assert_eq!(point.report.counts.processes, 1);
}
