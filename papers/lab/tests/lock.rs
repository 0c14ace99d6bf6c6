//! `kilocore-lab lock` on the 48-core machine: what the issue of ticket locks is about.

use crate::common;

use serde_json::Value;

fn simulate(extra: &[&str]) -> Vec<u8> {
    let output = common::command()
        .args(["lock", "--machine", "opteron-6344-4s", "--json"])
        .args(extra)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Figures of a lock, by ascending cores.
fn figures(document: &Value, lock: &str, key: &str) -> Vec<f64> {
    let points = document["points"].as_array().expect("points");
    let of_lock = points.iter().filter(|point| point["lock"] == lock);
    of_lock.map(|point| point[key].as_f64().expect("a figure")).collect()
}

fn highest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(0.0, f64::max)
}

const CORES: [&str; 2] = ["--cores", "1,6,12,24,36,48"];

#[test]
fn ticket_collapses_mcs_and_the_requester_lock_do_not() {
    let words = ["--lock", "ticket,mcs,requester", "--think", "4000", "--hold", "400"];
    let document: Value =
        serde_json::from_slice(&simulate(&[&words[..], &CORES].concat())).unwrap();
    let rates = |lock| figures(&document, lock, "throughput_per_s");
    let ticket = rates("ticket");
    assert!(highest(&ticket) > 2.0 * ticket[0], "it rises first: {ticket:?}");
    assert!(ticket[5] < 0.4 * highest(&ticket), "then it collapses: {ticket:?}");
    let mcs = rates("mcs");
    assert!(mcs[5] > 0.75 * mcs[3], "MCS stays flat: {mcs:?}");
    let requester = rates("requester");
    assert!(requester[5] > 0.9 * highest(&requester[2..]), "so does requester: {requester:?}");
    let joules = |lock| figures(&document, lock, "joules_per_op")[5];
    assert!(joules("requester") < 0.9 * joules("mcs"), "and takes less energy");
}

#[test]
fn readers_that_do_not_write_the_lock_scale_and_others_do_not() {
    let words = ["--reads", "99.99", "--think", "4000", "--hold", "400"];
    let document: Value =
        serde_json::from_slice(&simulate(&[&words[..], &CORES].concat())).unwrap();
    assert_eq!(document["reads_percent"], 99.99);
    for lock in ["central-rw", "writer-first", "phase-fair"] {
        let rates = figures(&document, lock, "throughput_per_s");
        assert!(rates[5] < 1.5 * rates[2], "{lock} scales past 12 cores: {rates:?}");
    }
    for lock in ["bravo-central", "bravo-writer-first", "bravo-phase-fair", "per-core"] {
        let rates = figures(&document, lock, "throughput_per_s");
        assert!(rates[5] > 2.0 * rates[2], "{lock} does not scale past 12 cores: {rates:?}");
    }
    // With more writers, it matters at how many slots they look.
    let words = ["--reads", "99.9", "--think", "1000", "--hold", "300"];
    let words = [&words[..], &["--rwlock", "bravo-writer-first,per-core"], &CORES].concat();
    let document: Value = serde_json::from_slice(&simulate(&words)).unwrap();
    let rates = |lock| figures(&document, lock, "throughput_per_s");
    let (slots, counts) = (rates("bravo-writer-first"), rates("per-core"));
    assert!(counts[5] > 1.5 * slots[5], "{counts:?} against {slots:?}");
    // Where every acquisition writes, a table of readers is of no use.
    let words = ["--reads", "0", "--rwlock", "writer-first,bravo-writer-first"];
    let document: Value =
        serde_json::from_slice(&simulate(&[&words[..], &CORES].concat())).unwrap();
    assert_eq!(document["points"].as_array().map(Vec::len), Some(12));
    let rates = |lock| figures(&document, lock, "throughput_per_s");
    let (plain, biased) = (rates("writer-first"), rates("bravo-writer-first"));
    assert!((biased[5] / plain[5] - 1.0).abs() < 0.2, "{biased:?} against {plain:?}");
}

#[test]
fn the_same_command_prints_the_same_bytes_for_read_write_locks() {
    let words = ["--reads", "90", "--acquisitions", "2000", "--locks", "4", "--lines", "3"];
    let words = [&words[..], &CORES].concat();
    let once = simulate(&words);
    for _ in 0..3 {
        assert!(once == simulate(&words), "two runs of one command differ");
    }
}

/// What a point says must not depend on whether another was simulated in the same process before.
#[test]
fn a_point_of_read_write_locks_is_the_same_alone_and_in_company() {
    let points = |lock: &str, cores: &str| {
        let words = ["--reads", "90", "--acquisitions", "2000", "--locks", "4", "--lines", "3"];
        let words = [&words[..], &["--rwlock", lock, "--cores", cores]].concat();
        let document: Value = serde_json::from_slice(&simulate(&words)).unwrap();
        document["points"].as_array().expect("points").clone()
    };
    for lock in ["per-core", "bravo-writer-first", "phase-fair"] {
        let alone = [points(lock, "36"), points(lock, "48")].concat();
        assert_eq!(points(lock, "36,48"), alone, "{lock}");
    }
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    // All locks, several of each, so that nodes go from thread to thread and are freed.
    let words = ["--think", "3000", "--hold", "300", "--lines", "3", "--locks", "4"];
    let words = [&words[..], &["--acquisitions", "2000"], &CORES].concat();
    let once = simulate(&words);
    for _ in 0..3 {
        assert!(once == simulate(&words), "two runs of one command differ");
    }
    assert!(once != simulate(&[&words[..], &["--seed", "2"]].concat()));
}

#[test]
fn more_threads_than_cores_share_them() {
    let words =
        ["--lock", "futex,mcs", "--cores", "4", "--threads", "16", "--acquisitions", "2000"];
    let document: Value = serde_json::from_slice(&simulate(&words)).unwrap();
    let rate = |lock| figures(&document, lock, "throughput_per_s")[0];
    assert!(rate("futex") > 2.0 * rate("mcs"), "queue locks wait for threads that do not run");
}

#[test]
fn think_times_of_minutes_are_simulated_and_those_of_ages_refused() {
    // Some months of simulated time.
    let words = ["--think", "1000000000000", "--cores", "2", "--lock", "mcs,ticket"];
    let document: Value = serde_json::from_slice(&simulate(&words)).unwrap();
    let clock = 2.6e9;
    for lock in ["mcs", "ticket"] {
        let rate = figures(&document, lock, "throughput_per_s")[0];
        assert!((rate / (2.0 * clock / 1e12) - 1.0).abs() < 0.05, "{lock}: {rate}");
    }
    let words = ["lock", "--machine", "opteron-6344-4s", "--cores", "1,2"];
    let ages = [&words[..], &["--think", "1e12", "--acquisitions", "1000000000"]].concat();
    common::refused(&ages, &["too long to simulate", "--acquisitions", "--think"]);
}
