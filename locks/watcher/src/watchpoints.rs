//! Hardware watchpoints: every write to a few words, by any of a few threads, while a window lasts.
//!
//! The processor has room for four. Each thread has events of its own for each word, all of which
//! write into one buffer. They are closed when the window ends; the kernel closes them if this
//! process is killed.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use kilocore_linux::perf_events::{Event, Ring, page_size};
use perf_event_open_sys::bindings::PERF_TYPE_BREAKPOINT;

use crate::allowance::{free_descriptors, locked_bytes};
use crate::ids::Tid;
use crate::samples::attribute;

/// How many words can be watched at a time.
pub(crate) const MOST: usize = 4;
/// How many threads are watched at a time. If there are more, each stands for several.
pub(crate) const MOST_THREADS: usize = 256;
/// The kernel's `HW_BREAKPOINT_W`: on writes.
const ON_WRITES: u32 = 2;
/// The kernel's `HW_BREAKPOINT_X`: on execution.
const ON_EXECUTION: u32 = 4;
/// The kernel's `HW_BREAKPOINT_LEN_4`: four bytes.
const BYTES: u64 = 4;
/// What all the buffers take together if this user may lock as much, and the most that one takes, in bytes.
const BUFFERS: usize = 16 << 20;
const BUFFER: usize = 1 << 18;

/// What a watchpoint is set on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spot {
    /// Writes to these four bytes.
    Word(Range<u64>),
    /// Calls of the function that begins here.
    Function(u64),
}

/// Why a word cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Somebody else has the processor's watchpoints, such as a debugger.
    Taken,
    /// The kernel or the processor has none.
    None,
    /// This user may not watch the thread.
    NotAllowed,
    /// No buffer can be had.
    Buffer,
    /// All threads have ended.
    Gone,
}

/// The watchpoints of a window.
#[derive(Debug)]
pub(crate) struct Watchpoints {
    rings: Vec<Ring>,
    events: Vec<Event>,
    /// Which word an event watches.
    words: BTreeMap<u64, usize>,
    /// How many are watched.
    pub(crate) spots: usize,
    /// The threads that are watched.
    pub(crate) threads: Vec<Tid>,
}

impl Watchpoints {
    /// Lets threads be watched that write to one of the `words`, at most [`MOST`] of them. Threads
    /// that have ended are left out, and those at the end of the list if there are more than this
    /// process may have descriptors for. With each write, so many bytes of the stack are copied.
    pub(crate) fn open(words: &[Spot], threads: &[Tid], stack: u32) -> Result<Self, Refused> {
        let most = (free_descriptors() / words.len().max(1)).max(1);
        let threads = &threads[..threads.len().min(most)];
        // Where that is little, the switches of threads have the other half.
        let buffers = BUFFERS.min(locked_bytes() / 2);
        let share = (buffers / threads.len().max(1) / page_size()).saturating_sub(1);
        // A power of two, as the kernel wants it.
        let pages = 1 << share.clamp(1, BUFFER / page_size()).ilog2();
        let mut watchpoints = Self {
            rings: Vec::new(),
            events: Vec::new(),
            words: BTreeMap::new(),
            spots: words.len().min(MOST),
            threads: Vec::new(),
        };
        for thread in threads {
            match watchpoints.add(words, *thread, pages, stack) {
                Ok(()) => watchpoints.threads.push(*thread),
                Err(Refused::Gone) => {}
                Err(refused) => return Err(refused),
            }
        }
        if watchpoints.threads.is_empty() { Err(Refused::Gone) } else { Ok(watchpoints) }
    }

    fn add(
        &mut self,
        words: &[Spot],
        thread: Tid,
        pages: usize,
        stack: u32,
    ) -> Result<(), Refused> {
        let mut ring: Option<Ring> = None;
        for (index, word) in words.iter().take(MOST).enumerate() {
            let event = open(word, thread, stack).map_err(|error| refused(&error))?;
            let id = event.id().map_err(|_| Refused::Gone)?;
            self.words.insert(id, index);
            match &ring {
                None => ring = Some(Ring::at_most(event, pages).map_err(|_| Refused::Buffer)?),
                Some(ring) => {
                    event.write_to(ring.event()).map_err(|_| Refused::Buffer)?;
                    self.events.push(event);
                }
            }
        }
        self.rings.extend(ring);
        Ok(())
    }

    /// Which word the event of an id watches.
    pub(crate) fn word(&self, id: u64) -> Option<usize> {
        self.words.get(&id).copied()
    }

    /// Ends all watching. What was recorded stays.
    pub(crate) fn stop(&self) {
        // One whose thread has ended is over, too.
        for event in self.rings.iter().map(Ring::event).chain(&self.events) {
            let _ = event.disable();
        }
    }

    /// Appends what was recorded.
    pub(crate) fn drain(&mut self, records: &mut Vec<u8>) {
        self.rings.iter_mut().for_each(|ring| ring.drain(records));
    }
}

/// Opens the event by which a thread is watched. It begins at once.
pub(crate) fn open(spot: &Spot, thread: Tid, stack: u32) -> io::Result<Event> {
    let (kind, address, length) = match spot {
        Spot::Word(bytes) => (ON_WRITES, bytes.start, BYTES),
        Spot::Function(address) => (ON_EXECUTION, *address, size_of::<libc::c_long>() as u64),
    };
    let mut attribute = attribute(PERF_TYPE_BREAKPOINT, 0, stack);
    attribute.bp_type = kind;
    attribute.__bindgen_anon_3.bp_addr = address;
    attribute.__bindgen_anon_4.bp_len = length;
    attribute.set_exclude_kernel(1);
    attribute.set_disabled(0);
    Event::open(&mut attribute, thread.0 as libc::pid_t, -1)
}

fn refused(error: &io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::ESRCH) => Refused::Gone,
        Some(libc::ENOSPC | libc::EBUSY) => Refused::Taken,
        Some(libc::EACCES | libc::EPERM) => Refused::NotAllowed,
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Refused::Buffer,
        _ => Refused::None,
    }
}
