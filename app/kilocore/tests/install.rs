//! Installation: `make install` and `make deb`, less the building.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn tool(name: &str, words: &[&str]) -> Output {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp");
    let output = Command::new(project.join("tools").join(name))
        .args(words)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("it is there").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                found.push(path.strip_prefix(folder).expect("below").display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
#[ignore = "needs the release build of the workspace, as make leaves it"]
fn what_is_installed_works_and_goes_away_again() {
    let root = tempfile::tempdir().unwrap();
    let to = root.path().join("local");
    tool("install", &["install", to.to_str().unwrap()]);
    let installed = files(&to);
    for file in [
        "bin/kilocore",
        "lib/kilocore/libkilocore_allocations.so",
        "lib/kilocore/libkilocore_emulate_qemu.so",
        "lib/kilocore/libkilocore_measure.so",
        "lib/kilocore/libkilocore_numa_qemu.so",
        "lib/kilocore/libkilocore_pages.so",
        "lib/kilocore/libkilocore_run.so",
        "share/bash-completion/completions/kilocore",
        "share/fish/vendor_completions.d/kilocore.fish",
        "share/man/man1/kilocore-doctor.1",
        "share/zsh/site-functions/_kilocore",
    ] {
        assert!(installed.iter().any(|found| found == file), "no {file} in {installed:?}");
    }
    let program = to.join("bin/kilocore");
    let facts = fs::metadata(&program).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o755);
    assert!(facts.len() < 20 << 20, "it is stripped: {} bytes", facts.len());
    // It finds its libraries where it was put.
    let profile = root.path().join("profile.json");
    let output = Command::new(&program)
        .args(["record", "locks", "--output"])
        .arg(&profile)
        .args(["sh", "-c", "exit 3"])
        .env_remove("KILOCORE_LIBRARY_DIR")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(profile.exists());
    tool("install", &["uninstall", to.to_str().unwrap()]);
    assert_eq!(files(&to), [""; 0]);
}

#[test]
#[ignore = "needs the release build of the workspace, as make leaves it"]
fn a_debian_package_is_made_that_dpkg_understands() {
    let said = tool("deb", &[]).stdout;
    let package = String::from_utf8(said).unwrap();
    let listed = Command::new("dpkg-deb").args(["--contents", package.trim()]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for file in ["/usr/bin/kilocore", "/usr/share/man/man1/kilocore.1.gz", "doc/kilocore/copyright"]
    {
        assert!(listed.contains(file), "no {file} in {listed}");
    }
    let facts = Command::new("dpkg-deb").args(["--info", package.trim()]).output().unwrap();
    let facts = String::from_utf8_lossy(&facts.stdout).into_owned();
    assert!(facts.contains("Package: kilocore") && facts.contains("libc6 (>= 2."), "{facts}");
}
