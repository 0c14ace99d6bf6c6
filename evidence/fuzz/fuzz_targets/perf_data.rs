//! Recordings of `perf record`. The programs that they name are looked for among those of the
//! tests first.
#![no_main]

use std::io::Cursor;
use std::path::PathBuf;

use kilocore_sampled_profile::perf_data::{Options, read};
use kilocore_symbols::DebugFiles;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options = Options {
        // The kernel of this host has no part in it.
        kallsyms: Some("/dev/null".into()),
        files: vec![
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../../functions/sampled-profile/tests/data"),
        ],
        debug_files: DebugFiles::none(),
        inlined: bytes.len().is_multiple_of(2),
        ..Options::default()
    };
    if let Ok(profile) = read(Cursor::new(bytes), &options, &mut |_| {}) {
        assert!(profile.total().samples > 0);
    }
});
