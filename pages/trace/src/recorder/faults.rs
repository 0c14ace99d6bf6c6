//! Counts the program's page faults.
//!
//! The kernel counts them for each process and for all that it starts, by another way than that of
//! the records. So the counts are a check of the trace: nearly every new page of a program's memory
//! comes by a fault.

use std::io;

use crate::PageFaults;
use kilocore_linux::perf_events::Event;
use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_TYPE_SOFTWARE,
    perf_event_attr,
};

/// Counters of a program's page faults.
#[derive(Debug)]
pub(crate) struct Faults {
    minor: Event,
    major: Event,
}

impl Faults {
    /// Counters of a process that is about to execute a program. They do not begin yet.
    pub(crate) fn of(pid: libc::pid_t) -> io::Result<Self> {
        let counter = |config: u32| {
            let mut attribute = perf_event_attr {
                type_: PERF_TYPE_SOFTWARE,
                size: size_of::<perf_event_attr>() as u32,
                config: config.into(),
                ..perf_event_attr::default()
            };
            attribute.set_disabled(1);
            attribute.set_inherit(1);
            Event::open(&mut attribute, pid, -1)
        };
        Ok(Self {
            minor: counter(PERF_COUNT_SW_PAGE_FAULTS_MIN)?,
            major: counter(PERF_COUNT_SW_PAGE_FAULTS_MAJ)?,
        })
    }

    pub(crate) fn begin(&self) -> io::Result<()> {
        self.minor.enable().and_then(|()| self.major.enable())
    }

    /// Ends the counting, and says what was counted.
    pub(crate) fn end(&self) -> io::Result<PageFaults> {
        self.minor.disable()?;
        self.major.disable()?;
        Ok(PageFaults { minor: self.minor.count()?, major: self.major.count()? })
    }
}
