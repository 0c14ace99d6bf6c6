//! Checks that the example in C compiles without a warning, runs, and frees what it should.

use std::path::Path;
use std::process::Command;

use kilocore_shipped::{c_example, output_of};

fn check(name: &str, libraries: &[&str]) {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    c_example(Path::new(env!("CARGO_MANIFEST_DIR")), "subscribers", &program, libraries);
    let text = output_of(&mut Command::new(program));
    let names: Vec<&str> = text.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["global", "per core", "adaptive", "short"], "{text}");
    assert!(text.lines().all(|line| line.contains("159968 updates")), "{text}");
}

#[test]
fn the_example_runs_with_the_shared_library() {
    check("subscribers-shared", &["-lkilocore_c"]);
}

#[test]
fn the_example_runs_with_the_static_library() {
    let libraries = ["-Wl,-Bstatic", "-lkilocore_c", "-Wl,-Bdynamic", "-lm", "-ldl"];
    check("subscribers-static", &libraries);
}
