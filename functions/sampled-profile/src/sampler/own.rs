//! Kilocore's own sampler, which uses the kernel's events and not perf.
//!
//! There is one event for each core. It watches everything that runs there. If that is not allowed,
//! it follows the process that is about to execute the program, and everything that this process
//! starts. A timer of the core takes a sample each time the timer has run for one period. For each
//! core, the kernel writes a buffer of samples and of records of what processes map, start and are
//! named. A thread collects those of the program into the file. Readers of the file find the names
//! of functions.

mod attribute;
mod collect;
mod family;
mod features;
mod file;
mod gathered;
mod kernel;
mod open;
mod symbols;

use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::thread::{self, JoinHandle};

use kilocore_linux::perf_events::Ring;
use kilocore_process::CpuId;

use crate::sampler::{CallGraph, Options, SampleError, Scope};
pub(crate) use attribute::USER_REGISTERS;
use collect::Collector;
use family::Family;
pub(crate) use gathered::Gathered;
pub(crate) use kernel::{Host, Kernel};
use open::Wanted;
pub(crate) use open::{Opened, why_excluded};

/// How much the buffers hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffers {
    /// How many pages a core's buffer has, a power of two.
    pub(crate) pages: usize,
    /// So many bytes in one wake the collector up.
    pub(crate) watermark: u32,
}

impl Buffers {
    /// Half a megabyte, which users may lock without being root, read from a quarter on: at a
    /// thousand samples a second, some seconds' worth. Copies of stacks need more.
    pub(crate) fn of(call_graph: CallGraph) -> Self {
        let page = kilocore_linux::perf_events::page_size();
        let bytes = if call_graph == CallGraph::Dwarf { 1 << 22 } else { 1 << 19 };
        let size = bytes / page.max(4096);
        Self { pages: size.max(4), watermark: (size * page / 4) as u32 }
    }
}

/// A sampler at work.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: PipeWriter,
    collector: Option<JoinHandle<Result<Gathered, SampleError>>>,
}

/// Opens the events for a process that is about to execute a program.
pub(crate) fn open(
    host: &impl Kernel,
    pid: libc::pid_t,
    options: &Options<'_>,
    buffers: Buffers,
) -> Result<Opened, SampleError> {
    let wanted = Wanted {
        scope: options.scope,
        event: options.event,
        frequency: options.frequency,
        call_graph: options.call_graph,
        watermark: buffers.watermark,
    };
    open::open(host, pid, wanted)
}

impl Sampler {
    /// Begins to collect what the events of a process record, which is about to execute
    /// `command`; will write to `out`.
    pub(crate) fn begin(
        mut opened: Opened,
        pid: libc::pid_t,
        command: &[Vec<u8>],
        options: &Options<'_>,
        buffers: Buffers,
        out: File,
        spare: Vec<CpuId>,
    ) -> Result<Self, SampleError> {
        let events = std::mem::take(&mut opened.events);
        let rings = rings(events, buffers.pages, &mut opened.warnings)?;
        let whole = opened.scope == Scope::Cores;
        if whole {
            rings
                .iter()
                .try_for_each(|ring| ring.event().enable())
                .map_err(SampleError::Sampler)?;
        }
        let (stopped, stop) = io::pipe().map_err(SampleError::Sampler)?;
        let Opened { attribute, frequency, kernel, scope, counts_losses, warnings, .. } = opened;
        let collector = Collector::begin(collect::Setup {
            out,
            path: options.output.clone(),
            rings,
            attribute: attribute::bytes(&attribute),
            event: options.event.name(),
            command: command.to_vec(),
            counts_losses,
            family: whole.then(|| Family::of(pid)),
            gathered: Gathered { samples: 0, lost: 0, frequency, kernel, scope, warnings },
        })?;
        let collector = thread::Builder::new()
            .name("kilocore-sampler".to_owned())
            .spawn(move || {
                if !spare.is_empty() {
                    // Elsewhere it disturbs the program, and is not wrong.
                    let _ = kilocore_process::confine(&spare);
                }
                collector.run(&stopped)
            })
            .map_err(SampleError::Sampler)?;
        Ok(Self { stop, collector: Some(collector) })
    }

    /// Collects the rest, once the program has ended.
    pub(crate) fn finish(mut self) -> Result<Gathered, SampleError> {
        self.tell_to_stop();
        match self.collector.take().map(JoinHandle::join) {
            Some(Ok(gathered)) => gathered,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("only the end of the sampler takes it"),
        }
    }

    fn tell_to_stop(&mut self) {
        // An empty pipe takes a byte.
        let _ = self.stop.write_all(&[1]);
    }
}

impl Drop for Sampler {
    /// Ends the thread of a program that was not started after all.
    fn drop(&mut self) {
        self.tell_to_stop();
        // What it had gathered, and why it failed, is nobody's concern.
        let _ = self.collector.take().map(JoinHandle::join);
    }
}

/// The event of each core.
type Events = Vec<(CpuId, kilocore_linux::perf_events::Event)>;

/// Buffers for all events, of the same size: as large as the system lets us lock.
fn rings(
    events: Events,
    wanted: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<Ring>, SampleError> {
    let (mut pages, mut rest) = (wanted, events);
    loop {
        match all_rings(rest, pages) {
            Ok(rings) => {
                if pages < wanted {
                    warnings.push(format!(
                        "buffers are {} KiB instead of {}, more cannot be locked, and samples may \
                         be lost; raise `ulimit -l` or the sysctl kernel.perf_event_mlock_kb",
                        pages * kilocore_linux::perf_events::page_size() / 1024,
                        wanted * kilocore_linux::perf_events::page_size() / 1024,
                    ));
                }
                return Ok(rings);
            }
            Err((core, source, _)) if pages == 1 => {
                return Err(SampleError::Buffer { core: core.0, source });
            }
            Err((_, _, events)) => rest = events,
        }
        pages /= 2;
    }
}

/// Buffers of this size for all events, or all events back.
fn all_rings(events: Events, pages: usize) -> Result<Vec<Ring>, (CpuId, io::Error, Events)> {
    let cores: Vec<CpuId> = events.iter().map(|(core, _)| *core).collect();
    let mut rings = Vec::with_capacity(events.len());
    let mut events = events.into_iter();
    while let Some((core, event)) = events.next() {
        match Ring::new(event, pages) {
            Ok(ring) => rings.push(ring),
            Err((event, error)) => {
                let before = cores.iter().copied().zip(rings.into_iter().map(Ring::into_event));
                let all = before.chain([(core, event)]).chain(events).collect();
                return Err((core, error, all));
            }
        }
    }
    Ok(rings)
}

/// A file with these records, for the tests of what reads it.
#[cfg(test)]
pub(crate) fn example(records: &[u8]) -> Vec<u8> {
    let allowed = attribute::Allowed { cores: false, kernel: true, lost: true };
    let options = Options::new("");
    let (event, frequency) = (options.event, options.frequency);
    let attribute = attribute::attribute(event, frequency, options.call_graph, 1, allowed);
    let mut bytes = Vec::new();
    let out = io::Cursor::new(&mut bytes);
    let mut file = file::PerfFile::begin(out, &attribute::bytes(&attribute), &[7]).unwrap();
    file.append(records).unwrap();
    file.finish(&[(file::Feature::Arch, vec![0; 8])]).unwrap();
    bytes
}

#[cfg(test)]
mod tests;
