//! Checks that the example in C compiles without a warning and runs, with the shared library and the static
//! one, and under AddressSanitizer.

use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_shipped::{c_example, output_of};

fn compile(name: &str, libraries: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    c_example(Path::new(env!("CARGO_MANIFEST_DIR")), "buffers", &program, libraries);
    program
}

fn check(program: PathBuf) {
    let said = output_of(&mut Command::new(program));
    assert_eq!(said, "3 workers served 500 requests each\n");
}

#[test]
fn the_example_runs_with_the_shared_library() {
    check(compile("buffers-shared", &["-lkilocore_c"]));
}

#[test]
fn the_example_runs_with_the_static_library() {
    let libraries = ["-Wl,-Bstatic", "-lkilocore_c", "-Wl,-Bdynamic", "-lm", "-ldl"];
    check(compile("buffers-static", &libraries));
}

#[test]
fn the_example_runs_under_address_sanitizer() {
    check(compile("buffers-sanitized", &["-fsanitize=address", "-lkilocore_c"]));
}
