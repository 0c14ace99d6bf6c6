//! A thread of the program: what it counts, and the ring that it writes into.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::thread::sleep;
use std::time::Duration;

use kilocore_qemu_plugin::frames::Frames;
use kilocore_references::layout::{Shared, state};
use kilocore_references::record::{self, Record};
use kilocore_references::ring::Writer;
use kilocore_references::{Burst, ThreadId};

use crate::calls::Calls;
use crate::counts::Counts;
use crate::hold::Holds;
use crate::table::Table;
use crate::{address_space, area, futex, words};

/// How long a thread that waits for room sleeps before it looks whether the reader is still there.
const LOOK: Duration = Duration::from_millis(100);
/// How long a new thread waits for the ring of one that has ended.
const PATIENCE: u32 = 1_000;

/// What the plugin keeps of a thread of the program.
pub(crate) struct Thread {
    table: Table,
    /// The instructions that are left of the quantum. It may end below zero.
    left: i64,
    quantum: i64,
    epoch: u64,
    ring: Writer<'static>,
    shared: &'static Shared<'static>,
    /// Whether it is the program's first thread, and has not used any memory.
    is_first: bool,
    pub(crate) number: u32,
    /// Its innermost calls, if locks are traced.
    pub(crate) calls: Calls,
    /// The same with their places on the stack, if sites are recorded.
    pub(crate) frames: Frames,
    /// The locks that it holds, if locks are traced.
    pub(crate) holds: Holds,
    /// What the call was given that the thread is in.
    pub(crate) arguments: [u64; 6],
}

impl Thread {
    /// Takes a ring for the thread that calls this. If there is none, the thread is counted as not
    /// recorded.
    pub(crate) fn begin() -> Option<Self> {
        let shared = area::shared()?;
        let header = shared.header();
        let Some(index) = take_ring(shared) else {
            header.threads_unrecorded.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let number = ThreadId(header.threads.fetch_add(1, Ordering::Relaxed));
        let ring = Writer::new(shared.ring(index));
        let quantum = i64::from(header.quantum.load(Ordering::Relaxed)).max(1);
        // Even: the thread is not in the system.
        let crossings = ring.ring().crossings.load(Ordering::Relaxed);
        ring.ring().crossings.store(crossings.wrapping_add(crossings & 1), Ordering::Relaxed);
        ring.ring().thread.store(number.0, Ordering::Relaxed);
        let mut thread = Self {
            table: Table::new(),
            left: quantum,
            quantum,
            epoch: 0,
            ring,
            shared,
            is_first: number.0 == 0,
            number: number.0,
            calls: Calls::default(),
            frames: Frames::default(),
            holds: Holds::default(),
            arguments: [0; 6],
        };
        thread.write(&Record::Started(number));
        thread.begin_quantum();
        thread.publish();
        header.rings_used.fetch_max(index as u32 + 1, Ordering::Relaxed);
        thread.ring.ring().state.store(state::LIVE, Ordering::Release);
        Some(thread)
    }

    /// Executes so many instructions, which ends the quantum if nothing of it is left.
    #[inline(always)]
    pub(crate) fn advance(&mut self, instructions: i64) {
        if self.left <= 0 {
            self.end_quantum();
        }
        self.left -= instructions;
    }

    /// Counts an access to a page.
    #[inline(always)]
    pub(crate) fn count(&mut self, page: u64, counts: Counts) {
        if !self.table.count(page, counts) {
            self.bring(page, counts);
        }
    }

    /// Counts an access to a page that was not in the table.
    #[cold]
    #[inline(never)]
    fn bring(&mut self, page: u64, counts: Counts) {
        if self.is_first {
            self.is_first = false;
            // A program's first access is to its stack.
            address_space::at_first(page).for_each(|record| self.change(record));
        }
        // A page that was not used before may just have been mapped by another thread.
        if self.shared.header().epoch.load(Ordering::Acquire) != self.epoch {
            self.end_quantum();
        }
        if let Some(before) = self.table.bring(page) {
            self.write_burst(before);
        }
        self.table.count(page, counts);
    }

    /// Writes what was counted, and begins anew.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_quantum(&mut self) {
        while let Some(burst) = self.table.take() {
            self.write_burst(burst);
        }
        let executed = self.quantum - self.left;
        if executed > 0 {
            self.write(&Record::Quantum(executed.min(u32::MAX.into()) as u32));
        }
        self.publish();
        self.begin_quantum();
    }

    fn begin_quantum(&mut self) {
        self.left = self.quantum;
        let epoch = self.shared.header().epoch.load(Ordering::Acquire);
        if epoch != self.epoch {
            self.epoch = epoch;
            self.write(&Record::Epoch(epoch));
            // Release: what was published before belongs to earlier epochs.
            self.ring.ring().epoch.store(epoch, Ordering::Release);
        }
    }

    /// Tells of a change of the address space that happens now.
    pub(crate) fn change(&mut self, record: Record) {
        let number = self.shared.header().epoch.fetch_add(1, Ordering::AcqRel) + 1;
        self.write(&record.numbered(number));
        self.publish();
        self.begin_quantum();
    }

    /// The thread goes into the system, where it may wait.
    pub(crate) fn enter_system(&mut self, arguments: [u64; 6]) {
        self.end_quantum();
        self.holds.fence();
        self.arguments = arguments;
        let crossings = &self.ring.ring().crossings;
        crossings.store(crossings.load(Ordering::Relaxed) | 1, Ordering::Release);
    }

    /// The thread comes back.
    pub(crate) fn leave_system(&mut self) {
        let crossings = &self.ring.ring().crossings;
        let number = crossings.load(Ordering::Relaxed);
        crossings.store((number | 1).wrapping_add(1), Ordering::Release);
        self.begin_quantum();
    }

    /// The thread ends, and its ring is free when it has been read.
    pub(crate) fn end(&mut self) {
        words::abandon(self.number, &mut self.holds);
        self.end_quantum();
        self.write(&Record::Ended);
        self.publish();
        self.ring.ring().state.store(state::ENDED, Ordering::Release);
    }

    /// The program ends, and the thread with it.
    pub(crate) fn finish(&mut self) {
        self.end_quantum();
    }

    /// Tells what was seen of the program's locks so far.
    pub(crate) fn tell_locks(&mut self) {
        let (locks, not_followed) = words::summaries();
        for lock in locks {
            self.write(&Record::Lock(Box::new(lock)));
        }
        self.write(&Record::LocksEnd(not_followed));
        self.publish();
    }

    #[inline]
    fn write_burst(&mut self, burst: Burst) {
        if self.make_room(1) {
            self.ring.push(record::burst(burst));
        }
    }

    /// Writes a record. It is not lost on the reader, unless the reader is gone.
    pub(crate) fn write(&mut self, record: &Record) {
        let mut slots = 0;
        record.encode(|_| slots += 1);
        if self.make_room(slots) {
            record.encode(|slot| self.ring.push(slot));
        }
    }

    /// Shows the reader what was written, and wakes it if it had better come.
    pub(crate) fn publish(&mut self) {
        let full = self.ring.publish();
        if full >= self.shared.ring(0).1.len() / 2 && !self.ring.has_room(full) {
            self.wake_reader();
        }
    }

    fn wake_reader(&self) {
        let header = self.shared.header();
        if header.reader_sleeps.swap(0, Ordering::SeqCst) != 0 {
            header.doorbell.fetch_add(1, Ordering::SeqCst);
            futex::wake(&header.doorbell);
        }
    }

    /// Waits until there is room. Returns whether there is: not if nobody reads any more.
    #[inline]
    fn make_room(&mut self, slots: usize) -> bool {
        self.ring.has_room(slots) || self.wait_for_room(slots)
    }

    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self, slots: usize) -> bool {
        self.ring.publish();
        let ring = self.ring.ring();
        loop {
            let before = ring.room().load(Ordering::Acquire);
            ring.writer_waits.store(1, Ordering::SeqCst);
            // With the reader's fence: either it sees that somebody waits, or this sees the room.
            fence(Ordering::SeqCst);
            let has_room = self.ring.has_room(slots);
            if has_room || area::is_over() || !reader_lives(self.shared) {
                ring.writer_waits.store(0, Ordering::Relaxed);
                return has_room;
            }
            self.wake_reader();
            futex::wait(ring.room(), before, LOOK);
        }
    }
}

/// Whether somebody reads. If not, the recording is over.
fn reader_lives(shared: &Shared<'_>) -> bool {
    let header = shared.header();
    let lives = header.closed.load(Ordering::Relaxed) == 0
        && is_alive(header.reader.load(Ordering::Relaxed));
    if !lives {
        area::end();
    }
    lives
}

/// Whether there is such a process that has not ended. One that nobody waited for is there, and ended.
fn is_alive(process: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZXx".contains(state))
}

fn take_ring(shared: &Shared<'_>) -> Option<usize> {
    for _ in 0..PATIENCE {
        let mut some_ended = false;
        for (index, ring) in shared.rings().iter().enumerate() {
            some_ended |= ring.state.load(Ordering::Relaxed) == state::ENDED;
            if take(&ring.state) {
                return Some(index);
            }
        }
        if !some_ended || area::is_over() {
            return None;
        }
        sleep(Duration::from_millis(1));
    }
    None
}

fn take(word: &AtomicU32) -> bool {
    // Acquire: the reader has done with the ring. Release: it is seen to be taken before it is filled.
    word.compare_exchange(state::FREE, state::TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}
