//! What the file says about the recording, beside its records.

use kilocore_process::{hostname, kernel_release, machine};
use perf_event_open_sys::bindings::PERF_RECORD_MISC_KERNEL;

use super::attribute::SIZE;
use super::file::Feature;
use super::symbols::KERNEL_NAME;
use kilocore_linux::perf_events as raw;

/// What is to be told.
#[derive(Debug)]
pub(crate) struct HeaderFacts<'a> {
    pub(crate) command: &'a [Vec<u8>],
    pub(crate) event: &'a str,
    pub(crate) attribute: &'a [u8; SIZE],
    pub(crate) ids: &'a [u64],
    /// The times of the first and the last sample.
    pub(crate) times: Option<(u64, u64)>,
    pub(crate) kernel_build_id: Option<Vec<u8>>,
}

/// All features, in ascending order.
pub(crate) fn features(told: &HeaderFacts<'_>) -> Vec<(Feature, Vec<u8>)> {
    let mut features = Vec::new();
    if let Some(id) = &told.kernel_build_id {
        features.push((Feature::BuildId, build_id(id)));
    }
    features.push((Feature::Hostname, text(hostname().as_bytes())));
    features.push((Feature::OsRelease, text(kernel_release().as_bytes())));
    let version = concat!("kilocore ", env!("CARGO_PKG_VERSION"));
    features.push((Feature::Version, text(version.as_bytes())));
    features.push((Feature::Arch, text(machine().as_bytes())));
    features.push((Feature::NrCpus, core_counts()));
    features.push((Feature::CmdLine, command_line(told.command)));
    features.push((Feature::EventDesc, event(told)));
    if let Some((first, last)) = told.times {
        let times = [first.to_ne_bytes(), last.to_ne_bytes()].concat();
        features.push((Feature::SampleTime, times));
    }
    features
}

/// A text with its length, padded as perf does.
fn text(text: &[u8]) -> Vec<u8> {
    let padded = (text.len() + 1).next_multiple_of(64);
    let mut bytes = (padded as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(text);
    bytes.resize(4 + padded, 0);
    bytes
}

/// How many cores there could be, and how many are on.
fn core_counts() -> Vec<u8> {
    let count = |name| {
        // SAFETY: asks for a number.
        u32::try_from(unsafe { libc::sysconf(name) }).unwrap_or(1).to_ne_bytes()
    };
    [count(libc::_SC_NPROCESSORS_CONF), count(libc::_SC_NPROCESSORS_ONLN)].concat()
}

fn command_line(words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = (words.len() as u32).to_ne_bytes().to_vec();
    words.iter().for_each(|word| bytes.extend(text(word)));
    bytes
}

fn event(told: &HeaderFacts<'_>) -> Vec<u8> {
    let mut bytes = [1u32.to_ne_bytes(), (SIZE as u32).to_ne_bytes()].concat();
    bytes.extend_from_slice(told.attribute);
    bytes.extend((told.ids.len() as u32).to_ne_bytes());
    bytes.extend(text(told.event.as_bytes()));
    told.ids.iter().for_each(|id| bytes.extend(id.to_ne_bytes()));
    bytes
}

/// That the kernel has this build id. Room is for twenty bytes, and then for how many there are.
fn build_id(id: &[u8]) -> Vec<u8> {
    /// Says that the length is there.
    const WITH_SIZE: u16 = 1 << 15;
    let mut room = [0; 24];
    let length = id.len().min(20);
    room[..length].copy_from_slice(&id[..length]);
    room[20] = length as u8;
    let host = (-1i32).to_ne_bytes();
    raw::record(
        0,
        PERF_RECORD_MISC_KERNEL as u16 | WITH_SIZE,
        &[&host, &room, KERNEL_NAME.as_bytes(), &[0]],
    )
}
