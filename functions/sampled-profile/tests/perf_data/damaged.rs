//! Recordings cut short or with other bytes: the answer is a profile or an error.

use kilocore_sampled_profile::SampledProfile;
use kilocore_sampled_profile::perf_data::Options;
use proptest::prelude::*;

use crate::recorded::bytes;
use crate::{allocation, options, truncation, try_read};

const NAMES: [&str; 6] =
    ["flat.data", "graph.data", "compressed.data", "copied.data", "events.data", "pipe.data"];

/// Far more than the recordings need, and far less than their bytes could ask for.
const MEMORY: usize = 600 << 20;

fn read(bytes: &[u8]) -> Option<SampledProfile> {
    read_event(bytes, None)
}

fn read_event(bytes: &[u8], event: Option<&str>) -> Option<SampledProfile> {
    // Names of damaged files are looked for as well, but not in the kernel of this host.
    let inlined = bytes.len().is_multiple_of(2);
    let options = Options { inlined, event: event.map(str::to_owned), ..options() };
    let profile = try_read(bytes, &options).ok();
    assert!(allocation::most() < MEMORY, "{} bytes", allocation::most());
    profile
}

#[test]
fn what_comes_before_a_cut_is_read() {
    for name in NAMES {
        let whole = bytes(name);
        // A short part of the recording of two events has samples of one of them only.
        let event = (name == "events.data").then_some("task-clock");
        let total = read_event(&whole, event).expect("it is whole").total();
        let (mut last, mut partial) = (0, 0);
        for length in (0..whole.len()).step_by(97) {
            let Some(profile) = read_event(&whole[..length], event) else {
                assert_eq!(last, 0, "{name}: {length} bytes are an error, fewer are not");
                continue;
            };
            // A pipe may end anywhere between records.
            assert!(name == "pipe.data" || truncation(&profile).is_some(), "{name}: {length}");
            let samples = profile.total().samples;
            assert!((last..=total.samples).contains(&samples), "{name}: {length}");
            partial += usize::from(samples > last);
            last = samples;
        }
        assert!(partial > 3 || name == "compressed.data", "{name} ends at once");
    }
}

/// A recording in which some bytes are others.
fn damaged(changes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    (0..NAMES.len(), prop::collection::vec(change, changes)).prop_map(|(name, changes)| {
        let mut bytes = bytes(NAMES[name]);
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at.index(length)] = byte;
        }
        bytes
    })
}

/// A recording in whose beginning, where everything else's place is, some bytes are others.
fn misled() -> impl Strategy<Value = Vec<u8>> {
    let change = (0..800_usize, any::<u8>());
    (0..NAMES.len(), prop::collection::vec(change, 1..6)).prop_map(|(name, changes)| {
        let mut bytes = bytes(NAMES[name]);
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes
    })
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn damage_does_no_harm(bytes in damaged(1..40)) {
        read(&bytes);
    }

    #[test]
    fn misleading_does_no_harm(bytes in misled()) {
        read(&bytes);
    }

    #[test]
    fn any_bytes_behind_the_first_eight_do_no_harm(
        rest in prop::collection::vec(any::<u8>(), 0..600), big: bool, pipe: bool,
    ) {
        let mut bytes = if big { b"2ELIFREP".to_vec() } else { b"PERFILE2".to_vec() };
        if pipe {
            let size: u64 = 16;
            bytes.extend(if big { size.to_be_bytes() } else { size.to_le_bytes() });
        }
        bytes.extend(rest);
        read(&bytes);
    }
}

proptest! {
    #![proptest_config(cases(100_000))]

    #[test]
    #[ignore = "takes longer"]
    fn much_damage_does_no_harm(bytes in damaged(1..200)) {
        read(&bytes);
    }

    #[test]
    #[ignore = "takes longer"]
    fn much_misleading_does_no_harm(bytes in misled()) {
        read(&bytes);
    }
}
