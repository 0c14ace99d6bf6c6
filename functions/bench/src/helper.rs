//! What the helper processes do. A program that measures starts them as copies of itself: workers,
//! which run the tasks, and the keeper.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::assignment::Assignment;
use crate::control::{Control, Phase};
use crate::self_execution::{KEEPER, WORKER};
use crate::task_loop::take_part;
use crate::{Refusal, Seat, Shared, benchmarks, cpus, keeper, sys};

/// Runs a process that [`Helpers`](crate::Helpers) has started. The words that follow
/// [`Helpers::words`](crate::Helpers::words) say as what.
pub fn helper(words: &[OsString]) -> ExitCode {
    // Without this, the process has the name of the file that was executed, which may be `exe`.
    // SAFETY: the name is a C string.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"kilocore-bench".as_ptr()) };
    let words: Vec<_> = words.iter().map(|word| word.to_str()).collect();
    match words[..] {
        [Some(KEEPER)] => keeper::serve(),
        [Some(WORKER), Some(assignment)] => match serde_json::from_str(assignment) {
            Ok(assignment) if Assignment::is_sound(&assignment) => work(&assignment),
            Ok(_) | Err(_) => misuse(),
        },
        _ => misuse(),
    }
}

/// Tells whoever started this program by hand that it is not meant for that.
fn misuse() -> ExitCode {
    eprintln!("this command is for kilocore's own use; see kilocore bench --help");
    ExitCode::from(2)
}

/// Runs the tasks of a worker. If it refuses, it prints the refusal on standard output, as JSON.
fn work(assignment: &Assignment) -> ExitCode {
    // A program that a benchmark executes must not keep these open.
    for fd in assignment.inherited() {
        if sys::inherit(fd, false).is_err() {
            return misuse();
        }
    }
    // A write beyond the limit of file sizes should fail, and not kill the process.
    // SAFETY: to ignore a signal installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // SAFETY: the process inherited the descriptors for this. They were just seen to be open. Each
    // is there once, none belongs to the library, and they are used only here.
    let (shared, control) = unsafe { (assignment.shared(), File::from_raw_fd(assignment.control)) };
    let refused = match Control::map(&control, assignment.tasks) {
        Ok(control) => run_all(&assignment.seats, &control, |seat| {
            run_one(&assignment.benchmark, &shared, seat, &control)
        }),
        Err(refusal) => Some(refusal),
    };
    let Some(refusal) = refused else { return ExitCode::SUCCESS };
    if let Ok(text) = serde_json::to_string(&refusal) {
        println!("{text}");
    }
    ExitCode::FAILURE
}

/// Runs each seat's task, on a thread of its own if there are several.
///
/// A task that gives up says so at once. Otherwise the others would wait for a start that does not
/// come, and whoever joins them would wait as well.
fn run_all(
    seats: &[Seat],
    control: &Control,
    run_one: impl Fn(&Seat) -> Result<(), Refusal> + Sync,
) -> Option<Refusal> {
    let give_up = |refusal| {
        control.give_up();
        control.set_phase(Phase::Quit);
        Some(refusal)
    };
    let run = |seat: &Seat| {
        // Nothing that a panic leaves half done is used afterwards.
        let result = catch_unwind(AssertUnwindSafe(|| run_one(seat)));
        let died = |_| Err(Refusal::Died { how: "a panic".to_owned() });
        result.unwrap_or_else(died).err().and_then(give_up)
    };
    if let [seat] = seats {
        return run(seat);
    }
    std::thread::scope(|scope| {
        let run = &run;
        let start = |seat| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || run(seat));
            thread.map_err(|error| give_up(Refusal::of("starting a thread", &error)))
        };
        // All tasks have started or given up before the first is joined.
        let started: Vec<_> = seats.iter().map(start).collect();
        let results = started.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_default(),
            Err(refusal) => refusal,
        });
        results.fold(None, Option::or)
    })
}

fn run_one(name: &str, shared: &Shared, seat: &Seat, control: &Control) -> Result<(), Refusal> {
    cpus::pin(&seat.cpus)?;
    let benchmark = benchmarks::find(name).map_err(|_| Refusal::Facility {
        facility: format!("benchmark {name}"),
        error: "the helper is of another version".to_owned(),
    })?;
    let mut task = benchmark.task(shared, seat)?;
    take_part(&mut *task, seat.index, control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_sends_those_home_who_wait_for_the_start() {
        let (control, _file) = crate::control::new(3).unwrap();
        let seat = |index| Seat { index, kind: crate::Kind::Threads, cpus: Vec::new() };
        let refused = run_all(&[seat(0), seat(1), seat(2)], &control, |seat| {
            assert!(seat.index != 1, "a panic for this test");
            control.wait_for_start();
            Ok(())
        });
        assert_eq!(refused, Some(Refusal::Died { how: "a panic".to_owned() }));
        assert!(control.has_given_up() && control.phase() == Phase::Quit);
    }

    #[test]
    fn assignments_that_no_runner_writes_are_turned_away() {
        let seat = |index| Seat { index, kind: crate::Kind::Threads, cpus: Vec::new() };
        let sound = Assignment {
            benchmark: "sem".to_owned(),
            seats: vec![seat(0)],
            tasks: 1,
            // There is no descriptor with this number.
            control: 999_999_001,
            lifeline: 999_999_002,
            files: vec![999_999_003],
            folder: None,
            numbers: Vec::new(),
            size: 0,
        };
        assert!(sound.is_sound());
        let of = sound.clone();
        let unsound = [
            Assignment { control: 1, ..of.clone() },
            Assignment { control: -1, ..of.clone() },
            Assignment { files: vec![of.control], ..of.clone() },
            Assignment { files: vec![of.lifeline, of.lifeline], ..of.clone() },
            Assignment { seats: Vec::new(), ..of.clone() },
            Assignment { seats: vec![seat(1)], ..of.clone() },
            Assignment { tasks: u32::MAX, ..of.clone() },
        ];
        for assignment in &unsound {
            assert!(!assignment.is_sound(), "{assignment:?}");
        }
        for assignment in unsound.iter().chain([&sound]) {
            let words = ["worker".to_owned(), serde_json::to_string(assignment).unwrap()];
            let status = helper(&words.map(OsString::from));
            assert_eq!(format!("{status:?}"), format!("{:?}", ExitCode::from(2)));
        }
    }

    #[test]
    fn benchmarks_that_lack_what_they_share_refuse() {
        let seat = Seat { index: 5, kind: crate::Kind::Threads, cpus: Vec::new() };
        for name in ["sem", "mmap", "page-fault-file", "open", "open-apart", "unlink"] {
            let task = benchmarks::find(name).unwrap().task(&Shared::default(), &seat);
            assert!(matches!(task.err(), Some(Refusal::Facility { .. })), "{name}");
        }
    }

    #[test]
    fn strangers_are_turned_away() {
        for words in [vec![], vec!["worker"], vec!["worker", "{}"], vec!["keeper", "x"]] {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            assert_eq!(format!("{:?}", helper(&words)), format!("{:?}", ExitCode::from(2)));
        }
    }
}
