//! Documents that people and other programs write: what is accepted can be written and is accepted
//! again.
#![no_main]

use std::path::Path;

use kilocore_kernel_bench::document::Document;
use kilocore_locate::Sidecar;
use kilocore_lock_profile::Profile;
use kilocore_machine::Description;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Profile::parse(Path::new("fuzzed"), bytes);
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let _ = Description::parse(text, "fuzzed");
    if let Ok(sidecar) = serde_json::from_str::<Sidecar>(text) {
        serde_json::to_string(&sidecar).expect("it is written");
    }
    if let Ok(document) = Document::parse(text) {
        let written = serde_json::to_string(&document).expect("it is written");
        let again = Document::parse(&written).expect("what was accepted is accepted again");
        assert_eq!(serde_json::to_string(&again).expect("it is written"), written);
    }
});
