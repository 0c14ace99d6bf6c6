//! Recordings that were made elsewhere or by hand, whole, cut short and damaged.

mod allocation;
mod builder;
mod by_hand;
mod damaged;
mod recorded;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use kilocore_sampled_profile::perf_data::{self, Options, PerfDataError};
use kilocore_sampled_profile::{Remark, SampledProfile};
use kilocore_symbols::DebugFiles;

/// The recordings, and the program that they are of.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Names come from what is kept with the recordings, and not from this host.
fn options() -> Options {
    Options {
        kallsyms: Some(data().join("kallsyms")),
        files: vec![data()],
        debug_files: DebugFiles::none(),
        ..Options::default()
    }
}

fn try_read(bytes: &[u8], options: &Options) -> Result<SampledProfile, PerfDataError> {
    perf_data::read(Cursor::new(bytes), options, &mut |_| {})
}

fn read(bytes: &[u8]) -> SampledProfile {
    try_read(bytes, &options()).expect("it can be read")
}

/// Where a file breaks off, and what is said of it.
fn truncation(profile: &SampledProfile) -> Option<(u64, &str)> {
    profile.remarks.iter().find_map(|remark| match remark {
        Remark::Truncated { at, what } => Some((*at, &**what)),
        _ => None,
    })
}
