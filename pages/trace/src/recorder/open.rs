//! Opens the events and their buffers.
//!
//! Each core has three events that watch everything on it: one for the starts of threads, and one
//! for each of the two places. All three write into the first one's buffer, so that the records of a
//! core are in one order.

use std::io;

use kilocore_linux::perf_events::{
    Event, Ring, locked_kilobytes, online_cores, page_size, paranoid,
};
use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_DUMMY, PERF_FORMAT_ID, PERF_FORMAT_LOST, PERF_SAMPLE_CPU, PERF_SAMPLE_RAW,
    PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT, perf_event_attr,
};

use crate::recorder::RecordError;
use crate::recorder::places::Places;

/// All buffers together have so many bytes, of which none is less or more than these. A busy core
/// writes some fifty megabytes in a second.
const ALL: usize = 256 << 20;
const LEAST: usize = 1 << 20;
const MOST: usize = 32 << 20;

/// The events of a core.
#[derive(Debug)]
pub(crate) struct Core {
    /// The starts of threads. All others write here, too.
    pub(crate) ring: Ring,
    /// What happens to blocks.
    blocks: Vec<Event>,
}

/// The events of all cores.
#[derive(Debug)]
pub(crate) struct Cores {
    pub(crate) cores: Vec<Core>,
    /// Whether the kernel counts losses (Linux 6.0).
    counts_losses: bool,
    /// What is worth a warning.
    pub(crate) warnings: Vec<String>,
}

impl Cores {
    /// Opens the events. None of them begins.
    pub(crate) fn open(places: &Places) -> Result<Self, RecordError> {
        let numbers = online_cores().ok_or_else(|| {
            RecordError::Recorder(io::Error::other("the kernel does not say which cores are on"))
        })?;
        let size = (ALL / numbers.len()).clamp(LEAST, MOST);
        let pages = 1 << (size / page_size()).max(1).ilog2();
        let mut all = Self { cores: Vec::new(), counts_losses: true, warnings: Vec::new() };
        for &number in &numbers {
            all.open_core(number, numbers.len(), places, pages)?;
        }
        let least = all.cores.iter().map(|core| core.ring.pages()).min().unwrap_or(pages);
        if least < pages {
            all.warnings.push(format!(
                "buffers are {} KiB instead of {}, more cannot be locked, and records may be lost; \
                 raise `ulimit -l` or the sysctl kernel.perf_event_mlock_kb{}",
                least * page_size() / 1024,
                pages * page_size() / 1024,
                locked_kilobytes().map_or(String::new(), |now| format!(", which is {now}")),
            ));
        }
        Ok(all)
    }

    fn open_core(
        &mut self,
        number: u32,
        cores: usize,
        places: &Places,
        pages: usize,
    ) -> Result<(), RecordError> {
        let watermark = (pages * page_size() / 4) as u32;
        let starts = (PERF_TYPE_SOFTWARE, u64::from(PERF_COUNT_SW_DUMMY));
        let kinds = places.ids().map(|id| (PERF_TYPE_TRACEPOINT, id));
        let mut events = Vec::new();
        for (kind, config) in [starts].into_iter().chain(kinds) {
            match self.event(kind, config, watermark, number) {
                Ok(event) => events.push(event),
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
                    self.warnings.push(format!("core {number} is off and not watched"));
                    return Ok(());
                }
                Err(error) => return Err(refusal(error, cores)),
            }
        }
        let blocks = events.split_off(1);
        let Some(starts) = events.pop() else { return Ok(()) };
        let ring = Ring::at_most(starts, pages)
            .map_err(|(_, source)| RecordError::Buffer { core: number, source })?;
        for event in &blocks {
            event.write_to(ring.event()).map_err(RecordError::Recorder)?;
        }
        self.cores.push(Core { ring, blocks });
        Ok(())
    }

    /// Opens an event, without counts of losses if the kernel has none.
    fn event(&mut self, kind: u32, config: u64, watermark: u32, core: u32) -> io::Result<Event> {
        loop {
            let mut attribute = attribute(kind, config, watermark, self.counts_losses);
            match Event::open(&mut attribute, -1, core as libc::c_int) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && self.counts_losses => {
                    self.counts_losses = false;
                    self.warnings.push(
                        "this kernel does not count the records that it loses of the starts of \
                         threads; from Linux 6.0 on it would"
                            .to_owned(),
                    );
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                result => return result,
            }
        }
    }

    /// Lets the starts of threads be recorded.
    pub(crate) fn watch_starts(&self) -> io::Result<()> {
        self.cores.iter().try_for_each(|core| core.ring.event().enable())
    }

    /// Lets what happens to blocks be recorded.
    pub(crate) fn watch_blocks(&self) -> io::Result<()> {
        self.cores.iter().flat_map(|core| &core.blocks).try_for_each(Event::enable)
    }

    /// Lets nothing more be recorded.
    pub(crate) fn stop(&self) -> io::Result<()> {
        for core in &self.cores {
            core.blocks.iter().try_for_each(Event::disable)?;
            core.ring.event().disable()?;
        }
        Ok(())
    }

    /// How many records were lost, of so many that were delivered of what happens to blocks.
    ///
    /// An event counts how often it happened, whether it is recorded or not. So what is missing is
    /// known exactly, and on each kernel. Kernels also count what they could not record for want of
    /// room, but that is less: Linux 6.18 now and then leaves out a few records that its softirqs
    /// make, and does not say so. Of the starts of threads there is only that count.
    pub(crate) fn lost(&self, delivered: u64) -> io::Result<u64> {
        let blocks = self.cores.iter().flat_map(|core| &core.blocks);
        let happened: u64 = blocks.map(Event::count).sum::<io::Result<_>>()?;
        let starts = self.cores.iter().map(|core| core.ring.event());
        let starts = match self.counts_losses {
            true => starts.map(Event::lost).sum::<io::Result<u64>>()?,
            false => 0,
        };
        Ok(happened.saturating_sub(delivered) + starts)
    }
}

fn attribute(kind: u32, config: u64, watermark: u32, counts_losses: bool) -> perf_event_attr {
    let sample = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
    let is_start = kind == PERF_TYPE_SOFTWARE;
    let read_format = if is_start && counts_losses { PERF_FORMAT_ID | PERF_FORMAT_LOST } else { 0 };
    let mut attribute = perf_event_attr {
        type_: kind,
        size: size_of::<perf_event_attr>() as u32,
        config,
        sample_type: u64::from(sample),
        read_format: u64::from(read_format),
        ..perf_event_attr::default()
    };
    // Each time that it happens.
    attribute.__bindgen_anon_1.sample_period = 1;
    attribute.__bindgen_anon_2.wakeup_watermark = watermark;
    attribute.set_watermark(1);
    attribute.set_disabled(1);
    attribute.set_task(u64::from(is_start));
    attribute.set_sample_id_all(1);
    attribute.set_use_clockid(1);
    attribute.clockid = libc::CLOCK_MONOTONIC;
    attribute
}

fn refusal(source: io::Error, cores: usize) -> RecordError {
    match source.raw_os_error() {
        Some(libc::ENOSYS) => RecordError::NoPerfEvents { source },
        Some(libc::EACCES | libc::EPERM) => RecordError::Refused { paranoid: paranoid(), source },
        Some(libc::EMFILE | libc::ENFILE) => RecordError::Files { cores, source },
        _ => RecordError::Recorder(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_reason_and_its_mend() {
        let text = |code| refusal(io::Error::from_raw_os_error(code), 64).to_string();
        assert!(text(libc::ENOSYS).contains("CONFIG_PERF_EVENTS"));
        assert!(text(libc::EACCES).contains("run this as root"));
        assert!(
            text(libc::EMFILE).contains("64 cores") && text(libc::EMFILE).contains("ulimit -n")
        );
        assert!(text(libc::EINVAL).contains("the recorder cannot run"));
    }
}
