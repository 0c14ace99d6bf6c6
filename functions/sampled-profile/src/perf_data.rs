//! Reads the files that `perf record` writes.
//!
//! A file goes through four steps. [`layout`] finds its parts. [`stream`] turns either kind of file
//! into one sequence of valid records. The crate `linux-perf-data` sorts these by time.
//! [`recording`] then follows processes and their memory through the records, and gathers stacks of
//! [`place`]s. When all is read, [`names`] turns places into functions. Memory is bounded by the
//! number of distinct stacks and by what perf buffers in a round, not by the number of samples.
//!
//! A file that a killed perf or a full disk cut short is read as far as it goes. The profile then
//! carries a [`Remark::Truncated`].

mod bytes;
mod error;
mod event;
mod features;
mod files;
mod kernel;
mod layout;
mod names;
mod options;
mod place;
mod processes;
mod progress;
mod recording;
mod sample;
mod stream;
mod unwind;

use std::io::{Read, Seek};

use kilocore_figures::Nanoseconds;
use linux_perf_data::{PerfFileReader, PerfFileRecord};

pub use error::PerfDataError;
pub use options::Options;
pub use progress::Progress;

use event::Weight;
use features::Features;
use files::Files;
use layout::Layout;
use names::Namer;
use recording::{Event, Recording};
use stream::Stream;
use unwind::Unwinder;

use crate::event_name::like_time;
use crate::{Facts, Format, FunctionId, Remark, SampledProfile, plain_event};

/// Whether these first bytes are those of a file that perf wrote.
#[must_use]
pub fn is_perf_data(start: &[u8]) -> bool {
    [b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"ELIFFREP"]
        .iter()
        .any(|magic| start.starts_with(*magic))
}

/// Reads a file. `progress` is told now and then how far it is.
///
/// # Errors
/// If perf did not write the file, or nothing in it can be used.
pub fn read<R: Read + Seek>(
    mut file: R,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<SampledProfile, PerfDataError> {
    let layout = Layout::read(&mut file)?;
    let features = Features::of(&layout);
    let (mut stream, events) = Stream::new(&mut file, &layout, features.compression, progress)?;
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_pipe(&mut stream)?;
    let attributes = perf_file.event_attributes();
    let parsed = layout.events.iter().enumerate().map(|(index, raw)| {
        // An event that was split into several is the first of its parts.
        let first = events.iter().position(|event| *event == index);
        let attr = attributes[first.expect("each was sent")].attr;
        Event::new(attr, raw, index, &features, layout.big_endian)
    });
    let unwinder = Unwinder::new(features.architecture.as_deref());
    let files = Files::new(&features, options);
    let mut recording = Recording::new(parsed.collect(), files, unwinder, layout.big_endian);
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        if let PerfFileRecord::EventRecord { attr_index, record } = record {
            let event = events[attr_index];
            recording.record(event, &record);
            if recording.events[event].stacks.is_full() {
                return Err(PerfDataError::TooManyStacks);
            }
        }
    }
    drop(record_iter);
    let broken = stream.broken().or(layout.broken);
    let mut remarks: Vec<Remark> = Vec::new();
    remarks.extend(broken.map(|broken| Remark::Truncated { at: broken.at, what: broken.what }));
    profile(recording, remarks)
}

/// Takes the event that was asked for out of all, or the one that is most like time.
fn take(events: &mut Vec<Event>, options: &Options) -> Result<Event, PerfDataError> {
    let is_wanted = |event: &Event| options.event.as_ref().is_none_or(|name| event.is_called(name));
    let wanted = events.iter().enumerate().filter(|(_, event)| is_wanted(event));
    // An event without samples stands for no time. Of several with the same number, take the first.
    let best = wanted.max_by_key(|(index, event)| {
        let like_time = if event.samples > 0 { like_time(event.name.as_bytes()) } else { 0 };
        (like_time, event.samples, std::cmp::Reverse(*index))
    });
    let Some((best, _)) = best else {
        return Err(PerfDataError::NoSuchEvent {
            name: options.event.clone().unwrap_or_default(),
            there: events.iter().map(|event| event.name.clone()).collect(),
        });
    };
    let mut taken = events.swap_remove(best);
    // A hybrid processor's kinds of cores count the same event apart.
    let is_bare = |event: &Event| event.weight == Weight::One;
    let is_same = |other: &mut Event| {
        is_wanted(other)
            && plain_event(&other.name) == plain_event(&taken.name)
            && is_bare(other) == is_bare(&taken)
    };
    let same: Vec<Event> = events.extract_if(.., is_same).collect();
    same.into_iter().for_each(|other| taken.add(other));
    Ok(taken)
}

/// The profile of one event.
fn profile(
    mut recording: Recording<'_>,
    mut remarks: Vec<Remark>,
) -> Result<SampledProfile, PerfDataError> {
    let Files { features, options, .. } = recording.files;
    let (lost, throttled) = (recording.lost(), recording.throttled);
    remarks.extend(skipped(&recording));
    let event = take(&mut recording.events, options)?;
    let sampled = recording.events.iter().filter(|other| other.samples > 0);
    let left_out: Vec<String> = sampled.map(|other| other.name.clone()).collect();
    if !left_out.is_empty() {
        remarks.push(Remark::OtherEvents { left_out });
    }

    let unit = event::unit(&event.attr, &event.name, event.weight);
    let mut profile = SampledProfile::new(Format::PerfData, unit);
    let (objects, kernel) = (&recording.objects, recording.kernel);
    let mut namer = Namer::new(recording.files, objects, kernel, event.has_kernel)?;
    let mut known: Vec<Option<Vec<FunctionId>>> = vec![None; recording.places.all().len()];
    let mut stack = Vec::new();
    for (places, tally) in event.stacks.stacks() {
        stack.clear();
        for place in places {
            let functions = known[place as usize].get_or_insert_with(|| {
                let functions = namer.functions(*recording.places.get(place));
                functions.iter().map(|function| profile.functions.id(function)).collect()
            });
            stack.extend(&*functions);
        }
        profile.contexts.sample(&stack, tally);
    }
    remarks.extend(namer.remarks());
    profile.remarks = remarks;
    profile.facts = Facts {
        event: Some(event.name.clone()),
        rate: event::rate(&event.attr),
        span: event.times.map(|(first, last)| Nanoseconds(last - first)),
        duration: features
            .sample_times
            .and_then(|(first, last)| last.checked_sub(first))
            .map(Nanoseconds),
        processors: event.processors,
        threads: event.threads.len(),
        lost,
        throttled,
        kernel: features.release.clone(),
        clock_ghz: features.clock_ghz,
        command: features.command.clone(),
        has_kernel: event.has_kernel,
    };
    Ok(profile)
}

/// The remark about records that could not be read, if there are any.
fn skipped(recording: &Recording<'_>) -> Option<Remark> {
    let (count, left_out) = (recording.skipped.count, recording.mappings_left_out());
    let (first, what) = match recording.skipped.first {
        Some((first, what)) => (first, what),
        None if left_out > 0 => (0, "more mappings than processes have"),
        None => return None,
    };
    Some(Remark::Skipped { count: count + left_out, first, what: what.to_owned() })
}
