//! The commands of README.md and of the guide run as they are printed there, in their order, in one
//! folder. What pages refer to is there ([`links`]). The test is here because both programs are.

#[path = "readme/links.rs"]
mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
fn root() -> PathBuf {
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

/// The commands of README.md, and then of the pages of the guide in the order of its index.
fn commands() -> Vec<String> {
    let guide = root().join("docs/guide");
    let index = fs::read_to_string(guide.join("README.md")).expect("the guide has an index");
    let lines = index.lines().filter_map(|line| line.strip_prefix("* ["));
    let pages = lines.filter_map(|line| line.split(']').next()).map(|name| guide.join(name));
    [root().join("README.md")]
        .into_iter()
        .chain(pages)
        .flat_map(|page| commands_of(&page))
        .collect()
}

#[test]
fn every_command_of_the_readme_and_the_guide_succeeds() {
    let commands = commands();
    assert!(commands.len() >= 20, "they have commands: {commands:?}");
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    // Some commands name a file of the checkout.
    for name in ["docs", "data"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
    }
    let path = std::env::var("PATH").expect("a path");
    let lab = Path::new(env!("CARGO_BIN_EXE_kilocore-lab")).parent().expect("a folder");
    let path = format!("{}:{}:{path}", kilocore_shipped::folder().display(), lab.display());
    let run = |command: &str| {
        Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .expect("a shell")
    };
    for command in commands {
        let mut output = run(&command);
        // Measuring a host that is too busy to be measured is refused, rightly.
        for _ in 0..4 {
            if output.status.success() || !command.contains("record machine") {
                break;
            }
            output = run(&command);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {message}");
        assert!(!output.stdout.is_empty() || command.contains("--output"), "{command}");
    }
    for report in ["report.html", "kyoto.json", "kyoto.html", "copy.html", "this-host.toml"] {
        assert!(folder.path().join(report).metadata().is_ok_and(|file| file.len() > 1000));
    }
}
