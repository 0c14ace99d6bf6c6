//! Collecting the records while the program runs.
//!
//! A thread sleeps until a buffer is a quarter full, or something else is due. Then it empties all
//! buffers, puts the records in order, and enters them. It ends when it is told that the program has
//! ended, or when there is enough.

use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::{Ending, Nanoseconds, PageFaults};
use kilocore_linux::perf_events::Malformed;
use kilocore_process::Started;

use crate::recorder::RecordError;
use crate::recorder::clock;
use crate::recorder::faults::Faults;
use crate::recorder::ledger::{Balance, Ledger};
use crate::recorder::open::Cores;
use crate::recorder::order::Order;
use crate::recorder::page_record;
use crate::recorder::places::Places;

/// A thread looks at the buffers at least this often, so that little is left for the end.
const LOOK: Duration = Duration::from_millis(100);

/// What of a run counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) delay: Option<Duration>,
    pub(crate) duration: Option<Duration>,
    pub(crate) events: Option<u64>,
}

/// Reads the kernel's records while the program runs, and enters what belongs to it in the ledger.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) cores: Cores,
    pub(crate) faults: Option<Faults>,
    pub(crate) places: Places,
    pub(crate) ledger: Ledger,
    pub(crate) limits: Limits,
    pub(crate) program: Started,
    /// The buffers' bytes, kept for their room, and the records that wait.
    bytes: Vec<u8>,
    order: Order,
    /// How many records of blocks came, whoever made them.
    delivered: u64,
}

/// What the records of a whole run came to.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) balance: Balance,
    pub(crate) ending: Ending,
    /// How long it was recorded.
    pub(crate) duration: Nanoseconds,
    pub(crate) faults: Option<PageFaults>,
    pub(crate) warnings: Vec<String>,
    /// Whether the program ended before anything was to be recorded.
    pub(crate) never_began: bool,
}

/// The times of a recording, by the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    begin: u64,
    end: Option<u64>,
}

impl Collector {
    pub(crate) fn new(
        cores: Cores,
        faults: Option<Faults>,
        places: Places,
        ledger: Ledger,
        limits: Limits,
        program: Started,
    ) -> Self {
        let (bytes, order) = (Vec::new(), Order::default());
        Self { cores, faults, places, ledger, limits, program, bytes, order, delivered: 0 }
    }

    /// Lets the recording begin, or at least the watching of what the program starts.
    pub(crate) fn begin(&mut self) -> Result<u64, RecordError> {
        self.cores.watch_starts().map_err(RecordError::Recorder)?;
        let now = clock::now();
        match self.limits.delay {
            Some(delay) => Ok(now + delay.as_nanos() as u64),
            None => self.begin_blocks().map(|()| now),
        }
    }

    fn begin_blocks(&mut self) -> Result<(), RecordError> {
        self.ledger.begin(clock::now());
        self.cores.watch_blocks().map_err(RecordError::Recorder)?;
        self.faults.as_ref().map_or(Ok(()), Faults::begin).map_err(RecordError::Recorder)
    }

    /// Collects until told to stop, or there is enough. `begin` is when blocks begin to count.
    pub(crate) fn run(mut self, begin: u64, stop: &PipeReader) -> Result<Collected, RecordError> {
        let end = self.limits.duration.map(|duration| begin + duration.as_nanos() as u64);
        let schedule = Schedule { begin, end };
        let mut begun = self.limits.delay.is_none();
        let ending = loop {
            let stopped = self.wait(begun, schedule, stop);
            if !begun && clock::now() >= schedule.begin && !stopped {
                self.begin_blocks()?;
                begun = true;
            }
            let time_is_up = schedule.end.is_some_and(|end| clock::now() >= end);
            if stopped || time_is_up {
                self.cores.stop().map_err(RecordError::Recorder)?;
            }
            self.round(stopped || time_is_up)?;
            if self.has_enough() {
                break Ending::EnoughEvents;
            } else if self.ledger.is_full() {
                break Ending::TooManyPages;
            } else if stopped {
                break Ending::ProgramEnded;
            } else if time_is_up {
                break Ending::TimeWasUp;
            }
        };
        self.cores.stop().map_err(RecordError::Recorder)?;
        let faults = self.faults.as_ref().filter(|_| begun).map(Faults::end);
        let faults = faults.transpose().map_err(RecordError::Recorder)?;
        if matches!(ending, Ending::EnoughEvents | Ending::TimeWasUp) {
            // If it has just ended, there is nobody to ask.
            let _ = self.program.terminate();
        }
        // What is left counts as delivered.
        self.round(true)?;
        let lost = self.cores.lost(self.delivered).map_err(RecordError::Recorder)?;
        let mut balance = self.ledger.close();
        balance.unseen.lost = lost;
        Ok(Collected {
            balance,
            ending,
            duration: Nanoseconds(clock::now().saturating_sub(schedule.begin)),
            faults,
            warnings: self.cores.warnings,
            never_began: !begun,
        })
    }

    /// Waits until there is something to do, and says whether to stop.
    fn wait(&self, begun: bool, schedule: Schedule, stop: &PipeReader) -> bool {
        let due = if begun { schedule.end } else { Some(schedule.begin) };
        let left = due.map(|due| Duration::from_nanos(due.saturating_sub(clock::now())));
        // A millisecond more, because a timeout has whole ones.
        let left = left.map_or(LOOK, |left| (left + Duration::from_millis(1)).min(LOOK));
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let rings = self.cores.cores.iter().map(|core| core.ring.fd());
        let mut entries: Vec<_> = rings.chain([stop.as_raw_fd()]).map(entry).collect();
        let count = entries.len() as libc::nfds_t;
        // SAFETY: as many entries, ours to be written. If it fails, nothing is ready.
        unsafe { libc::poll(entries.as_mut_ptr(), count, left.as_millis() as libc::c_int) };
        entries.last().is_some_and(|entry| entry.revents != 0)
    }

    /// Empties all buffers, and enters what is complete, or all of it if it is the last round.
    fn round(&mut self, last: bool) -> Result<(), RecordError> {
        for core in &mut self.cores.cores {
            self.bytes.clear();
            core.ring.drain(&mut self.bytes);
            let order = &mut self.order;
            let read = page_record::read(&self.bytes, &self.places, |seen| order.take(seen));
            self.delivered += read.map_err(|Malformed| {
                RecordError::Recorder(io::Error::other("the kernel wrote a record that is none"))
            })?;
        }
        let (ledger, limits) = (&mut self.ledger, self.limits);
        let enter = |seen| match limits.events {
            Some(limit) if ledger.events() >= limit => Ok(()),
            _ => ledger.enter(seen),
        };
        if last {
            self.order.finish().try_for_each(enter)?;
        } else {
            self.order.end_round().try_for_each(enter)?;
        }
        Ok(())
    }

    fn has_enough(&self) -> bool {
        self.limits.events.is_some_and(|limit| self.ledger.events() >= limit)
    }
}
