//! What the tests of the readers share.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod pprof;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use kilocore_sampled_profile::{Function, Options, ReadError, SampledProfile, Tally, read};

/// A file of `tests/golden`.
pub(crate) fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The bytes of a file of `tests/golden`.
pub(crate) fn golden_bytes(name: &str) -> Vec<u8> {
    std::fs::read(golden(name)).expect("the file is a part of the source")
}

/// A golden profile of gperftools whose program is the one beside it, and whose libraries are not there: those of
/// this host are of another build.
pub(crate) fn at_home(name: &str) -> Vec<u8> {
    let bytes = golden_bytes(name);
    let worker = golden("worker");
    let worker = worker.to_str().expect("a plain path");
    let [mut whole, mut rest] = [Vec::new(), bytes];
    for (from, to) in [
        ("/tmp/kilocore-recordings/worker", worker),
        ("/srv/server", worker),
        ("/usr/lib/", "/nowhere/lib/"),
    ] {
        while let Some(at) = rest.windows(from.len()).position(|part| part == from.as_bytes()) {
            whole.extend_from_slice(&rest[..at]);
            whole.extend_from_slice(to.as_bytes());
            rest.drain(..at + from.len());
        }
        whole.append(&mut rest);
        std::mem::swap(&mut whole, &mut rest);
    }
    rest
}

/// Reads bytes as a file of this content.
pub(crate) fn read_with(bytes: &[u8], options: &Options) -> Result<SampledProfile, ReadError> {
    let mut file = tempfile::NamedTempFile::new().expect("a place for files");
    file.write_all(bytes).expect("room for files");
    read(file.path(), options, &mut |_| {})
}

/// Reads bytes with the usual options.
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<SampledProfile, ReadError> {
    read_with(bytes, &Options::default())
}

/// The bytes within gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// What fell on each stack, the outermost function first.
pub(crate) fn table(profile: &SampledProfile) -> BTreeMap<Vec<Function>, Tally> {
    let mut table = BTreeMap::new();
    for (id, context) in profile.contexts.iter() {
        if context.own != Tally::default() {
            let mut stack: Vec<Function> =
                profile.contexts.stack(id).map(|f| profile.functions.get(f).clone()).collect();
            stack.reverse();
            let former = table.insert(stack, context.own);
            assert!(former.is_none(), "one stack, one context");
        }
    }
    table
}

/// Stacks by their names, `outermost;…;innermost`, and how many samples fell on each.
pub(crate) fn samples(profile: &SampledProfile) -> BTreeMap<String, u64> {
    let mut samples = BTreeMap::new();
    for (stack, tally) in table(profile) {
        let names: Vec<String> = stack.iter().map(|function| function.name.clone()).collect();
        *samples.entry(names.join(";")).or_default() += tally.samples;
    }
    samples
}
