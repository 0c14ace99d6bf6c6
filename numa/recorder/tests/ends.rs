//! How programs end, and what their streams say of it. In each a second thread is busy.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use kilocore_reference_recorder::Options;
use kilocore_references::Ending;

use crate::support::{RunResult, Sums, compiled, folder, options, ran, summed, words};

fn ended(how: &str) -> RunResult<Sums> {
    let folder = folder();
    let program = compiled(folder.path(), "ends.c");
    let ran = summed(&words(&program, &[how]), options());
    let native = Command::new(&program).arg(how).output().expect("it starts");
    let of = |status: std::process::ExitStatus| (status.code(), status.signal());
    assert_eq!(of(ran.status), of(native.status), "{how}");
    assert_eq!(ran.stdout, native.stdout, "{how}");
    ran
}

#[test]
fn exits_are_told() {
    for (how, status) in [("exit", 9), ("_exit", 10), ("other", 11), ("no-exec", 12)] {
        let sums = ended(how).made;
        assert_eq!(sums.ending, Ending::Exited(status), "{how}");
        // The thread that ends by itself is the first one.
        assert_eq!(sums.ended, usize::from(how == "other"), "{how}");
        assert_eq!(sums.replaced, usize::from(how == "no-exec"), "{how}");
        assert_eq!(sums.replaced_by, None, "{how}");
    }
}

/// The program exits while one of its threads waits for room, and the reader is slow.
#[test]
fn nothing_is_stuck_when_rings_are_full() {
    let folder = folder();
    let program = compiled(folder.path(), "ends.c");
    for (how, ending) in [("exit", Ending::Exited(9)), ("abort", Ending::Killed(libc::SIGABRT))] {
        let options = Options { slots: 256, quantum: 10, ..options() };
        let ran = ran(&words(&program, &[how]), options, |stream| {
            for (number, event) in stream.by_ref().enumerate() {
                event.expect("the stream is whole");
                if number % 2_000 == 0 {
                    sleep(Duration::from_millis(5));
                }
            }
            stream.ending()
        });
        assert_eq!(ran.made, ending);
    }
}

#[test]
fn deaths_are_told() {
    for (how, signal) in
        [("fault", libc::SIGSEGV), ("kill", libc::SIGKILL), ("abort", libc::SIGABRT)]
    {
        let sums = ended(how).made;
        assert_eq!(sums.ending, Ending::Killed(signal), "{how}");
        assert!(sums.instructions > 10_000, "{how}: {sums:?}");
    }
}

#[test]
fn another_program_is_told_and_not_recorded() {
    let ran = ended("exec");
    assert_eq!(ran.stdout, b"from another program\n");
    assert_eq!((ran.made.ending, ran.made.replaced), (Ending::Replaced, 1));
    assert_eq!(ran.made.replaced_by.as_deref(), Some("/bin/echo"));
}

#[test]
fn a_forked_process_goes_on_and_is_not_recorded() {
    let sums = ended("fork").made;
    assert_eq!((sums.forked, sums.started, sums.ending), (1, 2, Ending::Exited(5)));
}
