//! Checks that the example in C compiles without a warning, runs, and frees what it should.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn succeed(mut command: Command) -> Output {
    let output = command.output().expect("the command starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    output
}

/// Compiles the example and links it with `library`.
fn compile(name: &str, library: &[&str]) -> PathBuf {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = kilocore_shipped::folder();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-pthread", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(crate_root.join("include"))
        .arg(crate_root.join("examples/subscribers.c"))
        .arg("-L")
        .arg(directory)
        .arg(format!("-Wl,-rpath,{}", directory.display()))
        .args(library);
    succeed(compiler);
    program
}

fn check_output(program: &Path) {
    let output = succeed(Command::new(program));
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let names: Vec<&str> = text.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["global", "per core", "adaptive", "short"], "{text}");
    assert!(text.lines().all(|line| line.contains("159968 updates")), "{text}");
}

#[test]
fn the_example_runs_with_the_shared_library() {
    check_output(&compile("subscribers-shared", &["-lkilocore_ldu_c"]));
}

#[test]
fn the_example_runs_with_the_static_library() {
    let library = ["-Wl,-Bstatic", "-lkilocore_ldu_c", "-Wl,-Bdynamic", "-lm", "-ldl"];
    check_output(&compile("subscribers-static", &library));
}
