//! Threads that sleep for a lock: a hardware event does not count while they do.

use std::fs;
use std::process::Command;

/// What `perf script` prints of as many samples of an event whatever the cores, in three seconds.
fn script(event: &str, cores: u32) -> String {
    let sample = |index: u32| {
        let (thread, time) = (index % cores, 100.0 + f64::from(index) * 0.001);
        let function = ["handle", "parse", "reply"][index as usize % 3];
        format!(
            "worker {} [{thread:03}] {time:.6}:    3000000 {event}:P: \n\
             \t          401000 {function}+0x1f (/usr/bin/srv)\n\
             \t          4012a0 main+0x40 (/usr/bin/srv)\n\n",
            4000 + thread
        )
    };
    (0..3000).map(sample).collect()
}

/// What is said of one core and eight, in one line.
fn said(event: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, cores| {
        let path = folder.path().join(name);
        fs::write(&path, script(event, cores)).expect("room");
        path
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.arg("locate").arg(file("base", 1)).arg(file("scaled", 8));
    command.args(["--base-cores", "1", "--scaled-cores", "8"]).args(more);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_headline_says_what_the_speedup_says_whatever_the_event() {
    for event in ["cycles", "instructions"] {
        let said = said(event, &[]);
        assert!(said.contains("12 % of a linear speedup"), "{said}");
        assert!(!said.contains("it scales"), "{said}");
        assert!(said.contains("in 88 % of that time its threads slept"), "{said}");
    }
    for (event, more) in [("cycles", &["--clock", "3"][..]), ("cpu-clock", &[])] {
        let said = said(event, more);
        assert!(!said.contains("it scales"), "{said}");
        assert!(said.contains("in which its cores did not run it"), "{said}");
    }
}
