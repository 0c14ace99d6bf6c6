//! What the lab simulates of a known workload, `kilocore forecast` takes for measurements, and finds the
//! workload again. The test is here because both programs are.

use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{file, lab};

fn kilocore(words: &[&str]) -> Output {
    let program = kilocore_shipped::folder().join("kilocore");
    Command::new(program).args(words).env("KILOCORE_NO_CACHE", "1").output().expect("kilocore runs")
}

/// Points of a JSON document by lock and cores.
fn throughputs(document: &Value, key: &str) -> Vec<((String, u64), f64)> {
    let points = document["points"].as_array().expect("points");
    let place = |p: &Value| {
        (p["lock"].as_str().expect("a lock").to_owned(), p["cores"].as_u64().expect("cores"))
    };
    points.iter().map(|p| (place(p), p[key].as_f64().expect("a figure"))).collect()
}

#[test]
fn a_known_workload_is_found_again() {
    let machine = ["--machine", "opteron-6344-4s", "--json"];
    let workload = ["--think", "4000", "--hold", "400", "--lines", "2"];
    let simulate = |locks, cores, seed| {
        let what = ["lock", "--lock", locks, "--cores", cores, "--seed", seed];
        let output = lab(&[&what[..], &machine, &workload].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    // Another seed than the fit's own, as nothing measured comes from the same simulation.
    let given = simulate("ticket,mcs,futex", "6,12,24", "2");
    let path = file("fit-known.json", &given);
    let words =
        ["forecast", path.to_str().expect("plain"), "--lock", "ticket,mcs,futex,clh,cna,requester"];
    let fit = kilocore(&[&words[..], &["--cores", "24,36,48"], &machine].concat());
    assert!(fit.status.success(), "{}", String::from_utf8_lossy(&fit.stderr));
    let fit: Value = serde_json::from_slice(&fit.stdout).expect("one document");
    let truth = simulate("ticket,mcs,futex,clh,cna,requester", "24,36,48", "2");
    let truth: Value = serde_json::from_slice(&truth).expect("one document");

    let truth = throughputs(&truth, "throughput_per_s");
    let (low, high) = (throughputs(&fit, "low"), throughputs(&fit, "high"));
    let mut held_back = 0;
    let mut within = 0;
    for (place, value) in &truth {
        let of = |all: &[((String, u64), f64)]| {
            all.iter().find(|(other, _)| other == place).expect("forecast").1
        };
        if place.1 == 24 && ["ticket", "mcs", "futex"].contains(&place.0.as_str()) {
            continue;
        }
        held_back += 1;
        within += u32::from((of(&low)..=of(&high)).contains(value));
    }
    assert_eq!(held_back, 15);
    // The band should hold nineteen in twenty.
    assert!(within >= 12, "{within} of {held_back}: {truth:?} in {low:?} to {high:?}");
}
