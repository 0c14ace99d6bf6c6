//! How often threads send something through a socket, counted by the kernel.
//!
//! The kernel has a place that every successful send passes, by whatever system call and of whatever kind of socket
//! (since Linux 6.3). It is counted there and not recorded, so that a send pays for it with some hundred nanoseconds
//! and nobody else with anything.

use std::collections::BTreeSet;
use std::io;

use perf_event_open_sys::bindings::{PERF_TYPE_TRACEPOINT, perf_event_attr};

use crate::perf_events::{Event, Tracefs, Tracepoint, TracepointError};

/// The place.
const PLACE: &str = "sock/sock_send_length";

/// How often threads are listed at most, until there is none that is not counted.
const LISTINGS: u32 = 10;

/// Why sends cannot be counted.
#[derive(Debug, thiserror::Error)]
pub enum NoSends {
    /// The kernel does not have the place, or does not show it to this user.
    #[error(transparent)]
    Place(#[from] TracepointError),
    /// The kernel does not let this user count there.
    #[error("the kernel does not count sends for this user: {0}")]
    Refused(#[from] io::Error),
}

/// A count of what threads send, and of what all threads do that they create.
#[derive(Debug)]
pub struct Sends(Vec<Event>);

impl Sends {
    /// From now on, of the threads that `threads` lists, which is asked until it lists nobody new. Processes that they
    /// start count, too, if `with_children`.
    ///
    /// Who creates threads faster than they can be listed has some that do not count, then or later.
    ///
    /// # Errors
    /// If the kernel does not count, or not for this user.
    pub fn begin(
        threads: &mut dyn FnMut() -> Vec<u32>,
        with_children: bool,
    ) -> Result<Self, NoSends> {
        let place = Tracefs::open()?.find(PLACE)?;
        let mut known: BTreeSet<u32> = threads().into_iter().collect();
        for _ in 1..LISTINGS {
            let counted = Self::of(&known, &place, with_children)?;
            let now: BTreeSet<u32> = threads().into_iter().collect();
            // Somebody new may have been born of one who counts, so that it would count twice if it were added.
            if now.is_subset(&known) {
                return Ok(counted);
            }
            known = now;
        }
        Ok(Self::of(&known, &place, with_children)?)
    }

    fn of(threads: &BTreeSet<u32>, place: &Tracepoint, with_children: bool) -> io::Result<Self> {
        let mut events = Vec::new();
        for &thread in threads {
            match Event::open(&mut attribute(place, with_children), thread as libc::pid_t, -1) {
                Ok(event) => {
                    event.set_filter(c"ret > 0")?;
                    event.enable()?;
                    events.push(event);
                }
                // It has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self(events))
    }

    /// How often something was sent so far.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn count(&self) -> io::Result<u64> {
        self.0.iter().try_fold(0_u64, |sum, event| Ok(sum.saturating_add(event.count()?)))
    }
}

fn attribute(place: &Tracepoint, with_children: bool) -> perf_event_attr {
    let mut attribute = perf_event_attr {
        type_: PERF_TYPE_TRACEPOINT,
        size: size_of::<perf_event_attr>() as u32,
        config: place.id,
        ..perf_event_attr::default()
    };
    attribute.set_disabled(1);
    attribute.set_inherit(1);
    if !with_children {
        attribute.set_inherit_thread(1);
    }
    attribute
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn what_threads_send_is_counted_and_nothing_else() {
        const TIMES: u64 = 50;
        // SAFETY: takes no argument.
        let own = unsafe { libc::gettid() } as u32;
        let sends = match Sends::begin(&mut || vec![own], false) {
            Ok(sends) => sends,
            // Most users may not, and older kernels do not have the place.
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let (mut one, mut other) = UnixStream::pair().expect("sockets");
        one.set_nonblocking(true).expect("a socket");
        let mut file = tempfile::tempfile().expect("there is room");
        for _ in 0..TIMES {
            one.write_all(b"x").expect("there is room");
            file.write_all(b"x").expect("there is room");
            assert!(one.read(&mut [0]).is_err(), "there is nothing to receive");
        }
        assert_eq!(sends.count().expect("it counts"), TIMES);
        // A thread that is created later counts as well.
        let mut more = one.try_clone().expect("a socket");
        thread::spawn(move || more.write_all(b"x").expect("there is room"))
            .join()
            .expect("it ends");
        assert_eq!(sends.count().expect("it counts"), TIMES + 1);
        let mut received = [0; TIMES as usize + 1];
        other.read_exact(&mut received).expect("they have come");
        drop(other);
        assert!(one.write_all(b"x").is_err(), "nobody receives it");
        assert_eq!(sends.count().expect("it counts"), TIMES + 1, "it was not sent");
    }
}
