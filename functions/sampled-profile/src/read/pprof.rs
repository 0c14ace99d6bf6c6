//! Reads pprof's protocol buffer (`profile.proto` of github.com/google/pprof), which Go also
//! writes.
//!
//! The format is binary. As text, its records look like this:
//!
//! ```text
//! sample_type { type: 1 unit: 2 }            // indices into the table of strings
//! sample { location_id: 7 location_id: 3 value: 12 value: 120000000 }
//! location { id: 7 line { function_id: 5 } }
//! function { id: 5 name: 9 filename: 10 }
//! string_table: ""  string_table: "samples"  string_table: "count"
//! ```
//!
//! Records refer to each other by numbers, and the table of strings may come last. So the reader
//! keeps the whole file and goes through it once for each kind of record: [`wire`] finds the
//! records and [`records`] decodes one at a time. If a sample or location refers to something that
//! does not exist, it is left out; a function whose name does not exist has no name. No record
//! refers to one of its own kind, so there are no cycles.

mod kind;
mod records;
mod wire;

use std::collections::HashMap;
use std::io::{self, BufRead};

use kilocore_figures::Nanoseconds;
use kind::{Choice, Kind};
use prost::Message;
use records::{Function, Location, Mapping, Sample, ValueType, field};
use wire::{Fault, Fields, Value};

use super::error::ReadError;
use super::names::{Names, has_kernel};
use super::origin::origin;
use super::skipped::Skipped;
use super::source::BrokenOff;
use super::task::Task;
use crate::{
    Contexts, Format, Function as Named, FunctionId, Rate, Remark, SampledProfile, Tally, Unit,
};

/// The longest record that is decoded. It holds a stack of some hundred thousand functions.
const RECORD_BYTES: usize = 1 << 20;

/// The most functions at one address. Each costs a few bytes once and time in each sample.
const INLINED: usize = 1 << 10;

/// The longest name of a sample type, in bytes. A longer one is cut.
const KIND_NAME: usize = 1 << 9;

/// The number of fields that are enough to identify a file.
const SHOWN_FIELDS: usize = 8;

const MEND: &str = "export the profile again, or unpack it with `go tool pprof -proto`";

/// Whether a file that begins with `head` can be a profile: its fields must be those of a profile.
pub(crate) fn is_likely(head: &[u8], is_whole: bool) -> bool {
    let mut fields = Fields::new(head);
    let mut seen = 0;
    loop {
        match fields.next() {
            Ok(Some((number, value))) => {
                let bit = 1_u64.checked_shl(number as u32).filter(|_| number < 64).unwrap_or(0);
                let allowed = match value {
                    Value::Number(_) => field::NUMBERS,
                    Value::Bytes(_) => field::WITH_LENGTH,
                    Value::Fixed => 0,
                };
                if bit & allowed == 0 {
                    return false;
                }
                seen += 1;
                if seen == SHOWN_FIELDS {
                    return true;
                }
            }
            Ok(None) => return seen > 0,
            // The head ends inside a field, because the file is longer or was cut.
            Err(Fault::Ends) => return seen > 1 || (seen > 0 && !is_whole),
            Err(Fault::Damaged) => return false,
        }
    }
}

/// A location: its functions are a part of [`Tables::frames`].
#[derive(Debug, Clone, Copy)]
struct FrameRange {
    start: usize,
    end: usize,
}

/// What samples refer to.
#[derive(Debug, Default)]
struct Tables<'a> {
    strings: Vec<&'a [u8]>,
    files: HashMap<u64, &'a [u8]>,
    functions: HashMap<u64, &'a [u8]>,
    places: HashMap<u64, FrameRange>,
    frames: Vec<FunctionId>,
    names: Names,
}

/// A file that is being read.
struct Reader<'a> {
    task: &'a Task<'a>,
    bytes: &'a [u8],
    tables: Tables<'a>,
    skipped: Skipped,
}

impl<'a> Reader<'a> {
    /// Passes each record of a kind to `take`, with its position among all fields, from 1. If
    /// `take` returns a complaint, it is noted.
    fn each<R: Message + Default>(
        &mut self,
        kind: u64,
        mut take: impl FnMut(&mut Self, R) -> Result<Option<&'static str>, ReadError>,
    ) -> Result<(), ReadError> {
        let mut fields = Fields::new(self.bytes);
        let mut entry = 0;
        while let Ok(Some((number, value))) = fields.next() {
            entry += 1;
            if number != kind {
                continue;
            }
            let fault = match value {
                Value::Bytes(bytes) if bytes.len() > RECORD_BYTES => Some("a record too long"),
                Value::Bytes(bytes) => match R::decode(bytes) {
                    Ok(record) => take(self, record)?,
                    Err(_) => Some("a record that cannot be decoded"),
                },
                _ => Some("a number where a record should be"),
            };
            if let Some(what) = fault {
                self.skipped.note(entry, || what.to_owned());
            }
        }
        Ok(())
    }

    /// A text, by its index.
    fn string(&self, index: i64) -> Option<&'a [u8]> {
        usize::try_from(index).ok().and_then(|index| self.tables.strings.get(index)).copied()
    }

    /// The text of a sample type.
    fn text(&self, index: i64) -> String {
        let bytes = self.string(index).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..bytes.len().min(KIND_NAME)]).into_owned()
    }

    /// The table of strings.
    fn strings(&mut self) -> Result<(), ReadError> {
        let mut fields = Fields::new(self.bytes);
        while let Ok(Some(next)) = fields.next() {
            if let (field::STRING, Value::Bytes(text)) = next {
                self.bound(self.tables.strings.len(), "strings")?;
                self.tables.strings.push(text);
            }
        }
        Ok(())
    }

    /// Refuses a file in which there are more of something than there may be contexts.
    fn bound(&self, count: usize, what: &'static str) -> Result<(), ReadError> {
        let limit = self.task.options.limits.contexts;
        if count > limit { Err(self.task.too_large(what, limit)) } else { Ok(()) }
    }

    /// Reads everything that samples refer to. The strings must have been read before.
    fn tables(&mut self) -> Result<(), ReadError> {
        self.each(field::MAPPING, |reader, mapping: Mapping| {
            let Some(file) = reader.string(mapping.file) else {
                return Ok(Some("a mapping whose file's name is not there"));
            };
            let file = if file == b"[unknown]" { b"" } else { file };
            reader.tables.files.insert(mapping.id, file);
            reader.bound(reader.tables.files.len(), "mappings")?;
            Ok(None)
        })?;
        self.each(field::FUNCTION, |reader, function: Function| {
            let name = reader.string(function.name).filter(|name| !name.is_empty());
            let Some(name) = name.or_else(|| reader.string(function.linked)) else {
                return Ok(Some("a function whose name is not there"));
            };
            reader.tables.functions.insert(function.id, name);
            reader.bound(reader.tables.functions.len(), "functions")?;
            Ok(None)
        })?;
        self.each(field::LOCATION, Self::location)
    }

    /// Names the functions of a location.
    fn location(&mut self, location: Location) -> Result<Option<&'static str>, ReadError> {
        self.bound(self.tables.frames.len(), "functions of locations")?;
        if location.lines.len() > INLINED {
            return Ok(Some("a location with too many inlined functions"));
        }
        let mut fault = None;
        let Tables { files, functions, places, frames, names, .. } = &mut self.tables;
        let object = match (location.mapping, files.get(&location.mapping)) {
            (_, Some(file)) => file,
            (0, None) => &b""[..],
            (_, None) => {
                fault = Some("a location in a mapping that is not there");
                &b""[..]
            }
        };
        let address = Some(location.address).filter(|&address| address != 0);
        let origin = origin(object, address);
        let start = frames.len();
        for line in &location.lines {
            let name = functions.get(&line.function).copied().unwrap_or_else(|| {
                fault = Some("a location in a function that is not there");
                b""
            });
            frames.push(names.id(name, object, origin, self.task)?);
        }
        if location.lines.is_empty() {
            frames.push(names.id(Named::UNKNOWN.as_bytes(), object, origin, self.task)?);
        }
        places.insert(location.id, FrameRange { start, end: frames.len() });
        Ok(fault)
    }

    /// Reads the fields that are not records.
    fn heading(&self) -> Heading {
        let mut heading = Heading::default();
        let mut fields = Fields::new(self.bytes);
        let kind = |bytes| {
            let ValueType { kind, unit } = ValueType::decode(bytes).unwrap_or_default();
            Kind { name: self.text(kind), unit: self.text(unit) }
        };
        while let Ok(Some(next)) = fields.next() {
            match next {
                (field::SAMPLE_TYPE, Value::Bytes(bytes))
                    if heading.kinds.len() < self.task.options.limits.events =>
                {
                    heading.kinds.push(kind(bytes));
                }
                (field::PERIOD_TYPE, Value::Bytes(bytes)) => {
                    heading.period_kind = Some(kind(bytes))
                }
                (field::PERIOD, Value::Number(number)) => heading.period = number as i64,
                (field::DURATION_NANOS, Value::Number(number)) => heading.duration = number as i64,
                (field::DEFAULT_SAMPLE_TYPE, Value::Number(number)) => {
                    heading.preferred = self.text(number as i64);
                }
                _ => {}
            }
        }
        heading
    }

    /// Reads all samples, and sums up what fell on each stack.
    fn samples(&mut self, weigher: &Weigher) -> Result<Contexts, ReadError> {
        let mut contexts = Contexts::default();
        let mut stack = Vec::new();
        let limits = self.task.options.limits;
        self.each(field::SAMPLE, |reader, sample: Sample| {
            let tally = match weigher.tally(&sample.values) {
                Ok(Some(tally)) => tally,
                Ok(None) => return Ok(None),
                Err(what) => return Ok(Some(what)),
            };
            stack.clear();
            for location in &sample.locations {
                let Some(&FrameRange { start, end }) = reader.tables.places.get(location) else {
                    return Ok(Some("a sample at a location that is not there"));
                };
                if stack.len() + (end - start) > limits.depth {
                    return Ok(Some("a stack that is too deep"));
                }
                stack.extend_from_slice(&reader.tables.frames[start..end]);
            }
            contexts.sample(&stack, tally);
            if contexts.len() > limits.contexts {
                return Err(reader.task.too_large("calling contexts", limits.contexts));
            }
            Ok(None)
        })?;
        Ok(contexts)
    }
}

/// The fields of a profile that are not records.
#[derive(Debug, Default)]
struct Heading {
    kinds: Vec<Kind>,
    period_kind: Option<Kind>,
    period: i64,
    duration: i64,
    preferred: String,
}

impl Heading {
    /// Chooses which numbers of the samples to take.
    fn choose(&self, task: &Task<'_>) -> Result<Choice, ReadError> {
        let asked = task.options.event.as_deref();
        if let Some(choice) = kind::choose(&self.kinds, asked, &self.preferred) {
            return Ok(choice);
        }
        match asked {
            Some(event) if !self.kinds.is_empty() => {
                let there = self.kinds.iter().map(|kind| kind.name.clone()).collect();
                let (file, event) = (task.file.to_owned(), event.to_owned());
                Err(ReadError::NoSuchEvent { file, event, there })
            }
            _ => {
                let what = "the profile does not say what its samples count";
                Err(nothing(task, 1, what.to_owned()))
            }
        }
    }

    /// The sample types that are left out.
    fn others(&self, choice: Choice) -> Option<Remark> {
        let taken = [Some(choice.weight), choice.count];
        let others = self.kinds.iter().enumerate();
        let left_out: Vec<String> = others
            .filter(|(index, _)| !taken.contains(&Some(*index)))
            .map(|(_, kind)| kind.name.clone())
            .collect();
        (!left_out.is_empty()).then_some(Remark::OtherEvents { left_out })
    }
}

/// Turns the numbers of a sample into what it stands for.
#[derive(Debug)]
struct Weigher {
    choice: Choice,
    /// What the weight is multiplied by.
    factor: u64,
    /// The weight of one sample, if it is known and the profile has no count.
    each: Option<u64>,
}

impl Weigher {
    /// Returns the tally of a sample, or `None` if all its numbers are zero.
    fn tally(&self, values: &[i64]) -> Result<Option<Tally>, &'static str> {
        let value = |index: usize| match values.get(index).map(|&value| u64::try_from(value)) {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => Err("a sample below zero; a difference of profiles cannot be read"),
            None => Err("a sample with too few values"),
        };
        let weight = value(self.choice.weight)?.saturating_mul(self.factor);
        let samples = match (self.choice.count, self.each) {
            (Some(count), _) => value(count)?,
            (None, Some(each)) => weight.saturating_add(each / 2) / each,
            (None, None) => 1,
        };
        Ok((weight > 0).then(|| Tally::of(samples.max(1), weight)))
    }
}

/// Reads a profile of pprof, with gzip around it or without.
pub(crate) fn read(from: impl BufRead, task: &Task<'_>) -> Result<SampledProfile, ReadError> {
    let (bytes, broken) = fetch(from, task)?;
    let reader =
        Reader { task, bytes: &bytes, tables: Tables::default(), skipped: Skipped::default() };
    let mut profile = profile(reader)?;
    profile.remarks.extend(broken.or_else(|| damage(&bytes)));
    Ok(profile)
}

/// Returns all bytes, and a remark if the file breaks off.
fn fetch(mut from: impl BufRead, task: &Task<'_>) -> Result<(Vec<u8>, Option<Remark>), ReadError> {
    let limit = task.options.limits.message_bytes;
    let mut bytes = Vec::new();
    loop {
        let here = match from.fill_buf() {
            Ok([]) => return Ok((bytes, None)),
            Ok(here) => here,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let Some(BrokenOff { at, what }) = BrokenOff::of(&error).cloned() else {
                    return Err(task.failed(error));
                };
                return Ok((bytes, Some(Remark::Truncated { at, what })));
            }
        };
        if bytes.len() + here.len() > limit {
            return Err(task.too_large("bytes of a pprof profile, unpacked", limit));
        }
        bytes.extend_from_slice(here);
        let count = here.len();
        from.consume(count);
    }
}

/// Returns where the fields stop making sense, if they do so before the end.
fn damage(bytes: &[u8]) -> Option<Remark> {
    let mut fields = Fields::new(bytes);
    let fault = loop {
        match fields.next() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(fault) => break fault,
        }
    };
    let what = match fault {
        Fault::Ends => "the last record is cut short",
        Fault::Damaged => "what follows is no record",
    };
    let at = (bytes.len() - fields.left()) as u64;
    Some(Remark::Truncated { at, what: what.to_owned() })
}

/// The profile in a file.
fn profile(mut reader: Reader<'_>) -> Result<SampledProfile, ReadError> {
    let task = reader.task;
    reader.strings()?;
    let heading = reader.heading();
    let choice = heading.choose(task)?;
    let kind = &heading.kinds[choice.weight];
    let (mut unit, mut factor) = kind.weighs();
    if let (Unit::Samples, Some(ns)) = (&unit, task.options.nanoseconds_per_count) {
        (unit, factor) = (Unit::Nanoseconds, ns);
    }
    let rate = heading.period_kind.as_ref().and_then(|of| of.rate(heading.period, kind));
    let each = match rate {
        Some(Rate::Period(period)) if heading.period_kind.as_ref() == Some(kind) => Some(period),
        _ => None,
    };
    reader.tables()?;
    let contexts = reader.samples(&Weigher { choice, factor, each })?;
    let samples = contexts.total().samples;
    if samples == 0 {
        let none = (1, "there is no sample".to_owned());
        let (entry, what) = reader.skipped.first().cloned().unwrap_or(none);
        return Err(nothing(task, entry, what));
    }
    if contexts.len() == 1 {
        return Err(ReadError::NoStacks { file: task.file.to_owned(), samples });
    }
    let mut profile = SampledProfile::new(Format::Pprof, unit);
    (profile.functions, profile.contexts) = reader.tables.names.of(&contexts, |tally| tally);
    profile.facts.event = Some(kind.name.clone());
    profile.facts.rate = rate;
    profile.facts.duration =
        u64::try_from(heading.duration).ok().filter(|&ns| ns > 0).map(Nanoseconds);
    profile.facts.has_kernel = has_kernel(&profile.functions);
    profile.remarks.extend(heading.others(choice));
    profile.remarks.extend(reader.skipped.remark());
    Ok(profile)
}

fn nothing(task: &Task<'_>, entry: u64, what: String) -> ReadError {
    let (file, format) = (task.file.to_owned(), Format::Pprof);
    ReadError::Nothing { file, format, entry, what, mend: MEND }
}
