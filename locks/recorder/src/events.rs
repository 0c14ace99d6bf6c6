//! What may happen while a program is measured: signals to this process, and the program's end.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Something that happens while a program is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// `SIGUSR1`: what is recorded from now on counts.
    Begin,
    /// `SIGUSR2`: what is recorded from now on does not count.
    End,
    /// The program has ended.
    Over,
}

/// The byte that stands for an event in the pipe.
const BEGIN: u8 = b'b';
const END: u8 = b'e';
const OVER: u8 = b'o';

/// The pipe to which signal handlers write, or a negative number while nobody listens.
static LISTENER: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(signal: libc::c_int) {
    let byte = if signal == libc::SIGUSR1 { BEGIN } else { END };
    let to = LISTENER.load(Ordering::SeqCst);
    if to >= 0 {
        // SAFETY: the thread's own errno, which the interrupted code may be about to read.
        let errno = unsafe { *libc::__errno_location() };
        // SAFETY: one readable byte; a pipe takes it at once, or has so many that one is not
        // missed.
        unsafe { libc::write(to, (&raw const byte).cast(), 1) };
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
    }
}

/// The end of the pipe that waits for events.
#[derive(Debug)]
pub(crate) struct Events {
    pipe: PipeReader,
}

/// The end of the pipe that reports the program's end. Signals are reported as long as it exists.
#[derive(Debug)]
pub(crate) struct Teller {
    pipe: PipeWriter,
    former: Vec<(libc::c_int, libc::sigaction)>,
}

/// Returns both ends. Signals are reported if that is `wanted`. If several are wanted at the same
/// time, only the last one gets the signals.
pub(crate) fn events(wanted: bool) -> io::Result<(Teller, Events)> {
    let (from, to) = io::pipe()?;
    // SAFETY: changes the flags of a pipe's end that is ours alone.
    unsafe { libc::fcntl(to.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    let mut former = Vec::new();
    if wanted {
        LISTENER.store(to.as_raw_fd(), Ordering::SeqCst);
        former.extend([libc::SIGUSR1, libc::SIGUSR2].into_iter().filter_map(listen_to));
    }
    Ok((Teller { pipe: to, former }, Events { pipe: from }))
}

/// Listens to a signal, unless it is ignored.
fn listen_to(signal: libc::c_int) -> Option<(libc::c_int, libc::sigaction)> {
    // SAFETY: zero bytes are a valid sigaction.
    let (mut action, mut old): (libc::sigaction, libc::sigaction) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    // SAFETY: `old` is ours to be written; nothing is changed.
    unsafe { libc::sigaction(signal, core::ptr::null(), &raw mut old) };
    if old.sa_sigaction == libc::SIG_IGN {
        return None;
    }
    let handler: extern "C" fn(libc::c_int) = on_signal;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both structures are ours; the handler uses an atomic and write.
    let failed = unsafe { libc::sigaction(signal, &raw const action, &raw mut old) } != 0;
    (!failed).then_some((signal, old))
}

impl Teller {
    /// Reports that the program has ended.
    pub(crate) fn over(mut self) {
        // An empty pipe takes the byte. A full one is closed when this is dropped, which says the
        // same.
        let _ = self.pipe.write(&[OVER]);
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        for (signal, old) in self.former.drain(..) {
            // SAFETY: the action that was in force before.
            unsafe { libc::sigaction(signal, &raw const old, core::ptr::null_mut()) };
        }
        let own = self.pipe.as_raw_fd();
        let _ = LISTENER.compare_exchange(own, -1, Ordering::SeqCst, Ordering::SeqCst);
    }
}

impl Events {
    /// Returns the next event, or `None` if there is none before `until`.
    pub(crate) fn next(&mut self, until: Instant) -> Option<Event> {
        let left = until.saturating_duration_since(Instant::now());
        if !self.is_ready(left) {
            return None;
        }
        let mut byte = [0];
        match self.pipe.read(&mut byte) {
            Ok(1) if byte[0] == BEGIN => Some(Event::Begin),
            Ok(1) if byte[0] == END => Some(Event::End),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            _ => Some(Event::Over),
        }
    }

    fn is_ready(&self, wait: Duration) -> bool {
        // Rounded up: waking early would be waking twice.
        let wait = wait.as_micros().div_ceil(1_000).min(60_000) as libc::c_int;
        let mut entry =
            libc::pollfd { fd: self.pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, ours to be written.
        unsafe { libc::poll(&raw mut entry, 1, wait) > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_and_the_end_come_in_order() {
        let (teller, mut events) = events(true).expect("a pipe");
        let far = || Instant::now() + Duration::from_secs(60);
        assert_eq!(events.next(Instant::now()), None);
        for (signal, event) in [(libc::SIGUSR2, Event::End), (libc::SIGUSR1, Event::Begin)] {
            // SAFETY: there is a handler for it.
            unsafe { libc::raise(signal) };
            assert_eq!(events.next(far()), Some(event));
        }
        teller.over();
        assert_eq!(events.next(far()), Some(Event::Over));
        assert_eq!(events.next(far()), Some(Event::Over), "nobody can tell of anything any more");
    }
}
