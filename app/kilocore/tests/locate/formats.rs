//! The same profile in every format that needs no program to be there.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use kilocore_sampled_profile::{Origin, SampledProfile};
use prost::Message;

use super::pprof;

/// The formats. Of these, only folded stacks do not know how much time a sample is.
pub(crate) const FORMATS: [&str; 4] = ["script.gz", "folded", "pprof", "pprof.gz"];

/// Samples a second in the recordings.
pub(crate) const HERTZ: &str = "997";

pub(crate) fn read(path: &Path) -> SampledProfile {
    kilocore_sampled_profile::read(path, &kilocore_sampled_profile::Options::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A profile in a format.
pub(crate) fn written(profile: &SampledProfile, format: &str) -> Vec<u8> {
    match format {
        "folded" => folded(profile).into_bytes(),
        "pprof" => pprof(profile),
        "pprof.gz" => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&pprof(profile)).expect("into memory");
            packed.finish().expect("into memory")
        }
        other => panic!("no writer for {other}"),
    }
}

/// As the usual tools fold: names alone, the kernel's marked, samples counted.
fn folded(profile: &SampledProfile) -> String {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for (id, context) in profile.contexts.iter().filter(|(_, context)| context.own.samples > 0) {
        let mut names: Vec<String> = profile
            .contexts
            .stack(id)
            .map(|function| {
                let function = profile.functions.get(function);
                let mark = if function.origin == Origin::Kernel { "_[k]" } else { "" };
                format!("{}{mark}", function.name)
            })
            .collect();
        names.push("planted".to_owned());
        names.reverse();
        *stacks.entry(names.join(";")).or_default() += context.own.samples;
    }
    stacks.iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect()
}

/// As Go's runtime lays it out: a location for each function, samples and nanoseconds.
fn pprof(profile: &SampledProfile) -> Vec<u8> {
    let mut message = pprof::Profile::go();
    let locations: Vec<u64> = profile
        .functions
        .iter()
        .map(|(id, function)| message.at(function, 0x1000 + id.index() as u64 * 16))
        .collect();
    for (id, context) in profile.contexts.iter().filter(|(_, context)| context.own.samples > 0) {
        let stack = profile.contexts.stack(id);
        message.sample.push(pprof::Sample {
            location_id: stack.map(|function| locations[function.index()]).collect(),
            value: vec![context.own.samples as i64, context.own.weight as i64],
            label: Vec::new(),
        });
    }
    message.encode_to_vec()
}
