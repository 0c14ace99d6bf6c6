//! Executable files as a compiler makes them, and damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use kilocore_symbols::{Binary, BinaryError, own_vdso};
use proptest::prelude::*;

const SOURCE: &str = "
static int plus(int a) { return a + 1; }
static inline __attribute__((always_inline)) int inlined(int a) { return a * 3; }
__attribute__((noinline)) int outer(int a) { return inlined(a) ^ plus(a); }
int main(int argc, char **argv) { return outer(argc); }
";

/// Compiles it, with a build id and debugging information.
fn compile(directory: &Path, name: &str, options: &[&str]) -> PathBuf {
    let source = directory.join("source.c");
    fs::write(&source, SOURCE).expect("there is room");
    let program = directory.join(name);
    let status = Command::new("gcc")
        .args(["-g", "-O1", "-Wl,--build-id"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .status();
    assert!(status.expect("gcc runs").success());
    program
}

fn run(command: &str, arguments: &[&Path]) {
    let words: Vec<&str> = command.split(' ').collect();
    let status = Command::new(words[0]).args(&words[1..]).args(arguments).status();
    assert!(status.expect("binutils are there").success());
}

/// The address of a function by `nm`.
fn address_of(program: &Path, function: &str) -> u64 {
    let output = Command::new("nm").arg(program).output().expect("binutils are there");
    let text = String::from_utf8(output.stdout).expect("names are plain");
    let line = text.lines().find(|line| line.ends_with(&format!(" {function}")));
    let digits = line.and_then(|line| line.split(' ').next()).expect("it is there");
    u64::from_str_radix(digits, 16).expect("it is a number")
}

#[test]
fn functions_of_a_stripped_program_are_told_apart() {
    let directory = tempfile::tempdir().expect("there is room");
    let program = compile(directory.path(), "whole", &[]);
    let (outer, main) = (address_of(&program, "outer"), address_of(&program, "main"));
    let stripped = directory.path().join("stripped");
    run("strip -o", &[&stripped, &program]);
    let binary = Binary::open(&stripped).expect("it is one");
    assert!(!binary.has_symbol_table() && binary.function(outer).is_none());
    for start in [outer, main] {
        assert_eq!(binary.function_start(start), Some(start));
        assert_eq!(binary.function_start(start + 3), Some(start));
    }
    assert_eq!(binary.function_start(0), None);
    assert_eq!(binary.function_start(u64::MAX), None);
}

#[test]
fn functions_and_what_was_inlined_are_named() {
    let directory = tempfile::tempdir().expect("there is room");
    let program = compile(directory.path(), "program", &[]);
    let binary = Binary::open(&program).expect("it is one");
    let outer = address_of(&program, "outer");
    assert_eq!(binary.function(outer).as_deref(), Some("outer"));
    assert!(binary.build_id().is_some() && binary.has_symbol_table());
    let names: Vec<String> =
        (outer..outer + 12).flat_map(|at| binary.frames(at)).map(|frame| frame.function).collect();
    assert!(names.iter().any(|name| name == "inlined"), "{names:?}");
    let outermost = binary.frames(outer).pop().expect("there is one at least");
    assert_eq!(outermost.function, "outer");
    let line = outermost.line.expect("it has lines");
    assert!(line.ends_with("source.c:4"), "{line}");
}

#[test]
fn debugging_information_may_be_compressed() {
    let directory = tempfile::tempdir().expect("there is room");
    let program = compile(directory.path(), "compressed", &["-gz=zlib"]);
    let binary = Binary::open(&program).expect("it is one");
    let outer = address_of(&program, "outer");
    let frames: Vec<_> = (outer..outer + 12).flat_map(|at| binary.frames(at)).collect();
    assert!(frames.iter().any(|frame| frame.function == "inlined"), "{frames:?}");
}

#[test]
fn a_separate_debug_file_has_the_names_of_a_stripped_one() {
    let directory = tempfile::tempdir().expect("there is room");
    let program = compile(directory.path(), "program", &[]);
    let outer = address_of(&program, "outer");
    let debug = directory.path().join("program.debug");
    run("objcopy --only-keep-debug", &[&program, &debug]);
    run("strip", &[&program]);
    let mut named = Binary::open(&program).expect("it is one");
    assert!(!named.has_symbol_table());
    assert_eq!(named.function(outer), None);
    assert!(named.take_debug_file(&debug).expect("it can be read"));
    assert_eq!(named.function(outer).as_deref(), Some("outer"));
    let outermost = named.frames(outer).pop().expect("there is one at least");
    assert_eq!(outermost.function, "outer");

    let other = compile(directory.path(), "other", &["-DOTHER", "-O0"]);
    let mut unnamed = Binary::open(&program).expect("it is one");
    assert!(!unnamed.take_debug_file(&other).expect("it can be read"), "it is of another build");
    assert_eq!(unnamed.function(outer), None);
}

#[test]
fn what_is_no_binary_is_said() {
    let message = |path: &str| Binary::open(Path::new(path)).expect_err("it is none").to_string();
    assert!(message("/nonexistent/file").contains("/nonexistent/file"));
    assert!(message("/dev/zero").contains("not a regular file"));
    assert!(message("/proc/self/maps").contains("the kernel makes up"));
    assert!(message("/etc/passwd").contains("not an executable file"));
}

#[test]
fn the_code_that_the_kernel_lends_is_named() {
    let image = own_vdso().expect("Linux has one");
    let vdso = Binary::parse(Path::new("[vdso]"), &image).expect("it is an ELF file");
    assert!(vdso.build_id().is_some());
    let names: Vec<String> =
        (0..image.len() as u64).step_by(16).filter_map(|at| vdso.function(at)).collect();
    assert!(names.iter().any(|name| name.contains("gettime")), "{names:?}");
}

/// A whole program, compiled once.
fn program() -> &'static [u8] {
    static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let directory = tempfile::tempdir().expect("there is room");
        fs::read(compile(directory.path(), "program", &[])).expect("it is there")
    })
}

/// Asks for everything that a file may say.
fn ask(bytes: &[u8], addresses: &[u64]) {
    let directory = tempfile::tempdir().expect("there is room");
    let path = directory.path().join("damaged");
    fs::write(&path, bytes).expect("there is room");
    match Binary::open(&path) {
        Ok(binary) => {
            for &at in addresses {
                let _ = (binary.address(at), binary.function(at), binary.frames(at));
            }
        }
        Err(error) => assert!(matches!(error, BinaryError::Parse { .. }), "{error}"),
    }
}

fn addresses() -> Vec<u64> {
    (0x1000..0x1200).step_by(7).chain([0, 0x401_000, u64::MAX]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_damaged_binary_does_no_harm(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..60),
    ) {
        let mut bytes = program().to_vec();
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at.index(length)] = byte;
        }
        ask(&bytes, &addresses());
    }

    #[test]
    fn a_damaged_header_does_no_harm(
        changes in proptest::collection::vec((0_usize..1024, any::<u8>()), 1..12),
    ) {
        let mut bytes = program().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        ask(&bytes, &addresses());
    }

    #[test]
    fn a_binary_cut_short_does_no_harm(length in any::<proptest::sample::Index>()) {
        let bytes = program();
        ask(&bytes[..length.index(bytes.len())], &addresses());
    }
}

#[test]
fn all_mappings_of_a_file_begin_at_the_same_place() {
    let own = std::env::current_exe().expect("there is one");
    let binary = Binary::open(&own).expect("it is one");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("it is there");
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let zeros: Vec<u64> = maps
        .lines()
        .filter(|line| line.ends_with(own.to_str().expect("a plain name")))
        .map(|line| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next().and_then(|range| range.split_once('-')).expect("one");
            let offset = words.nth(1).expect("there is an offset");
            binary.zero(hex(start)..hex(end), hex(offset)).expect("a segment is there")
        })
        .collect();
    assert!(zeros.len() > 2, "{maps}");
    assert!(zeros.iter().all(|zero| *zero == zeros[0]), "{zeros:x?}\n{maps}");
}
