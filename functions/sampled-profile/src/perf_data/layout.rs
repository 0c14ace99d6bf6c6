//! Where things lie in a perf.data file.
//!
//! There are two kinds of files. An ordinary file has a header that points to the events and to the
//! records; the features follow the records. perf writes the sizes when it ends, so a file of a
//! killed perf has zeros there. The other kind is what perf writes to a pipe. It has no sections:
//! events and features are records among the others. Sizes are believed only as far as the file
//! reaches.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use linux_perf_data::linux_perf_event_reader::RecordType;
use linux_perf_data::{Feature, UserRecordType};

use super::PerfDataError;
use super::bytes::Bytes;

/// An event, not decoded yet.
#[derive(Debug, Clone)]
pub(super) struct RawEvent {
    /// Its `perf_event_attr`, as the file has it.
    pub(super) attr: Vec<u8>,
    /// The ids by which records say that they belong to this event.
    pub(super) ids: Vec<u64>,
}

/// Where reading has to stop before the end that the file states, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Break {
    pub(super) at: u64,
    pub(super) what: String,
}

/// What a file's header and its sections say: the order of bytes, the events, and where the records
/// are.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) big_endian: bool,
    pub(super) is_pipe: bool,
    /// Where the records are, in bytes from the beginning of the file.
    pub(super) data: Range<u64>,
    pub(super) events: Vec<RawEvent>,
    /// The feature sections that are of use here.
    pub(super) features: BTreeMap<u32, Vec<u8>>,
    /// Build ids that came as records of their own: the flags and the body of each.
    pub(super) build_ids: Vec<(u16, Vec<u8>)>,
    /// Where the file breaks off, if it ends before the header says.
    pub(super) broken: Option<Break>,
}

/// A section of a file.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    const SIZE: u64 = 16;

    fn parse(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(Self { offset: bytes.u64()?, size: bytes.u64()? })
    }

    fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)
    }
}

/// The header of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordHeader {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) size: u16,
}

impl RecordHeader {
    pub(super) const SIZE: u16 = 8;

    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(Self { kind: bytes.u32()?, misc: bytes.u16()?, size: bytes.u16()? })
    }

    pub(super) fn is(self, kind: UserRecordType) -> bool {
        RecordType(self.kind) == kind.record_type()
    }
}

/// The features that are of use.
const FEATURES: [Feature; 10] = [
    Feature::BUILD_ID,
    Feature::HOSTNAME,
    Feature::OSRELEASE,
    Feature::ARCH,
    Feature::CPUDESC,
    Feature::CMDLINE,
    Feature::EVENT_DESC,
    Feature::SAMPLE_TIME,
    Feature::COMPRESSED,
    Feature::HYBRID_TOPOLOGY,
];

/// The bit, in a header's flags, that says that the samples are in other files.
const DIRECTORY: u32 = 24;

impl Layout {
    /// Reads the header and the sections, but not the records.
    pub(super) fn read<R: Read + Seek>(file: &mut R) -> Result<Self, PerfDataError> {
        let length = file.seek(SeekFrom::End(0))?;
        let start = section(file, length, Section { offset: 0, size: length.min(16) })?;
        let big_endian = match start.get(..8) {
            Some(b"PERFILE2") => false,
            Some(b"2ELIFREP") => true,
            Some(b"PERFFILE" | b"ELIFFREP") => return Err(PerfDataError::Version1),
            _ => return Err(PerfDataError::NotPerfData),
        };
        let size = Bytes::new(&start[8..], big_endian).u64();
        let size = size.ok_or(PerfDataError::Header { at: 8, what: "the header breaks off" })?;
        if size == 16 {
            Self::pipe(file, length, big_endian)
        } else {
            Self::file(file, length, big_endian)
        }
    }

    fn file<R: Read + Seek>(
        file: &mut R,
        length: u64,
        big_endian: bool,
    ) -> Result<Self, PerfDataError> {
        let cut = PerfDataError::Header { at: length, what: "the header breaks off" };
        let Some(header) = section(file, length, Section { offset: 16, size: 88 })
            .ok()
            .filter(|header| header.len() == 88)
        else {
            return Err(cut);
        };
        let mut bytes = Bytes::new(&header, big_endian);
        let mut parse = || {
            let attr_size = bytes.u64()?;
            let attrs = Section::parse(&mut bytes)?;
            let data = Section::parse(&mut bytes)?;
            let _event_types = Section::parse(&mut bytes)?;
            let flags = [bytes.u64()?, bytes.u64()?, bytes.u64()?, bytes.u64()?];
            Some((attr_size, attrs, data, flags))
        };
        let Some((attr_size, attrs, data, flags)) = parse() else { return Err(cut) };
        let has = |bit: u32| flags[bit as usize / 64] >> (bit % 64) & 1 == 1;
        if has(DIRECTORY) && data.size == 0 {
            return Err(PerfDataError::Directory);
        }
        let mut layout = Self {
            big_endian,
            is_pipe: false,
            data: data.offset.min(length)..length,
            events: events(file, length, attr_size, attrs, big_endian)?,
            features: BTreeMap::new(),
            build_ids: Vec::new(),
            broken: None,
        };
        match data.end().filter(|end| *end <= length) {
            _ if data.size == 0 => layout.break_off("perf did not end the recording"),
            None => layout.break_off("the file ends before its records do"),
            Some(end) => {
                layout.data.end = end;
                let table = (0..256).filter(|bit| has(*bit));
                layout.read_features(file, length, table)?;
            }
        }
        Ok(layout)
    }

    /// Notes that something is missing after the records.
    fn break_off(&mut self, what: &str) {
        self.broken = Some(Break { at: self.data.end, what: what.to_owned() });
    }

    /// Reads the features of a file: after the records comes one section for each flag that is set.
    fn read_features<R: Read + Seek>(
        &mut self,
        file: &mut R,
        length: u64,
        table: impl Iterator<Item = u32>,
    ) -> Result<(), PerfDataError> {
        for (index, feature) in (0..).zip(table) {
            let entry =
                Section { offset: self.data.end + index * Section::SIZE, size: Section::SIZE };
            let entry = section(file, length, entry)?;
            let place = Section::parse(&mut Bytes::new(&entry, self.big_endian));
            let Some(place) = place.filter(|place| place.end().is_some_and(|end| end <= length))
            else {
                let what = "features of the recording, such as names of events, are missing";
                self.broken = Some(Break { at: length, what: what.to_owned() });
                continue;
            };
            if FEATURES.iter().any(|known| known.0 == feature) {
                self.features.insert(feature, section(file, length, place)?);
            }
        }
        Ok(())
    }

    /// Goes through all records of a pipe and keeps those that describe the recording.
    fn pipe<R: Read + Seek>(
        file: &mut R,
        length: u64,
        big_endian: bool,
    ) -> Result<Self, PerfDataError> {
        let mut layout = Self {
            big_endian,
            is_pipe: true,
            data: 16..length,
            events: Vec::new(),
            features: BTreeMap::new(),
            build_ids: Vec::new(),
            broken: None,
        };
        let mut at = layout.data.start;
        while at < length {
            let header = Section { offset: at, size: u64::from(RecordHeader::SIZE) };
            let header = section(file, length, header)?;
            let header = RecordHeader::parse(&mut Bytes::new(&header, big_endian));
            let Some(header) = header.filter(|header| header.size >= RecordHeader::SIZE) else {
                break;
            };
            let size = u64::from(header.size - RecordHeader::SIZE);
            let body = Section { offset: at + u64::from(RecordHeader::SIZE), size };
            at = body.offset + size + layout.pipe_record(file, length, header, body)?;
        }
        if layout.events.is_empty() {
            return Err(PerfDataError::Header { at, what: "there is no event" });
        }
        Ok(layout)
    }

    /// Keeps a record that describes the recording. Returns the size of the data that follows the
    /// record and is not a record itself.
    fn pipe_record<R: Read + Seek>(
        &mut self,
        file: &mut R,
        length: u64,
        header: RecordHeader,
        body: Section,
    ) -> Result<u64, PerfDataError> {
        let is = |kind| header.is(kind);
        let is_useful = is(UserRecordType::PERF_HEADER_ATTR)
            || is(UserRecordType::PERF_HEADER_FEATURE)
            || is(UserRecordType::PERF_HEADER_BUILD_ID)
            || is(UserRecordType::PERF_AUXTRACE)
            || is(UserRecordType::PERF_HEADER_TRACING_DATA);
        if !is_useful {
            return Ok(0);
        }
        let bytes = section(file, length, body)?;
        let mut rest = Bytes::new(&bytes, self.big_endian);
        if is(UserRecordType::PERF_HEADER_ATTR) {
            self.events.extend(pipe_event(&bytes, self.big_endian));
        } else if is(UserRecordType::PERF_HEADER_BUILD_ID) {
            self.build_ids.push((header.misc, bytes.clone()));
        } else if is(UserRecordType::PERF_HEADER_FEATURE) {
            let feature = rest.u64().and_then(|feature| u32::try_from(feature).ok());
            let known = feature.filter(|feature| FEATURES.iter().any(|known| known.0 == *feature));
            self.features.extend(known.map(|feature| (feature, rest.rest().to_vec())));
        }
        Ok(payload(header, &bytes, true, self.big_endian))
    }
}

/// The size of the data that follows a record without being a record.
pub(super) fn payload(header: RecordHeader, body: &[u8], is_pipe: bool, big_endian: bool) -> u64 {
    let mut bytes = Bytes::new(body, big_endian);
    if header.is(UserRecordType::PERF_AUXTRACE) {
        bytes.u64().unwrap_or(0)
    } else if is_pipe && header.is(UserRecordType::PERF_HEADER_TRACING_DATA) {
        bytes.u32().map_or(0, |size| u64::from(size).next_multiple_of(8))
    } else {
        0
    }
}

/// The bytes of a section, as far as the file reaches.
fn section<R: Read + Seek>(
    file: &mut R,
    length: u64,
    Section { offset, size }: Section,
) -> Result<Vec<u8>, PerfDataError> {
    let size = size.min(length.saturating_sub(offset));
    let mut bytes = Vec::new();
    if size > 0 {
        file.seek(SeekFrom::Start(offset))?;
        file.take(size).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The events of a file.
fn events<R: Read + Seek>(
    file: &mut R,
    length: u64,
    attr_size: u64,
    attrs: Section,
    big_endian: bool,
) -> Result<Vec<RawEvent>, PerfDataError> {
    /// All versions of a `perf_event_attr` are shorter.
    const LONGEST: u64 = 4096;
    let at = attrs.offset;
    let wrong = |what| PerfDataError::Header { at, what };
    if !(64 + Section::SIZE..=LONGEST).contains(&attr_size) {
        return Err(wrong("the size of events makes no sense"));
    }
    if attrs.end().is_none_or(|end| end > length) {
        return Err(wrong("the file breaks off before its events"));
    }
    let bytes = section(file, length, attrs)?;
    // Sections of ids may overlap, but all of them are inside the file. So their total is bounded.
    let mut ids_left = length;
    let mut events = Vec::new();
    for entry in bytes.chunks_exact(attr_size as usize) {
        let (attr, place) = entry.split_at(entry.len() - Section::SIZE as usize);
        let place = Section::parse(&mut Bytes::new(place, big_endian));
        let place = place.filter(|place| place.size <= ids_left);
        let ids = match place {
            Some(place) => section(file, length, place)?,
            None => Vec::new(),
        };
        ids_left -= ids.len() as u64;
        let mut numbers = Bytes::new(&ids, big_endian);
        let ids = std::iter::from_fn(|| numbers.u64()).collect();
        let attr = own_size(attr, big_endian).ok_or(wrong("an event makes no sense"))?;
        events.push(RawEvent { attr: attr.to_vec(), ids });
    }
    if events.is_empty() { Err(wrong("there is no event")) } else { Ok(events) }
}

/// The event of a record.
fn pipe_event(body: &[u8], big_endian: bool) -> Option<RawEvent> {
    let attr = own_size(body, big_endian)?;
    let mut ids = Bytes::new(&body[attr.len()..], big_endian);
    Some(RawEvent { attr: attr.to_vec(), ids: std::iter::from_fn(|| ids.u64()).collect() })
}

/// Cuts an event to the size that it states itself.
fn own_size(attr: &[u8], big_endian: bool) -> Option<&[u8]> {
    const SHORTEST: u32 = 64;
    let mut bytes = Bytes::new(attr, big_endian);
    bytes.u32()?;
    let size = bytes.u32().filter(|size| *size >= SHORTEST)?;
    attr.get(..size as usize)
}
