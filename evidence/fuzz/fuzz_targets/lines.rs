//! Lines of other programs: symbols of the kernel and its places that can be traced, symbols of
//! just-in-time compilers, and what a measured program prints about its work.
#![no_main]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::LazyLock;

use kilocore_linux::perf_events::Tracepoint;
use kilocore_process::{Observer, Stream};
use kilocore_sampled_profile::sampler::{Counter, Rule};
use kilocore_symbols::{KernelSymbols, PerfMap};
use libfuzzer_sys::fuzz_target;

static RULE: LazyLock<Rule> =
    LazyLock::new(|| Rule::lines(r"(\S+) units", None).expect("an expression"));

fuzz_target!(|bytes: &[u8]| {
    if let Ok(symbols) = KernelSymbols::parse(Path::new("fuzzed"), bytes) {
        let _ = (symbols.function(u64::MAX), symbols.function(1 << 40), symbols.landmark("_text"));
    }
    if let Some(place) = std::str::from_utf8(bytes).ok().and_then(Tracepoint::parse) {
        let _ = place.field("pid").and_then(|field| field.of(bytes));
    }
    if let Ok(map) = PerfMap::parse(bytes) {
        let _ = (map.function(u64::MAX), map.function(1 << 40));
    }
    let counter = Counter::new(RULE.clone());
    for part in bytes.chunks(7) {
        counter.saw(Stream::Output, part);
    }
    let _ = counter.finish(ExitStatus::from_raw(0));
});
