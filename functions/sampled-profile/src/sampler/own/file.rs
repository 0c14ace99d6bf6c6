//! Writing a `perf.data` file.
//!
//! The layout is that of `tools/perf/Documentation/perf.data-file-format.txt` in Linux: a header,
//! the ids of the events, their attributes, the records, a table of features, and the features.
//! The header says where all is, so it is written last.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use super::attribute::SIZE;

/// What the file begins with.
const MAGIC: [u8; 8] = *b"PERFILE2";
const HEADER: u64 = 104;

/// An attribute in the file: itself, and where its ids are.
const ATTRIBUTE: u64 = SIZE as u64 + 16;

/// What a file may say about its recording, by perf's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Feature {
    BuildId = 2,
    Hostname = 3,
    OsRelease = 4,
    Version = 5,
    Arch = 6,
    NrCpus = 7,
    CmdLine = 11,
    EventDesc = 12,
    SampleTime = 21,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct PerfFile<W: Write + Seek> {
    out: BufWriter<W>,
    ids: u64,
    records: u64,
}

impl<W: Write + Seek> PerfFile<W> {
    /// Begins a file with one event, which has an id on each core.
    pub(crate) fn begin(out: W, attribute: &[u8; SIZE], ids: &[u64]) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        out.write_all(&[0; HEADER as usize])?;
        for id in ids {
            out.write_all(&id.to_ne_bytes())?;
        }
        out.write_all(attribute)?;
        let ids = 8 * ids.len() as u64;
        write_words(&mut out, &[HEADER, ids])?;
        Ok(Self { out, ids, records: 0 })
    }

    /// Appends whole records, as the kernel wrote them.
    pub(crate) fn append(&mut self, records: &[u8]) -> io::Result<()> {
        self.records += records.len() as u64;
        self.out.write_all(records)
    }

    /// Completes the file. Features are in ascending order.
    pub(crate) fn finish(mut self, features: &[(Feature, Vec<u8>)]) -> io::Result<()> {
        debug_assert!(features.is_sorted_by(|(a, _), (b, _)| a < b));
        let attributes = HEADER + self.ids;
        let data = attributes + ATTRIBUTE;
        let mut offset = data + self.records + 16 * features.len() as u64;
        let mut present = [0u64; 4];
        for (feature, contents) in features {
            write_words(&mut self.out, &[offset, contents.len() as u64])?;
            offset += contents.len() as u64;
            present[0] |= 1 << *feature as u32;
        }
        for (_, contents) in features {
            self.out.write_all(contents)?;
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&MAGIC)?;
        let event_types = [0, 0];
        write_words(
            &mut self.out,
            &[HEADER, ATTRIBUTE, attributes, ATTRIBUTE, data, self.records],
        )?;
        write_words(&mut self.out, &event_types)?;
        write_words(&mut self.out, &present)?;
        self.out.flush()
    }
}

fn write_words(out: &mut impl Write, words: &[u64]) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_ne_bytes()))
}
