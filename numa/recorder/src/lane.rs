//! A ring, as the reader sees it: what has come, and what may still come.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use kilocore_references::layout::{RingHeader, Shared, state};
use kilocore_references::record::Record;
use kilocore_references::ring::{Malformed, Reader};
use kilocore_references::{Burst, Readiness, ThreadId, rank_of_change, rank_of_quantum};

/// A thread that is in the system for longer waits for something there. Most calls are shorter.
const WAITS: Duration = Duration::from_micros(500);

/// A thread's ring, as the reader sees it.
#[derive(Debug)]
pub(crate) struct Lane<'a> {
    reader: Reader<'a>,
    /// The thread that writes into it.
    pub(crate) thread: ThreadId,
    /// Whether a thread has it, or what it left is not read yet.
    active: bool,
    /// The epoch of what comes first.
    epoch: u64,
    /// The rank of what comes first, once somebody has looked.
    rank: Option<u64>,
    /// The last visit to the system that was seen.
    visit: Option<Visit>,
}

/// A thread's visit to the system.
#[derive(Debug, Clone, Copy)]
struct Visit {
    /// The thread's count of crossings, which is another one for each visit.
    number: u32,
    since: Instant,
    /// Whether it has been long.
    is_long: bool,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(ring: (&'a RingHeader, &'a [kilocore_references::layout::Slot])) -> Self {
        Self {
            reader: Reader::new(ring),
            thread: ThreadId(0),
            active: false,
            epoch: 0,
            rank: None,
            visit: None,
        }
    }

    /// What is known of its thread now.
    pub(crate) fn readiness(&mut self, shared: &Shared<'_>) -> Result<Readiness, Malformed> {
        if let Some(rank) = self.rank {
            return Ok(Readiness::Ready { rank });
        }
        let ring = self.reader.ring();
        // What is read before the ring is looked at was so before: if the ring is empty then, all that it
        // says has been taken.
        let state = ring.state.load(Ordering::Acquire);
        let crossings = ring.crossings.load(Ordering::Acquire);
        let changes = shared.header().epoch.load(Ordering::Acquire);
        let epoch = ring.epoch.load(Ordering::Acquire);
        if !self.active && !matches!(state, state::LIVE | state::ENDED) {
            return Ok(Readiness::Unused);
        }
        if !self.active {
            (self.active, self.epoch, self.visit) = (true, 0, None);
        }
        if let Some(rank) = self.look()? {
            return Ok(Readiness::Ready { rank });
        }
        if state == state::ENDED {
            self.active = false;
            // Release: what was in it has been taken out.
            ring.state.store(state::FREE, Ordering::Release);
            return Ok(Readiness::Unused);
        }
        if crossings % 2 == 0 {
            return Ok(Readiness::Busy { rank: rank_of_quantum(epoch) });
        }
        if self.is_long_visit(crossings) {
            return Ok(Readiness::Away);
        }
        // Whatever it does when it comes back, it has seen all changes so far.
        Ok(Readiness::Busy { rank: rank_of_quantum(changes) })
    }

    /// Whether this visit of its thread to the system has been long.
    fn is_long_visit(&mut self, number: u32) -> bool {
        let known = self.visit.filter(|visit| visit.number == number);
        let visit =
            known.unwrap_or_else(|| Visit { number, since: Instant::now(), is_long: false });
        let is_long = visit.is_long || visit.since.elapsed() >= WAITS;
        self.visit = Some(Visit { is_long, ..visit });
        is_long
    }

    /// Looks for what comes first, and remembers its rank.
    fn look(&mut self) -> Result<Option<u64>, Malformed> {
        loop {
            if self.reader.is_empty() && !self.reader.look() {
                return Ok(None);
            }
            let Some((record, length)) = self.reader.front()? else { return Ok(None) };
            match record {
                Record::Epoch(epoch) => {
                    self.epoch = epoch;
                    self.reader.skip(length);
                    self.give_back();
                    continue;
                }
                Record::Mapped(number, _)
                | Record::Unmapped(number, _)
                | Record::Discarded(number, _)
                | Record::Moved(number, _)
                | Record::Allocated(number, _)
                | Record::Freed(number, _) => self.rank = Some(rank_of_change(number)),
                _ => self.rank = Some(rank_of_quantum(self.epoch)),
            }
            return Ok(self.rank);
        }
    }

    /// Takes out the next record, if it is a burst.
    #[inline]
    pub(crate) fn take_burst(&mut self) -> Option<Burst> {
        self.reader.take_burst()
    }

    /// Takes out the next record, if there is one.
    pub(crate) fn take(&mut self) -> Result<Option<Record>, Malformed> {
        let Some((record, length)) = self.reader.front()? else { return Ok(None) };
        self.reader.skip(length);
        if let Record::Epoch(epoch) = record {
            self.epoch = epoch;
        }
        Ok(Some(record))
    }

    /// Its turn is over. Its thread may use the room of what was taken out.
    pub(crate) fn end_turn(&mut self) {
        self.rank = None;
        self.give_back();
    }

    fn give_back(&self) {
        self.reader.give_back();
        // With the writer's fence: either it sees the room, or this sees that it waits.
        fence(Ordering::SeqCst);
        // Not for a little room, or both would do nothing else than wake each other.
        if self.writer_waits() && self.reader.is_half_empty() {
            self.wake_writer();
        }
    }

    /// Whether its thread waits for room.
    pub(crate) fn writer_waits(&self) -> bool {
        self.reader.ring().writer_waits.load(Ordering::SeqCst) != 0
    }

    /// Wakes its thread, if it waits for room.
    pub(crate) fn wake_writer(&self) {
        let ring = self.reader.ring();
        ring.writer_waits.store(0, Ordering::SeqCst);
        ring.room().fetch_add(1, Ordering::SeqCst);
        // SAFETY: only the word's address is used.
        unsafe {
            libc::syscall(libc::SYS_futex, ring.room().as_ptr(), libc::FUTEX_WAKE, i32::MAX);
        }
    }
}
