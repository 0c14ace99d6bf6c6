//! What ships, for tests that run it: the program and the libraries, as `make` builds them.
//!
//! Cargo builds no shared library for the sake of tests, and one that somebody built earlier could
//! be stale. So the first test that asks has everything built. The command is that of `make`: were
//! it to name packages, their dependencies would be built again with other features.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

mod running;

pub use running::{Running, run, scratch, succeed};

/// Whoever has just built what ships says so by this variable, as `make test` does: Cargo would wait for
/// whatever else is being built.
const BUILT: &str = "KILOCORE_BUILT";

/// Builds what ships and returns the folder with the program `kilocore` and the shared libraries.
///
/// # Panics
/// If it does not build.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let target = target();
        if std::env::var_os(BUILT).is_none() {
            let built = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--release", "--target-dir"])
                .arg(&target)
                .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
                .status()
                .expect("cargo runs");
            assert!(built.success(), "what ships does not build");
        }
        target.join("release")
    })
}

/// Compiles the example `examples/NAME.c` of a crate with a header in `include`, without warnings,
/// and links it with `libraries` into `program`.
///
/// # Panics
/// If it does not compile.
pub fn c_example(crate_root: &Path, name: &str, program: &Path, libraries: &[&str]) {
    let folder = folder();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-pthread", "-o"])
        .arg(program)
        .arg("-I")
        .arg(crate_root.join("include"))
        .arg(crate_root.join("examples").join(name).with_extension("c"))
        .arg("-L")
        .arg(folder)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .args(libraries);
    output_of(&mut compiler);
}

/// Lets a command heed all signals, as it does when somebody starts it at a terminal.
///
/// What ignores a signal hands that on to all that it starts: `nohup` ignores SIGHUP, a shell ignores
/// SIGINT and SIGQUIT for what it runs in the background, and Python ignores SIGXFSZ. A test that
/// sends a signal, or looks at what becomes of one, must not depend on who started the tests.
pub fn heed_signals(command: &mut Command) -> &mut Command {
    let heed = || {
        for signal in 1..=libc::SIGRTMAX() {
            // The kernel refuses those that cannot be ignored, and the C library its own.
            // SAFETY: no handler is involved.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `signal` may be called between fork and exec, and nothing is allocated.
    unsafe { command.pre_exec(heed) }
}

/// Copies a program or a library that is about to be run, with its mode.
///
/// Another process writes it: one that another test starts just then would inherit the file, open for
/// writing, and until it executes, nobody may execute the copy.
///
/// # Panics
/// If it cannot be copied.
pub fn copy_to_run(from: &Path, to: &Path) {
    output_of(Command::new("cp").args(["--preserve=mode", "--"]).args([from, to]));
}

/// Returns what a command that succeeds prints.
///
/// # Panics
/// If it fails, or prints something else than text.
pub fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    String::from_utf8(output.stdout).expect("it prints text")
}

/// The target folder that this test program is in: `target` of `target/PROFILE/deps/PROGRAM`.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows where it is");
    // Tests and examples are in a folder below that of their profile; other programs are in it.
    let below = |name: &std::ffi::OsStr| name == "deps" || name == "examples";
    let folder = program.parent().expect("a program is in a folder");
    let profile =
        if folder.file_name().is_some_and(below) { folder.parent() } else { Some(folder) };
    profile.and_then(Path::parent).expect("Cargo puts a profile into the target folder").to_owned()
}
