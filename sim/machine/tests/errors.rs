//! What is said of machine files that are wrong: the file, the line, the key, the mend.

use kilocore_machine::{Description, MachineError, builtin, find};

const BASE: &str = "opteron-6344-4s";

/// The message for a built-in file in which one line is replaced.
fn message(line: &str, with: &str) -> String {
    let text = builtin().iter().find(|machine| machine.name == BASE).expect("it is built in").text;
    assert_eq!(text.lines().filter(|l| *l == line).count(), 1, "one line `{line}`");
    let changed: String =
        text.lines().map(|l| if l == line { with } else { l }.to_owned() + "\n").collect();
    match Description::parse(&changed, "my.toml") {
        Ok(_) => panic!("`{with}` passes"),
        Err(error) => error.to_string(),
    }
}

fn line_of(wanted: &str) -> usize {
    let text = builtin().iter().find(|machine| machine.name == BASE).expect("it is built in").text;
    1 + text.lines().position(|line| line == wanted).expect("the line is there")
}

#[test]
fn each_slip_is_named_with_its_place_and_its_mend() {
    // The line, what it is replaced by, the key, what is wrong, the mend.
    let cases = [
        (
            "same_node_ns.value = 39",
            "",
            "latency.same_node_ns.value",
            "is missing",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = -39",
            "latency.same_node_ns.value",
            "is -39",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = 0",
            "latency.same_node_ns.value",
            "is 0",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = nan",
            "latency.same_node_ns.value",
            "is NaN",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = inf",
            "latency.same_node_ns.value",
            "is inf",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = 1e300",
            "latency.same_node_ns.value",
            "is 1000",
            "from 0.1 to 10000",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = \"39\"",
            "latency.same_node_ns.value",
            "is a string",
            "a number",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = 10",
            "latency.same_node_ns.value",
            "is 10, less than `latency.same_group_ns`, which is 20",
            "farther takes no less time",
        ),
        (
            "same_node_ns.value = 39",
            "same_node_ns.vale = 39",
            "latency.same_node_ns.vale",
            "is unknown",
            "did you mean `value`?",
        ),
        (
            "same_node_ns.value = 39",
            "same_nod_ns.value = 39",
            "latency.same_nod_ns",
            "is unknown",
            "did you mean `same_node_ns`?",
        ),
        ("clock_ghz.value = 2.6", "clock_ghz.value = 2600", "clock_ghz.value", "is 2600", "in GHz"),
        ("sockets = 4", "sockets = 0", "topology.sockets", "is 0", "from 1 to 64"),
        (
            "sockets = 4",
            "sockets = 4.0",
            "topology.sockets",
            "is a number",
            "a whole number from 1 to 64",
        ),
        (
            "sockets = 4",
            "sockets = 1000000000",
            "topology.sockets",
            "is 1000000000",
            "from 1 to 64",
        ),
        (
            "sockets = 4",
            "sockets = 2",
            "topology.hops",
            "does not fit the machine's 4 nodes",
            "4 lists of 4",
        ),
        (
            "cores_per_group = 2",
            "cores_per_group = 1000",
            "topology",
            "multiplies to 24000 hardware threads",
            "at most 4096",
        ),
        (
            "    [1, 0, 2, 1, 2, 1, 2, 1],",
            "    [1, 0, 1, 1, 2, 1, 2, 1],",
            "topology.hops[1][2]",
            "is 1, but the way back is 2",
            "symmetric",
        ),
        (
            "    [1, 0, 2, 1, 2, 1, 2, 1],",
            "    [1, 3, 2, 1, 2, 1, 2, 1],",
            "topology.hops[1][1]",
            "is 3",
            "0 hops from itself",
        ),
        (
            "    [1, 0, 2, 1, 2, 1, 2, 1],",
            "    [1, 0, 0, 1, 2, 1, 2, 1],",
            "topology.hops[1][2]",
            "is 0",
            "1 to 16 hops",
        ),
        (
            "    [1, 0, 2, 1, 2, 1, 2, 1],",
            "    \"far\",",
            "topology.hops",
            "is not a list of lists",
            "8 lists of 8",
        ),
        ("line_bytes = 64", "line_bytes = 60", "caches.line_bytes", "is 60", "a power of two"),
        (
            "shared_per_node = 1",
            "shared_per_node = 2",
            "caches.shared_per_node",
            "is 2",
            "write 1, or the number of groups in a node, 3",
        ),
        (
            "shared_hit_ns.value = 22",
            "shared_hit_ns.value = 0",
            "caches.shared_hit_ns.value",
            "is 0 although",
            "set caches.shared_kib to 0",
        ),
        (
            "remote_ns.value = 155",
            "remote_ns.value = 45",
            "memory.remote_ns.value",
            "is 45, less than `memory.local_ns`",
            "no nearer",
        ),
        (
            "spin_w.value = 5",
            "spin_w.value = 7",
            "power.active_w.value",
            "is 6.5, less than `power.spin_w`",
            "no less power",
        ),
        (
            "smt_throughput.value = 1",
            "smt_throughput.value = 1.3",
            "smt_throughput.value",
            "is 1.3, more than `topology.threads_per_core`, which is 1",
            "to 1",
        ),
        (
            "smt_throughput.value = 1",
            "smt_throughput.value = 0.9",
            "smt_throughput.value",
            "is 0.9",
            "from 1 to 16",
        ),
        (
            "pause_cycles.value = 10",
            "pause_cycles.value = -1",
            "coherence.pause_cycles.value",
            "is -1",
            "from 0 to 1000",
        ),
        ("[os]", "[oss]", "oss", "is unknown", "did you mean `os`?"),
        ("schema = 1", "schema = 2", "schema", "is 2", "write schema = 1"),
        (
            "name = \"opteron-6344-4s\"",
            "name = \"My Opteron\"",
            "name",
            "is \"My Opteron\"",
            "lower-case letters",
        ),
        ("name = \"opteron-6344-4s\"", "name = \" \"", "name", "is empty", "write name = \"…\""),
        (
            "same_node_ns.value = 39",
            "same_node_ns.value = 39\nsame_node_ns.estimated = \"too\"",
            "latency.same_node_ns",
            "has both a source and an estimate",
            "exactly one",
        ),
        (
            "local_ns.source = \"AnandTech, review of the Opteron 6174: 98 ns (SiSoft Sandra), the model before\"",
            "",
            "memory.local_ns",
            "has neither a source nor an estimate",
            "exactly one",
        ),
        (
            "local_ns.source = \"AnandTech, review of the Opteron 6174: 98 ns (SiSoft Sandra), the model before\"",
            "local_ns.source = \"\"",
            "memory.local_ns.source",
            "is empty",
            "exactly one",
        ),
        (
            "local_ns.source = \"AnandTech, review of the Opteron 6174: 98 ns (SiSoft Sandra), the model before\"",
            "local_ns.source = 98",
            "memory.local_ns.source",
            "is a whole number",
            "exactly one",
        ),
    ];
    for (line, with, key, problem, mend) in cases {
        let message = message(line, with);
        assert!(message.starts_with("my.toml, line "), "{message}");
        assert!(message.contains(&format!("`{key}` {problem}")), "{key} {problem}: {message}");
        assert!(message.contains(mend), "{mend}: {message}");
    }
}

#[test]
fn the_line_is_the_one_with_the_slip() {
    let line = "clock_ghz.value = 2.6";
    let message = message(line, "clock_ghz.value = -1");
    assert!(message.starts_with(&format!("my.toml, line {}:", line_of(line))), "{message}");
}

#[test]
fn a_figure_without_its_source_and_a_missing_section_are_named() {
    let message = message("schema = 1", "schema = 1\nclock = 2.6");
    assert!(message.contains("`clock` is unknown"), "{message}");
    let message = Description::parse("clock_ghz = 2.6\n", "my.toml").unwrap_err().to_string();
    assert!(
        message.contains("`topology` is missing") && message.contains("[topology]"),
        "{message}"
    );
    let text = find(BASE).expect("it is built in").to_toml();
    let bare = text.replace("clock_ghz.value = 2.6", "clock_ghz = 2.6");
    let bare: String = bare
        .lines()
        .filter(|l| !l.starts_with("clock_ghz.source"))
        .map(|l| l.to_owned() + "\n")
        .collect();
    let message = Description::parse(&bare, "my.toml").unwrap_err().to_string();
    assert!(message.contains("`clock_ghz` is a number without a source"), "{message}");
}

#[test]
fn what_is_not_toml_is_named_with_its_line() {
    let error = Description::parse("schema = 1\nname = \n", "my.toml").unwrap_err();
    assert!(matches!(error, MachineError::Syntax { line: Some(2), .. }), "{error:?}");
    assert!(error.to_string().starts_with("my.toml, line 2: not TOML"), "{error}");
}

#[test]
fn an_unknown_name_lists_the_known_and_suggests_the_nearest() {
    let message = find("opteron-6343").unwrap_err().to_string();
    assert!(message.contains("did you mean `opteron-6344-4s`?"), "{message}");
    for machine in builtin() {
        assert!(message.contains(machine.name), "{} in {message}", machine.name);
    }
    let message = find("cray").unwrap_err().to_string();
    assert!(!message.contains("did you mean") && message.contains("knl-7210"), "{message}");
}

#[test]
fn a_path_is_read_and_a_bad_one_named() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("mine.toml");
    let mine = find(BASE).expect("it is built in");
    std::fs::write(&path, mine.to_toml()).expect("a file is written");
    let path = path.to_str().expect("a path in UTF-8");
    assert_eq!(find(path), Ok(mine));
    std::fs::write(path, b"schema = 1\n\xff\xfe").expect("a file is written");
    let message = find(path).unwrap_err().to_string();
    assert!(message.contains(path) && message.contains("UTF-8"), "{message}");
    let message = find("./no-such.toml").unwrap_err().to_string();
    assert!(message.starts_with("./no-such.toml: cannot read"), "{message}");
    let message = find("/dev/zero").unwrap_err().to_string();
    assert!(message.contains("longer than 1 MiB"), "{message}");
}
