//! The hardware counters of this host.
//!
//! Each thread has a group of four events, which count at the same times, in no matter which process.
//! The events are the kernel's generic ones. What its `cache-references` and `cache-misses` are differs:
//! on Intel's processors they are of the last-level cache, on AMD's Zen of the second level, whose misses
//! are then the references to the last.

use std::collections::BTreeMap;
use std::io;

use kilocore_linux::perf_events::{Event, paranoid};
use kilocore_sched_policy::Nanos;
use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CPU_CYCLES,
    PERF_COUNT_HW_INSTRUCTIONS, PERF_FORMAT_GROUP, PERF_FORMAT_TOTAL_TIME_ENABLED,
    PERF_FORMAT_TOTAL_TIME_RUNNING, PERF_TYPE_HARDWARE, perf_event_attr,
};

use crate::counters::{CounterSource, NoCounters, Reading};
use crate::descriptors;

/// What is counted, the leader of the group first.
const EVENTS: [(&str, u32); 4] = [
    ("cycles", PERF_COUNT_HW_CPU_CYCLES),
    ("instructions", PERF_COUNT_HW_INSTRUCTIONS),
    ("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
    ("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
];

/// The events of a thread, the leader first. They end when this is dropped.
type Group = Vec<Event>;

/// The counters, and whom they count for.
#[derive(Debug)]
pub(crate) struct Hardware {
    in_kernel: bool,
    groups: BTreeMap<u32, Group>,
}

impl Hardware {
    /// The counters, if this host has them and this user may use them.
    pub(crate) fn find() -> Result<Self, NoCounters> {
        let words = |(event, error)| NoCounters::of(event, error, paranoid());
        // 0 is this thread.
        let in_kernel = match open(0, true) {
            Ok(_) => true,
            Err((_, error)) if is_forbidden(&error) => {
                open(0, false).map(|_| false).map_err(words)?
            }
            Err(error) => return Err(words(error)),
        };
        Ok(Self { in_kernel, groups: BTreeMap::new() })
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// Opens the events of a thread. An error comes with the event that it is about.
fn open(tid: u32, in_kernel: bool) -> Result<Group, (&'static str, io::Error)> {
    let mut group = Group::new();
    for (name, config) in EVENTS {
        let mut attribute = perf_event_attr {
            type_: PERF_TYPE_HARDWARE,
            size: size_of::<perf_event_attr>() as u32,
            config: u64::from(config),
            read_format: u64::from(PERF_FORMAT_GROUP)
                | u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED)
                | u64::from(PERF_FORMAT_TOTAL_TIME_RUNNING),
            ..perf_event_attr::default()
        };
        attribute.set_exclude_hv(1);
        attribute.set_exclude_kernel(u64::from(!in_kernel));
        // The leader begins once all are there, and they with it.
        attribute.set_disabled(u64::from(group.is_empty()));
        let tid = tid as libc::pid_t;
        let event = match group.first() {
            None => Event::open(&mut attribute, tid, -1),
            Some(leader) => Event::open_with(&mut attribute, tid, -1, leader),
        };
        group.push(event.map_err(|error| (name, error))?);
    }
    group[0].enable().map_err(|error| (EVENTS[0].0, error))?;
    Ok(group)
}

impl CounterSource for Hardware {
    fn describe(&self) -> String {
        let kernel = if self.in_kernel { "" } else { ", in user space only" };
        format!(
            "cycles, instructions, cache references and misses of threads (hardware counters{kernel})"
        )
    }

    fn begin(&mut self, tid: u32) -> io::Result<()> {
        if !descriptors::make_room(EVENTS.len()) {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let group = open(tid, self.in_kernel).map_err(|(_, error)| error)?;
        self.groups.insert(tid, group);
        Ok(())
    }

    fn read(&mut self, tid: u32) -> io::Result<Reading> {
        let group = self.groups.get(&tid).ok_or(io::ErrorKind::NotFound)?;
        let [_, enabled, running, cycles, instructions, references, misses] = group[0].group()?;
        let (enabled, running) = (Nanos(enabled), Nanos(running));
        Ok(Reading { enabled, running, cycles, instructions, references, misses })
    }

    fn end(&mut self, tid: u32) {
        self.groups.remove(&tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_counts_this_thread_or_says_why_not() {
        let mut hardware = match Hardware::find() {
            Ok(hardware) => hardware,
            Err(why) => {
                assert!(!matches!(why, NoCounters::Other { .. }), "{why}");
                assert!(!matches!(why, NoCounters::NotAskedFor), "{why}");
                return;
            }
        };
        // SAFETY: takes no argument.
        let tid = unsafe { libc::gettid() } as u32;
        hardware.begin(tid).expect("this thread is there");
        let then = hardware.read(tid).expect("it is counted");
        let sum = (0..1_000_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
        std::hint::black_box(sum);
        let now = hardware.read(tid).expect("it is counted");
        if let Some(counted) = now.since(&then) {
            assert!(counted.instructions >= 1_000_000, "{counted:?}");
        }
        hardware.end(tid);
        assert!(hardware.read(tid).is_err());
    }
}
