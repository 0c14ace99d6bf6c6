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
    said_below("", event, more)
}

/// The same of files that begin so.
fn said_below(heading: &str, event: &str, more: &[&str]) -> String {
    said_of(heading, event, [1, 8], more)
}

/// The same of so many cores each.
fn said_of(heading: &str, event: &str, [few, many]: [u32; 2], more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, cores| {
        let path = folder.path().join(name);
        fs::write(&path, heading.to_owned() + &script(event, cores)).expect("room");
        path
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.arg("compare").arg(file("base", few)).arg(file("scaled", many));
    command.args([format!("--base-cores={few}"), format!("--scaled-cores={many}")]).args(more);
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

#[test]
fn the_clock_that_the_files_state_makes_cycles_time() {
    let on = |processor: &str| format!("# ========\n# cpudesc : {processor}\n# ========\n");
    let stated = said_below(&on("Intel(R) Xeon(R) CPU @ 3.00GHz"), "cycles", &[]);
    assert!(stated.contains("in which its cores did not run it"), "{stated}");
    assert!(stated.contains("the nominal clock from the file, 3.00 GHz"), "{stated}");
    // By this one a single core would have been busy for longer than the program ran.
    let slower = said_below(&on("Intel(R) Xeon(R) CPU @ 2.00GHz"), "cycles", &[]);
    // Each kind of a hybrid processor's cores has a clock of its own.
    let hybrid = said_below(&on("a hybrid one @ 3.00GHz"), "cpu_core/cycles/P", &[]);
    for said in [slower, hybrid] {
        assert!(said.contains("in 88 % of that time its threads slept"), "{said}");
        assert!(!said.contains("nominal clock"), "{said}");
    }
}

#[test]
fn without_more_cores_nothing_is_said_of_scaling() {
    for (cores, why) in [([8, 8], "both had as many cores"), ([8, 1], "fewer cores")] {
        for event in ["cycles", "cpu-clock"] {
            let said = said_of("", event, cores, &[]);
            assert!(said.contains("nothing of how it scales") && said.contains(why), "{said}");
            assert!(!said.contains("it scales as far") && !said.contains("linear"), "{said}");
        }
    }
}

#[test]
fn a_recording_of_the_whole_system_is_said_to_be_one() {
    let heading = "# ========\n# cmdline : /usr/bin/perf record -a -g sleep 3 \n# ========\n";
    let said = said_below(heading, "cpu-clock", &[]);
    assert!(said.contains("was recorded of the whole system (perf record -a)"), "{said}");
}
