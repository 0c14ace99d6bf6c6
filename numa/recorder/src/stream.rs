//! The live stream: what the program's rings hold, merged.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt;

use kilocore_references::record::Record;
use kilocore_references::{About, Ending, Event, EventKind, Merge, Readiness};

use crate::StreamError;
use crate::lane::Lane;
use crate::lock_tally::LockTally;
use crate::memory::Memory;

/// How long the reader sleeps when nothing has come. Rings have room for much more.
const NAP: Duration = Duration::from_millis(1);
/// How long a thread that runs and brings nothing may hold up others whose rings are full, or ten times as
/// long if none is. Such a thread waits for them inside QEMU, or for a core.
const PATIENCE: Duration = Duration::from_millis(20);

/// Whether the program has ended, and how.
#[derive(Debug, Default)]
pub(crate) struct Over {
    over: AtomicBool,
    status: Mutex<Option<ExitStatus>>,
}

impl Over {
    /// The program has ended, or could not be started. Wakes the stream's reader.
    pub(crate) fn set(&self, status: Option<ExitStatus>, memory: &Memory) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        self.over.store(true, Ordering::Release);
        let doorbell = &memory.shared().header().doorbell;
        doorbell.fetch_add(1, Ordering::SeqCst);
        // SAFETY: only the word's address is used.
        unsafe { libc::syscall(libc::SYS_futex, doorbell.as_ptr(), libc::FUTEX_WAKE, 1) };
    }
}

/// What a program does, while it runs: an iterator of its events, in the order of
/// [`Merge`](kilocore_references::Merge).
///
/// It waits for events, and the program waits for whoever takes them. It ends when the program has ended.
/// After an error it ends, too. When it is dropped, the program goes on and is recorded no more.
#[derive(Debug)]
pub struct Stream<'a> {
    memory: &'a Memory,
    over: &'a Over,
    about: &'a About,
    lanes: Vec<Lane<'a>>,
    readiness: Vec<Readiness>,
    merge: Merge,
    turn: Option<usize>,
    /// Since when something has come and cannot be taken.
    held_up: Option<Instant>,
    /// The lane whose thread asked for another program, and did nothing since.
    replaced_by: Option<(usize, Box<str>)>,
    /// What was told of the program's locks.
    pub(crate) traced_locks: LockTally,
    ended: bool,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(memory: &'a Memory, over: &'a Over, about: &'a About) -> Self {
        Self {
            memory,
            over,
            about,
            lanes: Vec::new(),
            readiness: Vec::new(),
            merge: Merge::default(),
            turn: None,
            held_up: None,
            replaced_by: None,
            traced_locks: LockTally::default(),
            ended: false,
        }
    }

    /// Where the stream comes from.
    #[must_use]
    pub fn about(&self) -> &'a About {
        self.about
    }

    /// How many threads were not recorded so far, because there was no ring for them.
    #[must_use]
    pub fn threads_unrecorded(&self) -> u64 {
        self.memory.shared().header().threads_unrecorded.load(Ordering::Relaxed)
    }

    /// How the program ended. It is [`Ending::Stopped`] as long as the stream has not ended.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let status = *self.over.status.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(status) = status.filter(|_| self.ended) else { return Ending::Stopped };
        if self.replaced_by.is_some() {
            return Ending::Replaced;
        }
        match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, Some(signal)) => Ending::Killed(signal),
            (None, None) => Ending::Stopped,
        }
    }

    /// The program that is executed instead of the one that was recorded, if the stream has ended so. It
    /// is the path that the program gave, and empty if that is not known.
    #[must_use]
    pub fn replaced_by(&self) -> Option<&str> {
        self.replaced_by.as_ref().filter(|_| self.ended).map(|(_, path)| &**path)
    }

    /// The next event, where it may be another one than a burst.
    #[inline(never)]
    fn next_other(&mut self) -> Option<Result<Event, StreamError>> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }

    fn advance(&mut self) -> Result<Option<Event>, StreamError> {
        loop {
            if let Some(turn) = self.turn {
                if let Some(event) = self.take(turn)? {
                    return Ok(Some(event));
                }
            } else if !self.find_turn()? {
                return Ok(None);
            }
        }
    }

    /// Takes something out of the lane whose turn it is. Its turn may end with that.
    fn take(&mut self, turn: usize) -> Result<Option<Event>, StreamError> {
        let lane = &mut self.lanes[turn];
        let Some(record) = lane.take()? else {
            lane.end_turn();
            self.turn = None;
            return Ok(None);
        };
        Ok(self.take_other(turn, record))
    }

    fn take_other(&mut self, turn: usize, record: Record) -> Option<Event> {
        let lane = &mut self.lanes[turn];
        if self.replaced_by.as_ref().is_some_and(|(lane, _)| *lane == turn) {
            self.replaced_by = None;
        }
        let mut at = self.merge.clock(turn);
        let kind = match record {
            Record::Burst(burst) => Some(EventKind::Burst(burst)),
            Record::Quantum(instructions) => {
                self.merge.advance(turn, instructions);
                Some(EventKind::Quantum { instructions })
            }
            Record::Started(thread) => {
                lane.thread = thread;
                self.merge.begin(turn);
                at = self.merge.clock(turn);
                Some(EventKind::Started)
            }
            Record::Replaced(path) => {
                self.replaced_by = Some((turn, path));
                Some(EventKind::Replaced)
            }
            Record::Mapped(_, mapping) => Some(EventKind::Mapped(mapping)),
            Record::Unmapped(_, region) => Some(EventKind::Unmapped(region)),
            Record::Discarded(_, region) => Some(EventKind::Discarded(region)),
            Record::Moved(_, it) => Some(EventKind::Moved(it)),
            Record::Allocated(_, block) => Some(EventKind::Allocated(block)),
            Record::Freed(_, address) => Some(EventKind::Freed(address)),
            Record::Forked => Some(EventKind::Forked),
            Record::Ended => Some(EventKind::Ended),
            Record::Lock(lock) => {
                self.traced_locks.add(*lock);
                None
            }
            Record::LocksEnd(updates_not_followed) => {
                self.traced_locks.end(updates_not_followed);
                None
            }
            Record::Epoch(_) | Record::Other => None,
        };
        lane.end_turn();
        self.turn = None;
        kind.map(|kind| Event { at, thread: lane.thread, kind })
    }

    /// Finds out whose turn it is, and waits if need be. Returns whether it is anybody's.
    fn find_turn(&mut self) -> Result<bool, StreamError> {
        let shared = self.memory.shared();
        loop {
            // Before the lanes: what the program did before its end is seen then.
            let over = self.over.over.load(Ordering::Acquire);
            let doorbell = shared.header().doorbell.load(Ordering::SeqCst);
            let used = shared.header().rings_used.load(Ordering::Acquire) as usize;
            for index in self.lanes.len()..used.min(shared.rings().len()) {
                self.lanes.push(Lane::new(shared.ring(index)));
            }
            self.readiness.clear();
            for lane in &mut self.lanes {
                self.readiness.push(lane.readiness(shared)?);
            }
            self.turn = self.merge.pick(&self.readiness, true);
            if self.turn.is_some() {
                self.held_up = None;
                return Ok(true);
            }
            if over || self.is_held_up() {
                self.turn = self.merge.pick(&self.readiness, false);
                if self.turn.is_some() {
                    return Ok(true);
                }
            }
            if over {
                return Ok(false);
            }
            self.nap(doorbell);
        }
    }

    /// Whether something has come that has waited too long for what goes before it. From then on nothing is
    /// waited for, until all has come that goes before something.
    fn is_held_up(&mut self) -> bool {
        if !self.readiness.iter().any(|it| matches!(it, Readiness::Ready { .. })) {
            self.held_up = None;
            return false;
        }
        let full = self.lanes.iter().any(Lane::writer_waits);
        let since = *self.held_up.get_or_insert_with(Instant::now);
        since.elapsed() >= if full { PATIENCE } else { PATIENCE * 10 }
    }

    /// Sleeps a little, unless somebody has rung since.
    fn nap(&self, doorbell: u32) {
        let header = self.memory.shared().header();
        header.reader_sleeps.store(1, Ordering::SeqCst);
        let time = libc::timespec { tv_sec: 0, tv_nsec: NAP.subsec_nanos().into() };
        let word = header.doorbell.as_ptr();
        // SAFETY: a word and a time that live meanwhile. Why it wakes does not matter.
        unsafe {
            libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, doorbell, &raw const time);
        }
        header.reader_sleeps.store(0, Ordering::SeqCst);
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Event, StreamError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Bursts are nearly all that there is. They are made right where the caller wants them: copied
        // from place to place they took twice as long.
        if let Some(turn) = self.turn {
            let lane = &mut self.lanes[turn];
            if let Some(burst) = lane.take_burst() {
                let at = self.merge.clock(turn);
                return Some(Ok(Event { at, thread: lane.thread, kind: EventKind::Burst(burst) }));
            }
        }
        self.next_other()
    }
}

impl Drop for Stream<'_> {
    /// Nobody waits for room any more.
    fn drop(&mut self) {
        let shared = self.memory.shared();
        shared.header().closed.store(1, Ordering::SeqCst);
        for index in 0..shared.rings().len() {
            Lane::new(shared.ring(index)).wake_writer();
        }
    }
}
