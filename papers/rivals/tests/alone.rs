//! Each rival, used by one thread, against a model: a million operations in total.

use kilocore_ldu::Scheme;
use kilocore_platform::Native;
use kilocore_rivals::conformance::alone;

fn check<S: Scheme<Native>>() {
    for seed in 1..=10 {
        let tally = alone::<Native, S>(10_000, seed, |_| ());
        assert!(tally.moves > 100 && tally.changes > 100 && tally.found > 300, "{tally:?}");
    }
}

for_every_scheme! { Native, S => check::<S>() }
