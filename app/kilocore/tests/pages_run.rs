//! `kilocore run --pages`.

use std::process::{Command, Output};

use kilocore_shipped::folder;

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(folder().join("kilocore"));
    command.args(["run", "--pages"]).args(words).env_remove("KILOCORE_LIBRARY_DIR");
    command.output().expect("it starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

#[test]
fn the_program_keeps_its_output_and_its_status() {
    let script = "echo $KILOCORE_PAGES_MIN $KILOCORE_PAGES_MAX; echo oops >&2; exit 7";
    let output = run(&["--pages-min", "64K", "--pages-max", "1m", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("65536 1048576\n", "oops\n"));
    let output = run(&["--pages-statistics", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.code(), Some(128 + 15));
}

#[test]
fn statistics_say_what_the_pool_did() {
    let program = "for i in range(100): len(bytearray(300_000))";
    let output = run(&["--pages-statistics", "python3", "-c", program]);
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
        (&["--pages-min", "3M", "true"][..], "--pages-min: give"),
        (&["--pages-max", "1K", "true"], "--pages-max: give"),
        (&["--pages-min", "1M", "--pages-max", "64K", "true"], "make it smaller"),
        (&["--pages-total", "1M", "true"], "--pages-total: give"),
        (&["--pages-total", "lots", "true"], "give a number of bytes"),
        (&["--pages-min", "4K"], "required"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains(mend), "{words:?}: {}", text(&output.stderr));
    }
    assert_eq!(run(&["no-such-program"]).status.code(), Some(127));
}

#[test]
fn a_program_has_a_pool_and_another_lock_at_a_time() {
    let program = "import threading\n\
         def work(): [len(bytearray(300_000)) for _ in range(100)]\n\
         threads = [threading.Thread(target=work) for _ in range(4)]\n\
         [thread.start() for thread in threads]; [thread.join() for thread in threads]\n\
         print(open('/proc/self/maps').read())";
    let words = ["--pages-statistics", "--quiet", "--lock", "mcs-park", "--rwlock", "phase-fair"];
    let output = run(&[&words[..], &["python3", "-c", program]].concat());
    let (said, maps) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{said}");
    assert!(maps.contains("libkilocore_run.so") && maps.contains("libkilocore_pages.so"), "{maps}");
    let blocks = said.lines().find_map(|line| line.strip_suffix(" blocks of malloc served"));
    let blocks: u32 = blocks.expect("it counts blocks").trim().parse().expect("a number");
    assert!(blocks >= 400, "{said}");
    // What is about the pool needs the pool.
    let output = Command::new(folder().join("kilocore"))
        .args(["run", "--lock", "mcs", "--pages-min", "64K", "true"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--pages"), "{}", text(&output.stderr));
}
