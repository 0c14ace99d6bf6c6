//! An event that the kernel has opened.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use perf_event_open_sys::bindings::{PERF_FLAG_FD_CLOEXEC, perf_event_attr};
use perf_event_open_sys::ioctls;

/// An event. It ends when this is dropped: nothing of it stays behind, however the process ends.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Opens an event for a process or thread (-1: all of them) on a core (-1: all of them).
    ///
    /// # Errors
    /// Those of `perf_event_open`.
    pub fn open(
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: libc::c_int,
    ) -> io::Result<Self> {
        Self::open_beside(attribute, pid, core, -1)
    }

    /// Opens an event for the same thread and core as another, so that they count at the same times.
    ///
    /// # Errors
    /// Those of `perf_event_open`: if the processor cannot count both at once, too.
    pub fn open_with(
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: libc::c_int,
        leader: &Self,
    ) -> io::Result<Self> {
        Self::open_beside(attribute, pid, core, leader.fd())
    }

    fn open_beside(
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: libc::c_int,
        leader: RawFd,
    ) -> io::Result<Self> {
        let flags = PERF_FLAG_FD_CLOEXEC.into();
        // SAFETY: the attribute is valid for as many bytes as it says.
        let fd =
            unsafe { perf_event_open_sys::perf_event_open(attribute, pid, core, leader, flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor just opened, which nobody else has.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Takes a descriptor for an event.
    ///
    /// # Safety
    /// It is one. Or its [`Ring`](crate::perf_events::Ring) is never made; or nobody but a test that plays the
    /// kernel writes what it is mapped from, and nobody makes that shorter.
    #[must_use]
    pub unsafe fn of(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// What the kernel calls the event in its records.
    ///
    /// # Errors
    /// If this is no event.
    pub fn id(&self) -> io::Result<u64> {
        let mut id = 0;
        // SAFETY: the request writes a number of 64 bits.
        done(unsafe { ioctls::ID(self.fd(), &raw mut id) }).map(|()| id)
    }

    /// Lets the event begin.
    ///
    /// # Errors
    /// If this is no event.
    pub fn enable(&self) -> io::Result<()> {
        // SAFETY: the request takes a number.
        done(unsafe { ioctls::ENABLE(self.fd(), 0) })
    }

    /// Stops the event, until it is enabled again.
    ///
    /// # Errors
    /// If this is no event.
    pub fn disable(&self) -> io::Result<()> {
        // SAFETY: the request takes a number.
        done(unsafe { ioctls::DISABLE(self.fd(), 0) })
    }

    /// Lets the event begin, or go on, until it has happened so many more times than it was allowed to
    /// before. Then the kernel disables it.
    ///
    /// # Errors
    /// If it takes no samples.
    pub fn allow(&self, times: u32) -> io::Result<()> {
        let times = libc::c_int::try_from(times).unwrap_or(libc::c_int::MAX);
        // SAFETY: the request takes a number.
        done(unsafe { ioctls::REFRESH(self.fd(), times) })
    }

    /// From now on, a sample is taken whenever it has happened so many times.
    ///
    /// # Errors
    /// If it takes no samples, or this is none of the numbers from 1 to 2^63 - 1.
    pub fn set_period(&self, mut period: u64) -> io::Result<()> {
        // The binding takes the address as a number.
        let at = (&raw mut period).expose_provenance() as u64;
        // SAFETY: the kernel reads a number at this address, where one lives until the call returns.
        done(unsafe { ioctls::PERIOD(self.fd(), at) })
    }

    /// From now on, only what the kernel's filter lets through happens, of a place in the kernel that can be traced:
    /// `ret > 0` in terms of the fields of its records.
    ///
    /// # Errors
    /// If this is none, or the filter speaks of no field of it.
    pub fn set_filter(&self, filter: &CStr) -> io::Result<()> {
        // SAFETY: the kernel reads a text with a zero at its end, which lives until the call returns.
        done(unsafe { ioctls::SET_FILTER(self.fd(), filter.as_ptr().cast_mut()) })
    }

    /// How often it happened so far, with all that it was passed on to.
    ///
    /// # Errors
    /// If this is no event.
    pub fn count(&self) -> io::Result<u64> {
        self.values::<8>()
    }

    /// How many of its records the kernel lost, of an event whose read format is `PERF_FORMAT_ID`
    /// and `PERF_FORMAT_LOST`.
    ///
    /// # Errors
    /// If it does not count them.
    pub fn lost(&self) -> io::Result<u64> {
        // By the read format: the count, the id, the losses.
        self.values::<24>()
    }

    /// What a group of events has counted, of the leader of a group whose read format is
    /// `PERF_FORMAT_GROUP` with both times: the words that the kernel writes, which are the number of
    /// events, the nanoseconds for which they were enabled and those for which they counted, and what
    /// each counted.
    ///
    /// # Errors
    /// Those of `read`, and if the group has another number of words.
    pub fn group<const WORDS: usize>(&self) -> io::Result<[u64; WORDS]> {
        let mut words = [[0_u8; 8]; WORDS];
        let bytes = words.as_flattened_mut();
        if rustix::io::read(&self.0, &mut *bytes)? != bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(words.map(u64::from_ne_bytes))
    }

    /// Reads so many bytes, of which the last eight are a number.
    fn values<const SIZE: usize>(&self) -> io::Result<u64> {
        let mut values = [0; SIZE];
        File::from(self.0.try_clone()?).read_exact(&mut values)?;
        Ok(u64::from_ne_bytes(*values.last_chunk().unwrap_or(&[0; 8])))
    }

    /// Lets the event write into the buffer of another. Both watch the same core, or the same
    /// thread on all cores.
    ///
    /// # Errors
    /// If they do not, or the other has no buffer.
    pub fn write_to(&self, other: &Self) -> io::Result<()> {
        // SAFETY: the request takes the number of a descriptor.
        done(unsafe { ioctls::SET_OUTPUT(self.fd(), other.fd()) })
    }

    /// Whether the thread that it watched has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let mut asked = libc::pollfd { fd: self.fd(), events: 0, revents: 0 };
        // SAFETY: one entry, which is valid and ours.
        let answered = unsafe { libc::poll(&raw mut asked, 1, 0) };
        answered > 0 && asked.revents & libc::POLLHUP != 0
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use perf_event_open_sys::bindings::{PERF_COUNT_SW_DUMMY, PERF_TYPE_SOFTWARE};

    use super::*;
    use crate::perf_events::{Ring, page_size};

    fn nothing() -> perf_event_attr {
        let mut attribute = perf_event_attr {
            type_: PERF_TYPE_SOFTWARE,
            size: size_of::<perf_event_attr>() as u32,
            config: u64::from(PERF_COUNT_SW_DUMMY),
            ..perf_event_attr::default()
        };
        attribute.set_exclude_kernel(1);
        attribute
    }

    /// Software events need no counter of the hardware, and are read as those are.
    #[test]
    fn a_group_tells_its_times_and_what_each_event_counted() {
        use perf_event_open_sys::bindings::{
            PERF_COUNT_SW_PAGE_FAULTS, PERF_FORMAT_GROUP, PERF_FORMAT_TOTAL_TIME_ENABLED,
            PERF_FORMAT_TOTAL_TIME_RUNNING,
        };
        let mut attribute = nothing();
        attribute.read_format = u64::from(PERF_FORMAT_GROUP)
            | u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED)
            | u64::from(PERF_FORMAT_TOTAL_TIME_RUNNING);
        attribute.set_disabled(1);
        let Ok(leader) = Event::open(&mut attribute, 0, -1) else { return };
        attribute.config = u64::from(PERF_COUNT_SW_PAGE_FAULTS);
        attribute.set_disabled(0);
        let _member = Event::open_with(&mut attribute, 0, -1, &leader).expect("a second event");
        assert_eq!(leader.group::<5>().expect("two events"), [2, 0, 0, 0, 0], "it has not begun");
        leader.enable().expect("an event");
        let pages = 64;
        let mut touched = memmap2::MmapMut::map_anon(pages * page_size()).expect("room");
        // Huge pages would fault once for many.
        let _ = touched.advise(memmap2::Advice::NoHugePage);
        for page in 0..pages {
            touched[page * page_size()] = 1;
        }
        let [events, enabled, running, nothing, faults] = leader.group().expect("two events");
        assert_eq!((events, nothing), (2, 0));
        assert!(enabled >= running && running > 0, "{enabled} {running}");
        assert!(faults >= pages as u64, "{faults}");
        assert!(leader.group::<4>().is_err(), "another number of words");
    }

    #[test]
    fn an_event_is_over_when_its_thread_has_ended() {
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: takes no argument.
            tell.send(unsafe { libc::gettid() }).expect("somebody waits");
            let _ = ended.recv();
        });
        let tid = told.recv().expect("it was started");
        let event = match Event::open(&mut nothing(), tid, -1) {
            Ok(event) => event,
            Err(error) => {
                // Where the kernel allows an ordinary user nothing, or has no such events.
                let expected = [libc::EACCES, libc::EPERM, libc::ENOSYS];
                assert!(error.raw_os_error().is_some_and(|error| expected.contains(&error)));
                return;
            }
        };
        let ring = Ring::at_most(event, 4).map_err(|(_, error)| error).expect("a few pages");
        assert!(matches!(ring.pages(), 1 | 2 | 4));
        assert!(!ring.event().is_over());
        drop(end);
        thread.join().expect("it does not panic");
        // It can be waited for a little earlier than the kernel has forgotten it.
        let latest = Instant::now() + Duration::from_secs(10);
        while !ring.event().is_over() {
            assert!(Instant::now() < latest, "it has ended");
            std::thread::yield_now();
        }
    }
}
