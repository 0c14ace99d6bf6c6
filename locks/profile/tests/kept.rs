//! What `tools/profiles/keep.py` leaves of a profile.

use std::path::Path;
use std::process::Command;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Barrier, FORMAT, FORMAT_VERSION, Histogram, Lock, Nesting, Process, Profile, Run,
};

fn lock(id: u32, acquisitions: u64) -> Lock {
    let hold = Histogram {
        count: acquisitions,
        sum: Nanoseconds(acquisitions as f64 * 100.0),
        buckets: vec![(90.0, acquisitions)],
    };
    let nested_in = vec![Nesting { outer: 9_999, count: 1 }];
    Lock { id, acquisitions, hold, nested_in, instances: 1, ..Lock::default() }
}

fn kept(locks: Vec<Lock>) -> Profile {
    let barriers = vec![Barrier { parties: 2, ..Barrier::default() }];
    let process = Process { locks, barriers, ..Process::default() };
    let profile = Profile {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        command: vec!["program".to_owned()],
        host: serde_json::from_str(r#"{"processor":"","cores":2,"clock_ghz":1.0,"kernel":""}"#)
            .expect("a host"),
        runs: vec![Run { cores: 2, processes: vec![process], ..Run::default() }],
        trace: None,
        scaling: None,
    };
    let directory = tempfile::tempdir().expect("there is room");
    let (whole, rest) = (directory.path().join("whole.json"), directory.path().join("kept.json"));
    profile.write(&whole).expect("it can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/profiles/keep.py");
    let status = Command::new("python3").arg(script).args([&whole, &rest]).status();
    assert!(status.expect("python3 runs").success());
    Profile::read(&rest).expect("what is kept is a profile")
}

#[test]
fn many_small_locks_stay_and_a_thousandth_in_all_goes() {
    // Two thousand alike, each a two-thousandth of the whole; ten that hardly anybody takes; and
    // one that they are nested in, which goes.
    let alike = (0..2_000).map(|id| lock(id, 1_000));
    let idle = (2_000..2_010).map(|id| lock(id, 1));
    let profile = kept(alike.chain(idle).chain([lock(9_999, 1)]).collect());
    let process = &profile.runs[0].processes[0];
    let kept: Vec<u64> = process.locks.iter().map(|lock| lock.acquisitions).collect();
    assert!((1_998..=2_000).contains(&kept.len()), "{} locks", kept.len());
    let (sum, squares) =
        (kept.iter().sum::<u64>(), kept.iter().map(|uses| uses * uses).sum::<u64>());
    let as_many_as = (sum * sum) as f64 / squares as f64;
    assert!((1_990.0..2_010.0).contains(&as_many_as), "{as_many_as} effective instances");
    assert!(process.locks.iter().all(|lock| lock.nested_in.is_empty()));
    assert_eq!(process.barriers.len(), 1);
}
