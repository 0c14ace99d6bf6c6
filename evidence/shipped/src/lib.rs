//! What ships, for tests that run it: the program and the libraries, as `make` builds them.
//!
//! Cargo builds no shared library for the sake of tests, and one that somebody built earlier could
//! be stale. So the first test that asks has everything built. The command is that of `make`: were
//! it to name packages, their dependencies would be built again with other features.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds what ships and returns the folder with the program `kilocore` and the shared libraries.
///
/// # Panics
/// If it does not build.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let target = target();
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--release", "--target-dir"])
            .arg(&target)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .status()
            .expect("cargo runs");
        assert!(built.success(), "what ships does not build");
        target.join("release")
    })
}

/// The target folder that this test program is in: `target` of `target/PROFILE/deps/PROGRAM`.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows where it is");
    program.ancestors().nth(3).expect("Cargo puts programs three folders deep").to_owned()
}
