//! Who creates whom, as the kernel records it.
//!
//! A process that starts another and ends at once leaves no trace in `/proc` of whose child that is, and a thread
//! that does so leaves none of whose mask it has inherited. The kernel's records tell both. Who may watch all of
//! a core gets those of all processes, at no cost to the program. Anybody else gets those of the program's
//! threads and of all that they create, by an event for each thread on each core.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io;

use kilocore_linux::monotonic;
use kilocore_linux::perf_events::{Event, Ring, online_cores, process, records, word};
use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_DUMMY, PERF_RECORD_EXIT, PERF_RECORD_FORK, PERF_RECORD_LOST, PERF_TYPE_SOFTWARE,
    perf_event_attr,
};

use crate::descriptors;

/// Pages of a core's buffer: 256 KiB, the records of some five thousand threads that come or go.
const PAGES: usize = 64;

/// How often threads are listed at most, until there is none that is not watched.
const LISTINGS: u32 = 10;

/// What happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Birth {
    /// A thread was created.
    Born {
        /// The process that the thread belongs to.
        process: u32,
        /// The number of the thread.
        thread: u32,
        /// The thread that created it.
        creator: u32,
    },
    /// The thread of this number has ended.
    Ended(u32),
}

/// Tells who creates whom.
pub(crate) trait Births: Debug + Send {
    /// What has happened since the last call, in its order.
    fn take(&mut self) -> Vec<Birth>;

    /// Whether nothing was lost so far.
    fn is_complete(&self) -> bool;
}

/// Births of threads, by the kernel's records of forks.
#[derive(Debug)]
pub(crate) struct Recorded {
    rings: Vec<Ring>,
    /// Those of single threads that write into the buffers of others.
    _others: Vec<Event>,
    /// Records with their times that are newer than what is complete.
    waiting: Vec<(u64, Birth)>,
    is_complete: bool,
}

impl Recorded {
    /// From now on, of these threads and of all that they create. They are listed until all of them are watched.
    ///
    /// # Errors
    /// If the kernel does not let this user have them.
    pub(crate) fn begin(threads: &mut dyn FnMut() -> Vec<u32>) -> io::Result<Self> {
        match Self::of_all() {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
                Self::of_threads(threads)
            }
            begun => begun,
        }
    }

    fn of_all() -> io::Result<Self> {
        let cores = online_cores().ok_or(io::ErrorKind::NotFound)?;
        let open = |core: u32| ring(Event::open(&mut attribute(false), -1, core as libc::c_int)?);
        let rings = cores.into_iter().map(open).collect::<io::Result<_>>()?;
        Ok(Self { rings, _others: Vec::new(), waiting: Vec::new(), is_complete: true })
    }

    fn of_threads(threads: &mut dyn FnMut() -> Vec<u32>) -> io::Result<Self> {
        let cores = online_cores().ok_or(io::ErrorKind::NotFound)?;
        let mut recorded =
            Self { rings: Vec::new(), _others: Vec::new(), waiting: Vec::new(), is_complete: true };
        let mut watched = BTreeSet::new();
        for _ in 0..LISTINGS {
            recorded.drain();
            let born = recorded.waiting.iter().filter_map(|(_, birth)| match birth {
                Birth::Born { thread, .. } => Some(*thread),
                Birth::Ended(_) => None,
            });
            watched.extend(born);
            let new: Vec<u32> = threads().into_iter().filter(|tid| watched.insert(*tid)).collect();
            if new.is_empty() {
                return Ok(recorded);
            }
            if !descriptors::make_room(new.len().saturating_mul(cores.len())) {
                return Err(io::Error::from_raw_os_error(libc::EMFILE));
            }
            for tid in new {
                recorded.watch(tid, &cores)?;
            }
        }
        // A program that creates threads faster than they are listed has some that nobody watches.
        recorded.is_complete = false;
        Ok(recorded)
    }

    fn watch(&mut self, tid: u32, cores: &[u32]) -> io::Result<()> {
        for (place, core) in cores.iter().enumerate() {
            let (tid, core) = (tid as libc::pid_t, *core as libc::c_int);
            let event = match Event::open(&mut attribute(true), tid, core) {
                Ok(event) => event,
                // It has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(()),
                Err(error) => return Err(error),
            };
            match self.rings.get(place) {
                None => self.rings.push(ring(event)?),
                Some(ring) => {
                    event.write_to(ring.event())?;
                    self._others.push(event);
                }
            }
        }
        Ok(())
    }

    /// Takes what is in the buffers.
    fn drain(&mut self) {
        let mut bytes = Vec::new();
        for ring in &mut self.rings {
            ring.drain(&mut bytes);
        }
        for record in records(&bytes) {
            let Ok(record) = record else {
                self.is_complete = false;
                return;
            };
            let number =
                |offset| process(record.body, offset).and_then(|id| u32::try_from(id).ok());
            let (process, thread, creator) = (number(0), number(8), number(12));
            let birth = match (record.kind, process, thread, creator) {
                (PERF_RECORD_FORK, Some(process), Some(thread), Some(creator)) => {
                    Birth::Born { process, thread, creator }
                }
                (PERF_RECORD_EXIT, _, Some(thread), _) => Birth::Ended(thread),
                (PERF_RECORD_LOST, ..) => {
                    self.is_complete = false;
                    continue;
                }
                _ => continue,
            };
            self.waiting.push((word(record.body, 16).unwrap_or(0), birth));
        }
    }
}

impl Births for Recorded {
    fn take(&mut self) -> Vec<Birth> {
        // What is newer may have its cause in a buffer that was emptied before.
        let until = u64::try_from(monotonic().as_nanos()).unwrap_or(u64::MAX);
        self.drain();
        self.waiting.sort_by_key(|(time, _)| *time);
        let complete = self.waiting.partition_point(|(time, _)| *time <= until);
        self.waiting.drain(..complete).map(|(_, birth)| birth).collect()
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

fn ring(event: Event) -> io::Result<Ring> {
    Ring::at_most(event, PAGES).map_err(|(_, error)| error)
}

/// Nothing but records of threads that come and go, of all that a thread creates, too, if that is asked for.
fn attribute(inherit: bool) -> perf_event_attr {
    let mut attribute = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_DUMMY),
        ..perf_event_attr::default()
    };
    attribute.set_exclude_kernel(1);
    attribute.set_exclude_hv(1);
    attribute.set_task(1);
    attribute.set_inherit(u64::from(inherit));
    attribute.set_use_clockid(1);
    attribute.clockid = libc::CLOCK_MONOTONIC;
    attribute
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Who was born of this process's threads, directly or not, as `began` has it, while a shell starts another
    /// that starts a third.
    fn grandchildren(began: io::Result<Recorded>) -> Option<usize> {
        let mut recorded = match began {
            Ok(recorded) => recorded,
            Err(error) => {
                let expected = [libc::EACCES, libc::EPERM, libc::ENOSYS, libc::ENOENT];
                assert!(error.raw_os_error().is_some_and(|error| expected.contains(&error)));
                eprintln!("not tested, as the kernel lets this user watch nothing: {error}");
                return None;
            }
        };
        // SAFETY: takes no argument.
        let tid = unsafe { libc::gettid() } as u32;
        let shell = "(true; (true; (true; true); true); true); true";
        assert!(Command::new("sh").args(["-c", shell]).status().expect("a shell").success());
        let births = recorded.take();
        assert!(recorded.is_complete());
        let mut family = BTreeSet::from([tid]);
        for birth in births {
            match birth {
                Birth::Born { thread, creator, .. } if family.contains(&creator) => {
                    family.insert(thread);
                }
                Birth::Ended(thread) => assert!(thread != tid),
                Birth::Born { .. } => {}
            }
        }
        Some(family.len() - 1)
    }

    #[test]
    fn what_children_start_that_have_ended_is_known_however_it_is_watched() {
        // SAFETY: takes no argument.
        let tid = unsafe { libc::gettid() } as u32;
        let alone = grandchildren(Recorded::of_threads(&mut || vec![tid]));
        let all = grandchildren(Recorded::of_all());
        for found in alone.into_iter().chain(all) {
            assert!(found >= 4, "{found}");
        }
    }
}
