//! What the environment variables do.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use crate::common::{Pool, compile, library, run, scratch, under};

/// A setting that is wrong is reported in one line, and changes nothing.
#[test]
fn wrong_settings_are_reported() {
    let program = compile("wrong", "edges", &[]);
    for (name, value, complains) in [
        ("MIN", "four", true),
        ("MAX", "3M", true),
        ("TOTAL", "1K", true),
        ("MIN", "", false),
        ("MIN", "64k", false),
        ("TOTAL", "16M", false),
    ] {
        let mut command = under(Command::new(&program), Pool::With);
        command.env(format!("KILOCORE_PAGES_{name}"), value);
        let output = run(command);
        assert!(output.status.success() && output.stdout == b"ok\n", "{name}={value}: {output:?}");
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(stderr.lines().count(), usize::from(complains), "{stderr}");
        if complains {
            assert!(stderr.contains(&format!("KILOCORE_PAGES_{name}={value}: give")), "{stderr}");
        }
    }
}

/// Pages of the pool would be parts of the kernel's, so that clearing one would clear its neighbours.
#[test]
fn a_kernel_with_larger_pages_is_refused() {
    let program = compile("large-pages", "growing", &[]);
    let kernel = compile("large-pages-kernel", "large_pages", &["-shared", "-fPIC"]);
    let libraries = std::env::join_paths([kernel, library()]).expect("no colons");
    let mut command = under(Command::new(&program), Pool::With);
    command.env("LD_PRELOAD", libraries);
    let output = run(command);
    assert!(output.status.success() && output.stdout == b"ok\n", "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "kilocore: the system's pages have 65536 bytes, those of a pool 4096; memory stays as it is\n"
    );
}

/// Returns a count of the line that a program leaves.
fn count(line: &str, name: &str) -> u64 {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let found = found.unwrap_or_else(|| panic!("no {name} in {line}"));
    found.parse().unwrap_or_else(|_| panic!("{name} is no number in {line}"))
}

#[test]
fn a_program_says_what_the_pool_did() {
    let program = compile("counted", "full", &[]);
    let file = scratch("counted-lines").join("lines");
    for (least, serves) in [("4K", true), ("2M", false)] {
        let _ = std::fs::remove_file(&file);
        let mut command = under(Command::new(&program), Pool::With);
        command.env("KILOCORE_PAGES_STATISTICS", &file).env("KILOCORE_PAGES_MIN", least);
        assert!(run(command).status.success());
        let lines = std::fs::read_to_string(&file).expect("the program wrote it");
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains(" name=full "), "{lines}");
        // The program maps 64 times half a megabyte, in 20 rounds.
        assert_eq!(count(&lines, "mappings"), if serves { 1280 } else { 0 }, "{lines}");
        let pages = count(&lines, "zero") + count(&lines, "cleared");
        // Some ranges are made zero by giving their memory back.
        assert!(pages <= 1280 * 128 && (pages > 1000 * 128) == serves, "{lines}");
        assert_eq!(count(&lines, "full") + count(&lines, "lost"), 0, "{lines}");
    }
}

/// Blocks that grow large are served like those that are large from the start.
#[test]
fn blocks_that_grow_are_served() {
    let program = compile("growing", "growing", &[]);
    assert!(run(under(Command::new(&program), Pool::Without)).status.success());
    let file = scratch("growing-lines").join("lines");
    let mut command = under(Command::new(&program), Pool::With);
    command.env("KILOCORE_PAGES_STATISTICS", &file);
    let output = run(command);
    assert!(output.status.success() && output.stdout == b"ok\n", "{output:?}");
    let lines = std::fs::read_to_string(&file).expect("the program wrote it");
    // The last one is made anew when it has used up the room that it got first.
    assert!((4..=5).contains(&count(&lines, "blocks")), "{lines}");
}

#[test]
fn a_line_goes_to_no_file_that_somebody_else_put_there() {
    let program = compile("counted-elsewhere", "full", &[]);
    let folder = scratch("lines-elsewhere");
    let (asked, other) = (folder.join("lines"), folder.join("other"));
    let says = || {
        let mut command = under(Command::new(&program), Pool::With);
        command.env("KILOCORE_PAGES_STATISTICS", &asked);
        assert!(run(command).status.success());
    };
    let remove = || [&asked, &other].map(|file| drop(std::fs::remove_file(file)));
    remove();
    says();
    let mode = std::fs::metadata(&asked).expect("the program made it").permissions().mode();
    assert_eq!(mode & 0o077, 0, "it is its user's alone: {mode:o}");
    remove();
    symlink(&other, &asked).expect("there is room");
    std::fs::write(&other, "").expect("there is room");
    says();
    assert_eq!(std::fs::read(&other).expect("it is there"), b"", "a link was followed");
    remove();
    std::fs::write(&asked, "").expect("there is room");
    if chown(&asked, Some(65534), None).is_err() {
        eprintln!("the rest is left out: only root can give a file to another user");
        return;
    }
    says();
    assert_eq!(std::fs::read(&asked).expect("it is there"), b"", "it is another user's");
}
