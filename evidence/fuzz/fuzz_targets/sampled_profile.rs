//! Profiles of any format, and all that `kilocore compare` makes of one: compared with itself,
//! nothing differs.
#![no_main]

use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek, Write};

use kilocore_locate::{ComparisonDocument, Options, Run, compare, folded};
use kilocore_sampled_profile::{Limits, Options as ReadOptions, SampledProfile, read};
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;

/// So small that the fuzzer reaches them, and that what does not keep to them shows in memory.
const LIMITS: Limits = Limits {
    line_bytes: 1 << 12,
    depth: 200,
    contexts: 2_000,
    name_bytes: 1 << 18,
    message_bytes: 1 << 20,
    events: 4,
};

thread_local! {
    static FILE: RefCell<NamedTempFile> =
        RefCell::new(NamedTempFile::new().expect("a place for files"));
}

fn write(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(bytes)
}

fn profile(bytes: &[u8]) -> Option<SampledProfile> {
    FILE.with_borrow_mut(|file| {
        write(file.as_file_mut(), bytes).expect("room for files");
        // The kernel of this host has no part in it.
        let kallsyms = Some("/dev/null".into());
        let options = ReadOptions { kallsyms, limits: LIMITS, ..ReadOptions::default() };
        read(file.path(), &options, &mut |_| {}).ok()
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some(profile) = profile(bytes) else { return };
    let run = Run {
        name: "a run".to_owned(),
        profile,
        cores: None,
        work: None,
        elapsed: None,
        frequency: None,
        clock_ghz: None,
    };
    let sides = [run];
    let Ok(comparison) = compare(&sides, &sides, &Options::default()) else { return };
    assert_eq!(comparison.total_loss().numerator, 0);
    assert!(comparison.functions.iter().all(|row| !row.exclusive_uncertainty.above_noise));
    let _ = folded(&comparison);
    serde_json::to_string(&ComparisonDocument::of(&comparison)).expect("it is written");
});
