//! Small C programs, each of which checks one thing. They run without the library and with it.
//!
//! A program checks itself and prints `ok`. Any other output is a failure too, because the library must not
//! print. The run without the library shows that a program checks for what the kernel and glibc do.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::{EACH, Pool, compile, library, run, under};

/// Checks that a command does what is expected and nothing else.
fn check_command(command: Command, pool: Pool) {
    let what = format!("{command:?}");
    let output = run(under(command, pool));
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text == "ok\n",
        "{what} {pool:?}: {}\n{text}",
        output.status
    );
}

/// Runs the program `name` without the pool and with it.
fn check(name: &str) {
    let program = compile(name, name, &[]);
    for pool in EACH {
        check_command(Command::new(&program), pool);
    }
}

#[test]
fn no_owner_sees_what_another_one_wrote() {
    check("owners");
}

#[test]
fn what_an_owner_did_to_a_mapping_ends_with_it() {
    check("leftovers");
}

#[test]
fn calls_answer_as_ever() {
    check("edges");
}

#[test]
fn memory_can_be_put_where_it_was() {
    check("places");
}

/// Says past what the test program keeps to itself if the host has no huge pages to give.
#[test]
fn huge_pages_are_the_programs_as_a_whole() {
    let program = compile("huge", "huge", &[]);
    let file = crate::common::scratch("huge-statistics").join("lines");
    for pool in EACH {
        let mut command = under(Command::new(&program), pool);
        command.env("KILOCORE_PAGES_STATISTICS", &file);
        let output = run(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{pool:?}: {output:?}");
        if text.starts_with("not tested: ") {
            let _ = std::io::stderr().write_all(text.as_bytes());
            return;
        }
        assert_eq!(text, "ok\n", "{pool:?}");
    }
    let lines = std::fs::read_to_string(&file).expect("two of the programs had a pool");
    let none_lost = |line: &str| line.ends_with(" lost=0");
    assert!(lines.lines().count() == 2 && lines.lines().all(none_lost), "{lines}");
}

#[test]
fn blocks_keep_their_bytes() {
    check("blocks");
}

#[test]
fn a_full_pool_is_no_failure() {
    check("full");
}

#[test]
fn locking_all_memory_locks_no_stores() {
    check("locked");
}

#[test]
fn limits_hold() {
    check("limits");
}

#[test]
fn limits_hold_from_the_start() {
    let program = compile("limits-before", "limits", &[]);
    for pool in EACH {
        let mut command = Command::new("sh");
        command.arg("-c").arg("ulimit -v 65536; exec \"$0\" limited").arg(&program);
        check_command(command, pool);
    }
}

#[test]
fn what_is_not_touched_takes_no_memory() {
    check("sparse");
}

/// The dynamic linker's lock is held, or it has a message, while a function is called for the first time.
#[test]
fn the_dynamic_linker_is_left_alone() {
    let library = compile("linker-library", "linker", &["-DLIBRARY", "-shared", "-fPIC"]);
    let program = compile("linker", "linker", &["-rdynamic"]);
    let functions = "mmap munmap mremap mprotect madvise posix_madvise mlock munlock msync malloc \
                     calloc realloc memalign free small mbind setrlimit fork _exit";
    for function in functions.split_whitespace() {
        for what in ["lock", "message"] {
            for pool in [Pool::Without, Pool::With] {
                let mut command = Command::new(&program);
                command.args([what, function]).arg(&library);
                check_command(command, pool);
            }
        }
    }
}

/// A library whose constructor uses memory is loaded before this library, or after it.
#[test]
fn libraries_may_use_memory_in_constructors() {
    let early = compile("early", "early_library", &["-shared", "-fPIC"]);
    for libraries in [[library(), early.clone()], [early.clone(), library()]] {
        let mut command = Command::new("echo");
        command.arg("ok");
        let mut command = under(command, Pool::With);
        let libraries = std::env::join_paths(libraries).expect("no colons in a target directory");
        command.env("LD_PRELOAD", libraries);
        let output = run(command);
        assert!(output.status.success() && output.stdout == b"ok\n", "{output:?}");
    }
}

/// An allocator that the program brings along keeps its blocks; only its mappings are served.
#[test]
fn other_allocators_keep_their_blocks() {
    let jemalloc = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let jemalloc = jemalloc.join("libjemalloc.so.2");
    assert!(jemalloc.exists(), "{} is missing: install libjemalloc2", jemalloc.display());
    let program = compile("jemalloc", "blocks", &[]);
    let file = crate::common::scratch("jemalloc-statistics").join("lines");
    for libraries in [[library(), jemalloc.clone()], [jemalloc.clone(), library()]] {
        let mut command = under(Command::new(&program), Pool::With);
        let libraries = std::env::join_paths(libraries).expect("no colons in a target directory");
        command.env("LD_PRELOAD", libraries).env("KILOCORE_PAGES_STATISTICS", &file);
        let output = run(command);
        // The program checks for glibc's answer where standards leave it open, but for nothing else.
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
    }
    let lines = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(lines.lines().all(|line| line.contains(" blocks=0 ")), "{lines}");
}
