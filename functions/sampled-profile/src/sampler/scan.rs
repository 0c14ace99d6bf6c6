//! Looking through a `perf.data` file that perf wrote: how much is in it, and how it was taken.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_DUMMY, PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_TYPE_SOFTWARE,
};

use crate::sampler::{Hertz, SampleError};
use kilocore_linux::perf_events::{self as raw, HEADER, Record, Tally};

/// What the records and the attributes of a recording say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) tally: Tally,
    /// None if samples were not taken at a frequency.
    pub(crate) frequency: Option<Hertz>,
    /// Whether samples were taken in the kernel.
    pub(crate) kernel: bool,
}

/// Why it is no such file, and where.
#[derive(Debug)]
enum Bad {
    Malformed(u64, &'static str),
    Io(io::Error),
}

impl From<io::Error> for Bad {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Looks through `file`, which will be called `name`.
pub(crate) fn scan(file: &Path, name: &Path) -> Result<Scan, SampleError> {
    let opened = File::open(file).map_err(Bad::Io);
    opened.and_then(|file| look_through(BufReader::new(file))).map_err(|bad| match bad {
        Bad::Malformed(offset, what) => {
            SampleError::Malformed { file: name.to_owned(), offset, what }
        }
        Bad::Io(source) => SampleError::Output { file: name.to_owned(), source },
    })
}

fn look_through<R: Read + Seek>(mut file: BufReader<R>) -> Result<Scan, Bad> {
    let mut header = [0; 104];
    read(&mut file, &mut header, 0)?;
    if !header.starts_with(b"PERFILE2") {
        return Err(Bad::Malformed(0, "this is no perf.data file"));
    }
    let field = |at| raw::word(&header, at).unwrap_or(0);
    let (attribute_size, attributes, attributes_size) = (field(16), field(24), field(32));
    let (data, data_size) = (field(40), field(48));
    let (frequency, kernel) = sampling(&mut file, attributes, attributes_size, attribute_size)?;
    if data_size == 0 {
        return Err(Bad::Malformed(40, "it was not completed"));
    }
    let tally = tally(&mut file, data, data_size)?;
    Ok(Scan { tally, frequency, kernel })
}

/// Reads what has to be there.
fn read(file: &mut impl Read, bytes: &mut [u8], offset: u64) -> Result<(), Bad> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Bad::Malformed(offset, "the file ends here"),
        _ => Bad::Io(error),
    })
}

/// The frequency of the first event that samples, and whether in the kernel, too.
fn sampling<R: Read + Seek>(
    file: &mut BufReader<R>,
    mut offset: u64,
    size: u64,
    each: u64,
) -> Result<(Option<Hertz>, bool), Bad> {
    /// As much as has been there since the first version.
    const LEAST: u64 = 64 + 16;
    const EXCLUDES_KERNEL: u64 = 1 << 5;
    const FREQUENCY: u64 = 1 << 10;
    if each < LEAST {
        return Err(Bad::Malformed(16, "attributes are too small"));
    }
    for _ in 0..size / each {
        let mut attribute = [0; LEAST as usize];
        file.seek(SeekFrom::Start(offset))?;
        read(file, &mut attribute, offset)?;
        let word = |at| raw::word(&attribute, at).unwrap_or(0);
        let (kind, config, flags) = (word(0) as u32, word(8), word(40));
        // Only there to see mappings and threads from the start.
        let dummy = kind == PERF_TYPE_SOFTWARE && config == u64::from(PERF_COUNT_SW_DUMMY);
        if !dummy {
            let rate = u32::try_from(word(16)).ok().filter(|_| flags & FREQUENCY != 0);
            return Ok((rate.map(Hertz), flags & EXCLUDES_KERNEL == 0));
        }
        offset = offset.checked_add(each).ok_or(Bad::Malformed(24, "attributes have no end"))?;
    }
    Err(Bad::Malformed(24, "no event takes samples"))
}

/// Counts the samples and the losses among the records from `offset` on, of which there are `left`
/// bytes.
fn tally<R: Read + Seek>(
    file: &mut BufReader<R>,
    mut offset: u64,
    mut left: u64,
) -> Result<Tally, Bad> {
    let mut tally = Tally::default();
    let mut body = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    while left > 0 {
        let malformed = |what| Bad::Malformed(offset, what);
        let mut header = [0; HEADER];
        read(file, &mut header, offset)?;
        let (kind, flags, size) =
            raw::header(header).map_err(|_| malformed("a record has no size"))?;
        left = left.checked_sub(size as u64).ok_or_else(|| malformed("a record has no end"))?;
        let counts = matches!(kind, PERF_RECORD_LOST | PERF_RECORD_LOST_SAMPLES);
        body.resize(if counts { size - HEADER } else { 0 }, 0);
        if counts {
            read(file, &mut body, offset)?;
        } else {
            file.seek_relative((size - HEADER) as i64)?;
        }
        tally.add(Record { kind, flags, body: &body });
        offset += size as u64;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests;
