//! The commands of README.md and of the guide, run as they are printed there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

/// The commands in a page's console blocks.
fn commands_of(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    let mut in_console = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if let (true, Some(command)) = (in_console, line.strip_prefix("$ ")) {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// The commands of README.md, and then of the pages of the guide in the order of its index: those that
/// only compute, and the others.
pub(crate) fn computing_and_others() -> (Vec<String>, Vec<String>) {
    let guide = root().join("docs/guide");
    let index = fs::read_to_string(guide.join("README.md")).expect("the guide has an index");
    let lines = index.lines().filter_map(|line| line.strip_prefix("* ["));
    let pages = lines.filter_map(|line| line.split(']').next()).map(|name| guide.join(name));
    [root().join("README.md")]
        .into_iter()
        .chain(pages)
        .flat_map(|page| commands_of(&page))
        .partition(|command| only_computes(command))
}

/// Whether a command simulates, and reads nothing but files of the checkout. Then it says the same each
/// time.
fn only_computes(command: &str) -> bool {
    let Some((program, words)) = command.split_once(' ') else { return false };
    let simulates =
        program == "kilocore-lab" || program == "kilocore" && words.starts_with("forecast docs/");
    // What commands record is in files of their folder, as `sort.refs` and `this-host.toml` are.
    let reads_what_was_recorded =
        words.split(' ').any(|word| word.contains('.') && !word.starts_with("docs/"));
    simulates && !reads_what_was_recorded
}

/// A folder for commands. Some of them name a file of the checkout.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    for name in ["docs", "data"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
    }
    folder
}

/// Runs a command in `folder`.
pub(crate) fn run(command: &str, folder: &TempDir) -> Output {
    let path = std::env::var("PATH").expect("a path");
    let lab = Path::new(env!("CARGO_BIN_EXE_kilocore-lab")).parent().expect("a folder");
    let path = format!("{}:{}:{path}", kilocore_shipped::folder().display(), lab.display());
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.path())
        .env("PATH", &path)
        .env("XDG_CACHE_HOME", folder.path().join(".cache"))
        .output()
        .expect("a shell")
}

/// Asserts that a command did what it should, and said something, on its output or in a file.
#[track_caller]
pub(crate) fn assert_succeeded(command: &str, output: &Output) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {message}");
    let is_in_a_file = ["--output", "--plan"].iter().any(|option| command.contains(option));
    assert!(!output.stdout.is_empty() || is_in_a_file, "{command}");
}
