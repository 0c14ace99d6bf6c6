//! Real programs give the same answers with the pool as without it. They are in these Debian packages: gcc
//! default-jdk-headless python3 redis-server redis-tools xz-utils.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{EACH, Pool, scratch, succeed, under};

/// Checks that a command gives the same answer each time, and returns it. `make` returns the command, and
/// `answer` what it made, besides what it prints.
fn same(make: impl Fn() -> Command, answer: impl Fn() -> Vec<u8>) {
    let mut expected = None;
    for pool in EACH {
        let mut given = succeed(under(make(), pool));
        given.extend(answer());
        assert!(!given.is_empty());
        assert!(*expected.get_or_insert_with(|| given.clone()) == given, "{:?} {pool:?}", make());
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real").join(name)
}

/// Returns some lines in no order. They are the same in each run.
fn lines(count: u32) -> String {
    let mut state = 1_u64;
    let line = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        format!("{:x} and some more text\n", state >> 24)
    };
    (0..count).map(line).collect()
}

#[test]
fn gcc_compiles_the_same() {
    let folder = scratch("gcc");
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/owners.c");
    let output = folder.join("owners.o");
    let compile = || {
        let mut command = Command::new("gcc");
        command.args(["-std=gnu11", "-O2", "-c", "-pipe", "-o"]).arg(&output).arg(&input);
        command
    };
    same(compile, || std::fs::read(&output).expect("gcc wrote it"));
}

#[test]
fn sort_sorts_the_same() {
    let folder = scratch("sort");
    let input = folder.join("lines");
    std::fs::write(&input, lines(150_000)).expect("a scratch directory can be written");
    for options in [&["--parallel=4"][..], &["-S", "1M", "--parallel=2"], &["-S", "8M", "-r"]] {
        let sort = || {
            let mut command = Command::new("sort");
            command.args(options).arg("-T").arg(&folder).arg(&input);
            command
        };
        same(sort, Vec::new);
    }
}

#[test]
fn java_computes_the_same() {
    let java = || {
        let mut command = Command::new("java");
        command.arg("-Xmx64m").arg(source("Memory.java"));
        command
    };
    same(java, Vec::new);
}

#[test]
fn python_computes_the_same() {
    let python = || {
        let mut command = Command::new("python3");
        command.arg(source("memory.py"));
        command
    };
    same(python, Vec::new);
}

#[test]
fn xz_packs_the_same() {
    let folder = scratch("xz");
    let input = folder.join("lines");
    std::fs::write(&input, lines(100_000)).expect("a scratch directory can be written");
    let pack = || {
        let mut command = Command::new("xz");
        command.args(["-T2", "-1", "--block-size=300000", "--stdout"]).arg(&input);
        command
    };
    same(pack, Vec::new);
}

#[test]
fn redis_answers_the_same() {
    let mut expected = None;
    for pool in [Pool::Without, Pool::With] {
        let given = crate::redis::digest(pool);
        assert_eq!(*expected.get_or_insert_with(|| given.clone()), given, "{pool:?}");
    }
}
