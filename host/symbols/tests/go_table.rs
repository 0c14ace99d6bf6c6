//! Stripped programs with a table of functions as Go's linker writes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_symbols::Binary;

/// Two functions of 16 bytes each behind `before`, and their table. `stated` is where it says that
/// Go's functions begin.
fn source(before: &str, stated: &str) -> String {
    format!(
        r#"
.text
.globl _start, second
{before}
.balign 16
first: ret
.balign 16
second: ret
.balign 16
behind:
.section .gopclntab, "a"
.balign 8
.byte 0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8
.quad 2, 0, {stated}, names - header, 0, 0, 0, list - header
.equ header, . - 72
names: .asciz "sync.(*Mutex).lockSlow"
other: .asciz "_rt0_amd64_linux"
.balign 8
list:
.long 0, record_of_first - list, second - first, record_of_second - list, behind - first
record_of_first: .long 0, 0
record_of_second: .long second - first, other - names
"#
    )
}

/// Assembles it, with an entry and without a symbol table.
fn link(folder: &Path, text: &str, entry: &str) -> PathBuf {
    let source = folder.join("source.s");
    fs::write(&source, text).expect("there is room");
    let program = folder.join("program");
    let mut command = Command::new("gcc");
    let command = command.args(["-nostdlib", "-static", "-s", entry, "-o"]);
    let status = command.arg(&program).arg(&source).status();
    assert!(status.expect("gcc runs").success());
    program
}

/// Where the code begins.
fn text_of(program: &Path) -> u64 {
    let output = Command::new("readelf").args(["-SW"]).arg(program).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is plain");
    let line = text.lines().find_map(|line| line.split_once(" .text ")).expect("it has code").1;
    let digits = line.split_whitespace().nth(1).expect("it has an address");
    u64::from_str_radix(digits, 16).expect("it is a number")
}

const LOCK: &str = "sync.(*Mutex).lockSlow";

/// The slow path of the lock, with a number, and where it begins.
fn lock_of(program: &Path) -> Vec<(usize, u64)> {
    let binary = Binary::open(program).expect("it is one");
    let found = binary.functions(&|name| (name == LOCK).then_some(1));
    found.into_iter().map(|(index, code)| (index, code.start)).collect()
}

#[test]
fn functions_are_named_wherever_the_table_says_they_begin() {
    let folder = tempfile::tempdir().expect("there is room");
    // What another linker put before Go's functions.
    let before = "_start: ret\n.space 100";
    let program = link(folder.path(), &source(before, "first"), "-Wl,-e,_start");
    let binary = Binary::open(&program).expect("it is one");
    let first = text_of(&program) + 112;
    assert!(!binary.has_symbol_table());
    assert_eq!(binary.function(first).as_deref(), Some(LOCK));
    assert_eq!(binary.function(first + 15).as_deref(), Some(LOCK));
    assert_eq!(binary.function(first + 16).as_deref(), Some("_rt0_amd64_linux"));
    assert_eq!(binary.function(first + 32), None);
    assert_eq!(lock_of(&program), [(1, first)]);
}

#[test]
fn where_nothing_says_where_they_begin_the_entry_has_to_agree() {
    let folder = tempfile::tempdir().expect("there is room");
    let program = link(folder.path(), &source("_start:", "0"), "-Wl,-e,second");
    assert_eq!(lock_of(&program), [(1, text_of(&program))]);
    let program = link(folder.path(), &source("_start: ret\n.space 100", "0"), "-Wl,-e,_start");
    assert_eq!(lock_of(&program), []);
    let binary = Binary::open(&program).expect("it is one");
    assert_eq!(binary.function(text_of(&program)), None);
}
