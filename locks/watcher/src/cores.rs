//! What happens on the cores: which thread leaves or gets one, and which runs when a timer ticks.
//!
//! An event for each core tells of each switch, with the registers that the leaving thread has in
//! user space: in a system call, these are the call's arguments. In some windows it copies the
//! thread's stack as well, which costs more. Another event is a timer. They are opened for a window
//! and closed after it: one that is open slows every switch on its core, even if it is not enabled.
//! Their buffers stay, each with an event that does nothing. So do the events of places in the kernel:
//! to open one changes the kernel's code, for which all cores are interrupted.

use std::collections::BTreeMap;
use std::io;

use kilocore_linux::perf_events::{Event, Ring, online_cores, page_size, paranoid};
use perf_event_open_sys::bindings::perf_event_attr;

use crate::allowance::locked_bytes;
use crate::error::WatchError;
use crate::events::{EventKind, nothing, switches, ticks};
use crate::traces::Traces;

/// How much of a stack is copied, in bytes.
const STACK: u32 = 8192;
/// The buffer of a core, in bytes: some thousand switches of a window, or two hundred stacks. It is
/// smaller where this user may not lock as much memory, and has no room for stacks below a quarter.
const BUFFER: usize = 1 << 21;
const BUFFER_FOR_STACKS: usize = BUFFER / 4;

/// The events of one core.
#[derive(Debug)]
struct Core {
    number: i32,
    /// The buffer, of an event that records nothing.
    ring: Ring,
    /// The events of places in the kernel, which are on in windows only.
    traces: Vec<Event>,
    /// The events of this window.
    events: Vec<Event>,
}

/// The events of all cores.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: Vec<Core>,
    kinds: BTreeMap<u64, EventKind>,
    /// Whether all cores tell of places in the kernel, and which events do.
    traced: BTreeMap<u64, EventKind>,
}

impl Cores {
    /// Makes the buffers. What is refused now would be refused in every window.
    pub(crate) fn open() -> Result<Self, WatchError> {
        let mut cores = Vec::new();
        let numbers = online_cores().unwrap_or_default();
        // Watchpoints have the other half. Each buffer has a page besides.
        let share = locked_bytes() / 2 / numbers.len().max(1) / page_size();
        let pages = share.saturating_sub(1).clamp(1, BUFFER / page_size());
        for number in numbers {
            let core = match Core::open(number as i32, 1 << pages.ilog2()) {
                Ok(core) => core,
                // It was turned off a moment ago.
                Err(Refused::Open(error)) if error.raw_os_error() == Some(libc::ENODEV) => continue,
                Err(Refused::Open(source)) => {
                    return Err(WatchError::Events { paranoid: paranoid(), source });
                }
                Err(Refused::Buffer(error)) => return Err(WatchError::Buffer(error)),
            };
            cores.push(core);
        }
        let mut all = Self { cores, kinds: BTreeMap::new(), traced: BTreeMap::new() };
        if let Some(traces) = Traces::find() {
            // Some cores alone would tell half of the truth.
            if all.trace(&traces).is_err() {
                all.traced.clear();
                all.cores.iter_mut().for_each(|core| core.traces.clear());
            }
        }
        Ok(all)
    }

    fn trace(&mut self, traces: &Traces) -> io::Result<()> {
        for core in &mut self.cores {
            for (attribute, trace) in traces.attributes() {
                let event = core.event(attribute)?;
                event.write_to(core.ring.event())?;
                self.traced.insert(event.id()?, EventKind::Traced(trace));
                core.traces.push(event);
            }
        }
        Ok(())
    }

    /// Whether places in the kernel are traced.
    pub(crate) fn traces(&self) -> bool {
        !self.traced.is_empty()
    }

    /// What the event of an id is.
    pub(crate) fn kind(&self, id: u64) -> Option<EventKind> {
        self.kinds.get(&id).or_else(|| self.traced.get(&id)).copied()
    }

    /// Begins a window, with copies of stacks or without.
    pub(crate) fn begin(&mut self, stacks: bool) -> io::Result<()> {
        self.kinds.clear();
        for core in &mut self.cores {
            let room = core.ring.pages() * page_size() >= BUFFER_FOR_STACKS;
            let stack = if stacks && room { STACK } else { 0 };
            for (attribute, kind) in
                [(switches(stack), EventKind::Switch), (ticks(stack), EventKind::Tick)]
            {
                let event = core.event(attribute)?;
                event.write_to(core.ring.event())?;
                self.kinds.insert(event.id()?, kind);
                core.events.push(event);
            }
        }
        self.events().try_for_each(Event::enable)
    }

    /// Ends the window: nothing is recorded from now on. What was recorded stays in the buffers.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let ended = self.events().try_for_each(Event::disable);
        self.cores.iter_mut().for_each(|core| core.events.clear());
        ended
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.cores.iter().flat_map(|core| core.traces.iter().chain(&core.events))
    }

    /// Appends what is in the buffers.
    pub(crate) fn drain(&mut self, records: &mut Vec<u8>) {
        self.cores.iter_mut().for_each(|core| core.ring.drain(records));
    }
}

/// What of an event was refused.
enum Refused {
    Open(io::Error),
    Buffer(io::Error),
}

impl Core {
    fn open(number: i32, pages: usize) -> Result<Self, Refused> {
        let open = |mut attribute| Event::open(&mut attribute, -1, number).map_err(Refused::Open);
        for needed in [switches(STACK), ticks(STACK)] {
            open(needed)?;
        }
        let ring = Ring::at_most(open(nothing())?, pages);
        let ring = ring.map_err(|(_, error)| Refused::Buffer(error))?;
        Ok(Self { number, ring, traces: Vec::new(), events: Vec::new() })
    }

    fn event(&self, mut attribute: perf_event_attr) -> io::Result<Event> {
        Event::open(&mut attribute, -1, self.number)
    }
}

/// How many cores there are to use.
pub(crate) fn usable_cores() -> f64 {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64
}
