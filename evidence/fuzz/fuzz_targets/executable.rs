//! Executable files: their symbols, build identifiers and what they say about unwinding.
#![no_main]

use std::path::Path;

use kilocore_symbols::{Binary, BuildId, UnwindSections};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = BuildId::of_notes(bytes);
    let _ = UnwindSections::parse(bytes);
    let Ok(binary) = Binary::parse(Path::new("fuzzed"), bytes) else { return };
    for place in (0..64).map(|bit| 1_u64 << bit).chain([0, u64::MAX]) {
        let address = binary.address(place).unwrap_or(place);
        let _ = (binary.function(address), binary.function_start(address));
        assert!(!binary.frames(address).is_empty());
    }
});
