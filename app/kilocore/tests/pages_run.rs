//! `kilocore pages run`.

use std::process::{Command, Output};

use kilocore_shipped::folder;

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(folder().join("kilocore"));
    command.args(["pages", "run"]).args(words).env_remove("KILOCORE_LIBRARY_DIR");
    command.output().expect("it starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

#[test]
fn the_program_keeps_its_output_and_its_status() {
    let script = "echo $KILOCORE_PAGES_MIN $KILOCORE_PAGES_MAX; echo oops >&2; exit 7";
    let output = run(&["--min", "64K", "--max", "1m", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("65536 1048576\n", "oops\n"));
    let output = run(&["--statistics", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.code(), Some(128 + 15));
}

#[test]
fn statistics_say_what_the_pool_did() {
    let program = "for i in range(100): len(bytearray(300_000))";
    let output = run(&["--statistics", "python3", "-c", program]);
    let said = text(&output.stderr);
    assert!(output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("processes that had a page pool: 1\n"), "{said}");
    let blocks = said.lines().find_map(|line| line.strip_suffix(" blocks of malloc served"));
    let blocks: u32 = blocks.expect("it counts blocks").trim().parse().expect("a number");
    assert!((100..1000).contains(&blocks), "{said}");
}

#[test]
fn what_the_pool_cannot_do_is_refused() {
    for (words, mend) in [
        (&["--min", "3M", "true"][..], "--min: give"),
        (&["--max", "1K", "true"], "--max: give"),
        (&["--min", "1M", "--max", "64K", "true"], "make it smaller"),
        (&["--total", "1M", "true"], "--total: give"),
        (&["--total", "lots", "true"], "give a number of bytes"),
        (&["--min", "4K"], "required"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains(mend), "{words:?}: {}", text(&output.stderr));
    }
    assert_eq!(run(&["no-such-program"]).status.code(), Some(127));
}
