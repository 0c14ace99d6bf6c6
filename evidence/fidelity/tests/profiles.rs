//! The committed profiles are what the comparison needs.

use std::path::{Path, PathBuf};

use kilocore_fidelity::data::DataSet;
use kilocore_fidelity::profiles::{read_index, simulations};
use kilocore_forecast::from_profile;
use kilocore_lock_profile::{Process, Profile};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

#[test]
fn every_profile_can_be_read_and_forecast_from() {
    let entries = read_index(&data().join("profiles")).unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        let path = data().join("profiles").join(&entry.name).with_extension("json");
        let profile = Profile::read(&path).unwrap();
        assert_eq!(profile.runs.len(), 2, "{}: a run on all cores and a confined one", entry.name);
        assert!(profile.host.core_to_core.is_some(), "{}", entry.name);
        let profiled = from_profile(&profile).unwrap();
        assert!(profiled.conduct.acquisitions > 1_000, "{}", entry.name);
    }
}

#[test]
fn every_entry_names_programs_that_were_measured() {
    let sets = DataSet::read_all(&data().join("litl")).unwrap();
    for entry in read_index(&data().join("profiles")).unwrap() {
        for program in &entry.programs {
            let known = sets.iter().any(|set| set.program(program).is_some());
            assert!(known, "{}: no measurement of {program}", entry.name);
        }
    }
    assert!(simulations(&data().join("profiles"), &sets).unwrap() > 0);
}

#[test]
fn an_unknown_field_of_the_index_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.toml"), "[[profile]]\nnme = 'x'\n").unwrap();
    let error = read_index(folder.path()).unwrap_err().to_string();
    assert!(error.contains("index.toml") && error.contains("nme"), "{error}");
}

#[test]
fn what_every_workload_computes_is_the_processor_time_of_its_profile() {
    for entry in read_index(&data().join("profiles")).unwrap() {
        let path = data().join("profiles").join(&entry.name).with_extension("json");
        let profile = Profile::read(&path).unwrap();
        let profiled = from_profile(&profile).unwrap();
        let time = profiled.conduct.time;
        let most_locks =
            |process: &&Process| process.locks.iter().map(|l| l.acquisitions).sum::<u64>();
        let process = profile.runs[0].processes.iter().max_by_key(most_locks).unwrap();
        assert_eq!(time.all, process.threads.cpu_time, "{}", entry.name);
        // What the simulation adds anew is a part of it, and the smaller one but where most of the
        // time went into waiting.
        assert!(time.operations <= time.all / 2.0, "{}: {time:?}", entry.name);
        let [well, badly] = &profiled.bounds;
        for workload in [&profiled.workload, well, badly] {
            let computed = workload.busy() * profiled.sections / profile.host.clock_ghz;
            let off = (computed / time.work().0 - 1.0).abs();
            assert!(off < 1e-6, "{}: computes {computed} ns of {time:?}", entry.name);
        }
        let held: f64 = profiled.locks.iter().map(|lock| lock.held_share).sum();
        assert!(held <= 1.0, "{}: {held}", entry.name);
        println!(
            "{}: {time:?} serial {:.3} sections {} barriers {:?}",
            entry.name,
            time.serial_share(),
            profiled.sections,
            profiled.workload.barriers
        );
    }
}
