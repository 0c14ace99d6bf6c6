//! What the measuring library leaves behind, which is cut short where a program is killed.
#![no_main]

use std::path::Path;

use kilocore_lock_profile::{ClockRate, Recording, Symbols};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(recording)) = Recording::parse(Path::new("fuzzed"), bytes.to_vec()) {
        let _ = recording.lock_counts();
        let _ = recording.lack();
        let _ = recording.clock_rate();
        let _ = recording.objects().count();
        let _ = recording.process(ClockRate { ghz: 2.0 }, &mut Symbols::default());
    }
});
