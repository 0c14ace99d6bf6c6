//! Programs under which nothing can be put, or only with care: they do as ever, and what is not seen
//! or replaced of them is said.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::measured::{TAKES, kilocore, measure, run_while};
use tempfile::TempDir;

/// A queue: two threads take what a third one makes, under a mutex and a condition.
const QUEUE: &str = r#"
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
static std::mutex mutex;
static std::condition_variable changed;
static std::deque<std::unique_ptr<int>> queue;
static long sum;
static bool over;
static void take() {
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return over || !queue.empty(); });
        if (queue.empty()) return;
        auto item = std::move(queue.front());
        queue.pop_front();
        sum += *item;
    }
}
int main() {
    std::thread takers[] = {std::thread(take), std::thread(take)};
    for (int item = 0; item < 3000; item++) {
        { std::lock_guard<std::mutex> lock(mutex); queue.push_back(std::make_unique<int>(item % 7)); }
        changed.notify_one();
    }
    { std::lock_guard<std::mutex> lock(mutex); over = true; }
    changed.notify_all();
    for (auto &taker : takers) taker.join();
    std::printf("sum %ld\n", sum);
    return 5;
}
"#;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder of the test's own")
}

/// Compiles a program by a compiler and with options of its own.
fn compiled(folder: &TempDir, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let program = folder.path().join("program");
    let text = folder.path().join(if source == QUEUE { "source.cpp" } else { "source.c" });
    std::fs::write(&text, source).expect("a folder of the test's own");
    let mut command = Command::new(compiler);
    command.args(options).args(["-O1", "-pthread", "-o"]).args([&program, &text]);
    let made = command.output().expect("a compiler is needed for these tests");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    program
}

/// What becomes of a program under `kilocore` with these words before it.
fn under(words: &[&str], program: &[&str]) -> (Option<i32>, String, String) {
    let mut command = kilocore();
    command.args(words).arg("--").args(program);
    said(&run_while(command, |_| ()))
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What puts libraries under programs without a word of its own.
const QUIET: [&[&str]; 4] = [
    &["run", "--quiet", "--lock", "mcs"],
    &["run", "--rwlock", "reader-first"],
    &["run", "--quiet", "--lock", "clh", "--rwlock", "bravo-phase-fair"],
    &["run", "--pages"],
];

/// Asserts that a program does what it does alone, also if a shell starts it.
#[track_caller]
fn assert_undisturbed(program: &Path) {
    let program = program.to_str().expect("a plain path");
    let alone = said(&Command::new(program).output().expect("it starts"));
    assert_eq!((alone.0, &*alone.2), (Some(5), ""), "{alone:?}");
    let child = format!("{program}; exit $?");
    for words in QUIET {
        assert_eq!(under(words, &["sh", "-c", &child]), alone, "{words:?} with a shell");
    }
    let measured = measure(kilocore(), &["sh", "-c", &child]);
    assert!(measured.output.starts_with(&alone.1), "{measured:?}");
    for trouble in ["Error", "ERROR", "WARNING"] {
        assert!(!measured.said.contains(trouble), "{measured:?}");
    }
}

/// Asserts that a program that is named itself is refused where it was to be changed.
#[track_caller]
fn assert_refused(words: &[&str], program: &Path, part: &str) {
    let (status, output, said) = under(words, &[program.to_str().expect("a plain path")]);
    assert_eq!((status, &*output), (Some(2), ""), "{words:?}: {said}");
    assert!(said.contains(part) && said.lines().count() == 1, "{words:?}: {said}");
}

/// Asserts that a program that is named itself is measured from outside, and that this is said; or
/// that nothing can be said of it, where nothing may be watched.
#[track_caller]
fn assert_watched_instead(program: &Path, why: &str, part: &str) {
    let measured = measure(kilocore(), &[program.to_str().expect("a plain path")]);
    if measured.status == Some(5) {
        assert!(measured.said.contains("watched from outside instead"), "{measured:?}");
    } else {
        assert_eq!(measured.status, Some(2), "{measured:?}");
        assert_eq!(measured.reasons(), [why], "{measured:?}");
    }
    assert!(measured.said.contains(part), "{measured:?}");
}

#[test]
fn a_program_of_another_c_library() {
    let folder = folder();
    let program = compiled(&folder, "musl-gcc", TAKES, &[]);
    assert_undisturbed(&program);
    for words in QUIET {
        assert_refused(words, &program, "another C library than glibc");
    }
    assert_watched_instead(&program, "other-library", "another C library than glibc");
    let program = program.to_str().unwrap();
    let measured = measure(kilocore(), &["sh", "-c", &format!("{program}; exit 0")]);
    assert_eq!(measured.reasons(), ["other-library"], "{measured:?}");
    assert_eq!((measured.status, measured.taken()), (Some(2), 0), "{measured:?}");
    // A script is what executes it.
    let script = folder.path().join("script");
    std::fs::write(&script, format!("#!{program}\n")).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    assert_refused(QUIET[0], &script, "another C library than glibc");
}

/// A program that has ended before anybody looks.
const SHORT: &str = "int main(void) { return 0; }";

#[test]
fn a_program_that_ends_at_once_is_known_to_whoever_executes_it() {
    let folder = folder();
    let ways = [("musl-gcc", "other-library", &[][..]), ("cc", "static", &["-static"][..])];
    for (compiler, why, options) in ways {
        let program = compiled(&folder, compiler, SHORT, options);
        let program = program.to_str().expect("a plain path");
        // By `execve` of a shell, which forks or does not, and by `posix_spawn` of Python.
        let spawn =
            format!("import os; os.waitpid(os.posix_spawn('{program}', ['x'], os.environ), 0)");
        for starter in [
            &["sh", "-c", &format!("{program}; exit 0")][..],
            &["sh", "-c", &format!("exec {program}")],
            &["python3", "-c", &spawn],
        ] {
            let measured = measure(kilocore(), starter);
            assert_eq!(measured.reasons(), [why], "{starter:?}: {measured:?}");
            assert!(measured.said.contains(program), "{measured:?}");
        }
        let profile = folder.path().join("profile.json");
        let measuring = ["record", "locks", "--output", profile.to_str().expect("a plain path")];
        let (_, output, said) = under(&measuring, &["sh", "-c", &format!("{program}; exit 0")]);
        let told = format!("{output}{said}");
        assert!(!told.contains("No lock of the program was seen."), "{told}");
        assert!(told.contains("nothing can be said about the program's locks"), "{told}");
    }
}

#[test]
fn a_static_program_is_not_run_with_locks_that_it_does_not_get() {
    let folder = folder();
    let program = compiled(&folder, "cc", TAKES, &["-static"]);
    assert_undisturbed(&program);
    for words in QUIET {
        assert_refused(words, &program, "linked statically");
    }
}

#[test]
fn a_program_with_address_sanitizer() {
    for options in [&["-fsanitize=address"][..], &["-fsanitize=address", "-static-libasan"]] {
        let folder = folder();
        let program = compiled(&folder, "g++", QUEUE, options);
        assert_undisturbed(&program);
        let alone = said(&Command::new(&program).output().expect("it starts"));
        let program = program.to_str().unwrap();
        for words in QUIET {
            assert_eq!(under(words, &[program]), alone, "{words:?} {options:?}");
        }
        let measured = measure(kilocore(), &[program]);
        assert_eq!((measured.status, measured.reasons().len()), (Some(5), 0), "{measured:?}");
        assert!(measured.output.starts_with(&alone.1) && measured.taken() >= 3000, "{measured:?}");
    }
}

#[test]
fn a_program_with_thread_sanitizer() {
    let folder = folder();
    let program = compiled(&folder, "g++", QUEUE, &["-fsanitize=thread"]);
    assert_undisturbed(&program);
    for words in &QUIET[..3] {
        assert_refused(words, &program, "ThreadSanitizer");
    }
    let alone = said(&Command::new(&program).output().expect("it starts"));
    assert_eq!(under(QUIET[3], &[program.to_str().unwrap()]), alone);
    assert_watched_instead(&program, "thread-sanitizer", "ThreadSanitizer");
    // So short a process is not seen each time, where others have the cores.
    let child = format!("{}; exit 0", program.display());
    let seen = (0..20).any(|_| {
        let measured = measure(kilocore(), &["sh", "-c", &child]);
        let reasons = measured.reasons();
        assert!(reasons.is_empty() || reasons == ["thread-sanitizer"], "{measured:?}");
        !reasons.is_empty()
    });
    assert!(seen, "it is never seen");
}

/// The runtime in the program is the first that its calls reach, and what comes behind it may be
/// anything.
#[test]
fn a_program_that_contains_thread_sanitizer() {
    let folder = folder();
    let program = compiled(&folder, "g++", QUEUE, &["-fsanitize=thread", "-static-libtsan"]);
    assert_undisturbed(&program);
    let alone = said(&Command::new(&program).output().expect("it starts"));
    for words in QUIET {
        assert_eq!(under(words, &[program.to_str().unwrap()]), alone, "{words:?}");
    }
}
