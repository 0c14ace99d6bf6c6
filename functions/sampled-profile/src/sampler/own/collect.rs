//! Collecting records from the buffers into the file.
//!
//! A thread sleeps until a buffer is a quarter full or the program has ended. Then it empties all
//! buffers; this is a round. The records of one core are in order, but those of different cores are
//! not. A mark in the file shows where each round ends, and readers sort each round together with
//! the next. If cores are watched as a whole, the records are sorted here instead, because only the
//! sorted order tells which records belong to the program.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;

use kilocore_linux::perf_events::{self as raw, Malformed, Record, Ring, Tally};
use perf_event_open_sys::bindings::{PERF_RECORD_LOST, PERF_RECORD_SAMPLE};

use super::attribute::{SIZE, TIME_IN_SAMPLE, TRAILER};
use super::family::{Family, Order};
use super::features::{HeaderFacts, features};
use super::file::PerfFile;
use super::gathered::Gathered;
use super::symbols;
use crate::sampler::{KernelSamples, SampleError};

/// A record of perf's own: all records up to here may be sorted by time, because none that comes
/// later is older than the last of the round before.
const FINISHED_ROUND: u32 = 68;

/// What a collector begins with.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) out: File,
    /// The name that the file will have.
    pub(crate) path: PathBuf,
    pub(crate) rings: Vec<Ring>,
    pub(crate) attribute: [u8; SIZE],
    pub(crate) event: &'static str,
    pub(crate) command: Vec<Vec<u8>>,
    pub(crate) counts_losses: bool,
    /// Whose records count, if not all do.
    pub(crate) family: Option<Family>,
    pub(crate) gathered: Gathered,
}

/// Moves records from the kernel's buffers into a file of perf's format.
#[derive(Debug)]
pub(crate) struct Collector {
    setup: Setup,
    file: PerfFile<File>,
    ids: Vec<u64>,
    order: Order,
    counts: Counts,
    /// What was read from a buffer, kept for its room.
    records: Vec<u8>,
}

/// What goes into the file, in numbers.
#[derive(Debug, Default)]
struct Counts {
    tally: Tally,
    /// Times of the first and the last sample.
    times: Option<(u64, u64)>,
}

impl Counts {
    fn add(&mut self, record: Record<'_>) {
        self.tally.add(record);
        if record.kind == PERF_RECORD_SAMPLE
            && let Some(time) = raw::word(record.body, TIME_IN_SAMPLE)
        {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
    }
}

impl Collector {
    /// Begins the file. If the kernel is sampled, the first records are its mappings.
    pub(crate) fn begin(mut setup: Setup) -> Result<Self, SampleError> {
        let failed = |source| SampleError::Output { file: setup.path.clone(), source };
        let ids: io::Result<Vec<u64>> = setup.rings.iter().map(|ring| ring.event().id()).collect();
        let ids = ids.map_err(SampleError::Sampler)?;
        let out = setup.out.try_clone().map_err(failed)?;
        let mut file = PerfFile::begin(out, &setup.attribute, &ids).map_err(failed)?;
        if setup.gathered.kernel == KernelSamples::Included {
            let (mappings, why_not) = symbols::kernel_mappings();
            file.append(&mappings).map_err(failed)?;
            setup.gathered.warnings.extend(why_not);
        }
        let (order, counts, records) = (Order::default(), Counts::default(), Vec::new());
        Ok(Self { setup, file, ids, order, counts, records })
    }

    /// Collects until told to stop, and completes the file.
    pub(crate) fn run(mut self, stop: &PipeReader) -> Result<Gathered, SampleError> {
        let collected = self.collect(stop);
        let told = HeaderFacts {
            command: &self.setup.command,
            event: self.setup.event,
            attribute: &self.setup.attribute,
            ids: &self.ids,
            times: self.counts.times,
            kernel_build_id: symbols::kernel_build_id(),
        };
        let features = features(&told);
        let file = self.file;
        collected
            .and_then(|()| file.finish(&features))
            .map_err(|source| SampleError::Output { file: self.setup.path, source })?;
        let Setup { gathered, .. } = self.setup;
        let tally = self.counts.tally;
        Ok(Gathered { samples: tally.samples, lost: tally.lost(), ..gathered })
    }

    fn collect(&mut self, stop: &PipeReader) -> io::Result<()> {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries: Vec<libc::pollfd> =
            self.setup.rings.iter().map(|ring| entry(ring.event().as_fd().as_raw_fd())).collect();
        entries.push(entry(stop.as_raw_fd()));
        loop {
            // SAFETY: as many entries, ours to be written. If it fails, nothing is ready.
            unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, -1) };
            let stopped = entries.last().is_some_and(|entry| entry.revents != 0);
            for entry in &mut entries {
                // The event of a task that has ended stays ready for ever.
                if entry.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                    entry.fd = -1;
                }
            }
            self.round()?;
            if stopped {
                self.rest()?;
                return self.losses();
            }
        }
    }

    /// Takes from all buffers the records that are in them now.
    fn round(&mut self) -> io::Result<()> {
        let whole = self.setup.family.is_some();
        for ring in &mut self.setup.rings {
            self.records.clear();
            ring.drain(&mut self.records);
            if whole {
                self.order.take(&self.records).map_err(malformed)?;
                continue;
            }
            for record in raw::records(&self.records) {
                self.counts.add(record.map_err(malformed)?);
            }
            self.file.append(&self.records)?;
        }
        if let Some(family) = &mut self.setup.family {
            self.records.clear();
            let counts = &mut self.counts;
            self.order.end_round(|bytes| keep(family, counts, bytes, &mut self.records));
            self.file.append(&self.records)?;
        }
        self.file.append(&raw::record(FINISHED_ROUND, 0, &[]))
    }

    /// What waited for older records.
    fn rest(&mut self) -> io::Result<()> {
        let Some(family) = &mut self.setup.family else { return Ok(()) };
        self.records.clear();
        let counts = &mut self.counts;
        self.order.finish(|bytes| keep(family, counts, bytes, &mut self.records));
        self.file.append(&self.records)
    }

    /// Records losses that the kernel could not record itself. The kernel records a loss together
    /// with the next record that has room, and there may be none.
    fn losses(&mut self) -> io::Result<()> {
        if !self.setup.counts_losses {
            return Ok(());
        }
        let told = self.counts.tally.lost();
        let mut all = 0;
        for ring in &self.setup.rings {
            all += ring.lost()?;
        }
        let untold = all.saturating_sub(told);
        if untold > 0 {
            let id = self.ids.first().copied().unwrap_or(0);
            let parts: [&[u8]; 3] = [&id.to_ne_bytes(), &untold.to_ne_bytes(), &[0; TRAILER]];
            let record = raw::record(PERF_RECORD_LOST, 0, &parts);
            raw::records(&record).flatten().for_each(|record| self.counts.add(record));
            self.file.append(&record)?;
        }
        Ok(())
    }
}

/// Keeps a record if it is the family's.
fn keep(family: &mut Family, counts: &mut Counts, bytes: &[u8], kept: &mut Vec<u8>) {
    for record in raw::records(bytes).flatten().filter(|record| family.admits(*record)) {
        counts.add(record);
        kept.extend_from_slice(bytes);
    }
}

fn malformed(_: Malformed) -> io::Error {
    io::Error::other("the kernel wrote a record that is none")
}
