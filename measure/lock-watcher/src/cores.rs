//! What happens on the cores: which thread leaves or gets one, and which runs when a timer ticks.
//!
//! There are three events for each core. The first tells of each switch, with the registers that
//! the leaving thread has in user space: in a system call, these are the call's arguments. The
//! second does the same and copies the thread's stack, which costs more. The third is a timer. All
//! write into the buffer of the first. They are only enabled in windows.

use std::collections::BTreeMap;
use std::io;

use kilocore_perf_events::{Event, Ring, online_cores, page_size, paranoid};

use crate::allowance::locked_bytes;
use crate::error::WatchError;
use crate::events::{Kind, switches, ticks};

/// How much of a stack is copied, in bytes.
const STACK: u32 = 8192;
/// The buffer of a core, in bytes: some thousand switches of a window, or two hundred stacks. It is
/// smaller where this user may not lock as much memory, and has no room for stacks below a quarter.
const BUFFER: usize = 1 << 21;
const BUFFER_FOR_STACKS: usize = BUFFER / 4;

/// The events of one core.
#[derive(Debug)]
struct Core {
    /// That of switches writes here.
    ring: Ring,
    with_stack: Event,
    tick: Event,
}

/// The events of all cores.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: Vec<Core>,
    kinds: BTreeMap<u64, Kind>,
}

impl Cores {
    /// Opens the events, none of them enabled.
    pub(crate) fn open() -> Result<Self, WatchError> {
        let (mut cores, mut kinds) = (Vec::new(), BTreeMap::new());
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
            for (event, kind) in [
                (core.ring.event(), Kind::Switch),
                (&core.with_stack, Kind::Switch),
                (&core.tick, Kind::Tick),
            ] {
                kinds.insert(event.id().map_err(WatchError::Buffer)?, kind);
            }
            cores.push(core);
        }
        Ok(Self { cores, kinds })
    }

    /// What the event of an id is.
    pub(crate) fn kind(&self, id: u64) -> Option<Kind> {
        self.kinds.get(&id).copied()
    }

    /// Begins a window, with copies of stacks or without.
    pub(crate) fn begin(&self, stacks: bool) -> io::Result<()> {
        self.cores.iter().try_for_each(|core| {
            let room = core.ring.pages() * page_size() >= BUFFER_FOR_STACKS;
            let switches = if stacks && room { &core.with_stack } else { core.ring.event() };
            switches.enable()?;
            core.tick.enable()
        })
    }

    /// Ends the window.
    pub(crate) fn end(&self) -> io::Result<()> {
        self.cores.iter().try_for_each(|core| {
            core.tick.disable()?;
            core.with_stack.disable()?;
            core.ring.event().disable()
        })
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
    fn open(core: i32, pages: usize) -> Result<Self, Refused> {
        let open = |mut attribute| Event::open(&mut attribute, -1, core).map_err(Refused::Open);
        let event = open(switches(0))?;
        let with_stack = open(switches(STACK))?;
        let tick = open(ticks())?;
        let ring = Ring::at_most(event, pages).map_err(|(_, error)| Refused::Buffer(error))?;
        for other in [&with_stack, &tick] {
            other.write_to(ring.event()).map_err(Refused::Buffer)?;
        }
        Ok(Self { ring, with_stack, tick })
    }
}

/// How many cores there are to use.
pub(crate) fn usable_cores() -> f64 {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64
}
