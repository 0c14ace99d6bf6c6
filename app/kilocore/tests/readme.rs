//! The commands of the README run as they are printed there, in their order, in one folder.

use std::path::Path;
use std::process::Command;

/// The commands in the README's console blocks.
fn commands() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let mut in_console = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if let (true, Some(command)) = (in_console, line.strip_prefix("$ ")) {
            commands.push(command.to_owned());
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_succeeds() {
    let commands = commands();
    assert!(commands.len() >= 10, "the README has a tour: {commands:?}");
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    // Some commands name a file of the checkout.
    for name in ["docs", "data"] {
        let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        std::os::unix::fs::symlink(there, folder.path().join(name)).expect("a link");
    }
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", kilocore_shipped::folder().display());
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
