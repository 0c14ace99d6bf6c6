//! What is not simulated changes no answer.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_forecast::{Extent, Forecast, Question, RunSize, forecast};
use kilocore_lock_profile::Profile;
use kilocore_locks::{LockId, RwLockId};
use kilocore_points::PointSource;
use kilocore_sim::Sim;

/// The profile of that name, of a real program, and the answer to it with the number of simulations.
fn answer(profile: &str, extent: Extent) -> (Forecast, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/profiles");
    let profile = Profile::read(&folder.join(profile)).expect("it is kept");
    let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
    let question = Question {
        machine: &machine,
        cores: vec![1, 2, 12, 24],
        locks: LockId::ALL.to_vec(),
        rw_locks: RwLockId::for_programs::<Sim>().collect(),
        size: RunSize { sections: 400, ..RunSize::default() },
        extent,
        source: PointSource::unkept(),
    };
    let simulated = AtomicUsize::new(0);
    let count = || {
        simulated.fetch_add(1, Ordering::Relaxed);
    };
    let forecast = forecast(&profile, &question, &count).expect("the machine has the cores");
    (forecast, simulated.into_inner())
}

#[test]
fn what_the_answer_needs_gives_the_answer_that_all_gives() {
    // Read-write locks limit the first, mutexes the next two; nothing limits the last.
    for profile in ["kyotocabinet.json", "memcached.json", "rocksdb.json", "x264.json"] {
        let (all, simulations) = answer(profile, Extent::Every);
        let (needed, fewer) = answer(profile, Extent::Needed);
        assert_eq!(needed.recommendation, all.recommendation, "{profile}");
        assert!(2 * fewer < simulations, "{profile}: {fewer} of {simulations}");
        // What is shown of both is the same, and every lock is spoken of.
        for curve in &needed.curves {
            assert!(all.curves.contains(curve), "{profile}: {}", curve.lock);
        }
        assert_eq!(all.without_curve, []);
        let asked = needed.curves.len() + needed.without_curve.len();
        assert_eq!(asked, all.curves.len(), "{profile}");
    }
}

#[test]
fn where_locks_cost_nothing_no_other_is_simulated() {
    let (needed, simulations) = answer("x264.json", Extent::Needed);
    assert_eq!(needed.curves.len(), 1);
    assert_eq!(simulations, 4 * 3);
    assert!(needed.without_curve.iter().all(|other| other.gain.is_none()));
    let (limited, _) = answer("rocksdb.json", Extent::Needed);
    let gains: Vec<f64> = limited.without_curve.iter().filter_map(|other| other.gain).collect();
    assert!(gains.len() > 20 && gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
}
