//! `kilocore bench` against a C program that measures the same interfaces by itself.
//!
//! Both rates are taken over the time that tasks had their cores, so that other programs disturb
//! little; still it measures, and is no part of the usual tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How far the two may be apart.
const AGREE: f64 = 0.10;
/// How often each is measured, in turns; the median of the ratios counts.
const TURNS: usize = 9;

fn compiled() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench_agreement.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench_agreement");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-Wall", "-Werror", "-o"]).arg(&program).arg(source);
    assert!(gcc.status().expect("gcc runs").success());
    program
}

fn by_c(program: &Path, interface: &str, cores: usize) -> f64 {
    let list: Vec<String> = (0..cores).map(|core| core.to_string()).collect();
    let output = Command::new(program).args([interface, "0.3"]).args(list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a rate")
}

fn by_kilocore(interface: &str, cores: usize) -> f64 {
    let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["bench", interface, "--seconds", "0.3", "--repeats", "1", "--json", "--cores"])
        .arg(cores.to_string())
        .output()
        .unwrap();
    let measured: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let sample = &measured["benchmarks"][0]["points"][0]["samples"][0];
    let figure = |of: &str| sample[of].as_f64().expect("a figure");
    figure("per_s") / figure("on_core")
}

#[test]
#[ignore = "measures; needs two cores"]
fn a_c_program_measures_the_same() {
    let program = compiled();
    for interface in ["getppid", "dup", "pipe", "sock", "signal"] {
        for cores in [1, 2] {
            let turn = |_| {
                let (theirs, ours) =
                    (by_c(&program, interface, cores), by_kilocore(interface, cores));
                (ours / theirs, ours, theirs)
            };
            let mut turns: Vec<_> = (0..TURNS).map(turn).collect();
            turns.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (ratio, ours, theirs) = turns[TURNS / 2];
            println!("{interface} on {cores}: kilocore {ours:.0}/s, C {theirs:.0}/s, {ratio:.3}");
            assert!((ratio - 1.0).abs() <= AGREE, "{interface} on {cores} cores: {turns:?}");
        }
    }
}
