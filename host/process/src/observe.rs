//! Seeing what the program writes, while passing it on.
//!
//! Each stream has a pipe and a thread, the pump. The pump passes on what comes out of the pipe,
//! and then shows it to the observer. There are two threads because writing may have to wait for a
//! reader, and the other stream must not wait with it.
//!
//! When the program has ended, its pipes still hold the last part of what it wrote. That is passed
//! on first. Children of the program may keep the pipes open, and write for ever. The observer does
//! not see what they write later, but it must arrive all the same: see [`crate::leftover`].

use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::thread;

use crate::{CpuId, confine, leftover, spare_cores};

/// One of the program's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The standard output, descriptor 1.
    Output,
    /// The standard error, descriptor 2.
    Error,
}

/// Sees what the program writes.
pub trait Observer: Sync {
    /// The program wrote `bytes` to `stream`, and they have been passed on. The bytes of one stream
    /// come in order and on one thread; those of the other stream come on another thread. The
    /// pieces are those that came out of the pipe. If this takes long, the pipe fills and the
    /// program has to wait.
    fn saw(&self, stream: Stream, bytes: &[u8]);
}

impl fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Where a stream was going. `None` discards it.
pub(crate) type Outlet = Option<OwnedFd>;

/// How much is read at a time: as much as a pipe holds.
const PIECE: usize = 1 << 16;

/// What passes on both streams of the program, a thread for each.
pub(crate) struct Pumps<'a> {
    pumps: [Pump; 2],
    observer: &'a dyn Observer,
    /// Holds a byte as soon as the program has ended.
    stop: (PipeReader, PipeWriter),
}

/// One stream's pipe and where it is poured.
struct Pump {
    stream: Stream,
    pipe: PipeReader,
    outlet: Outlet,
}

/// Why a pump stopped.
enum Rest {
    /// No process has the pipe open for writing any more.
    Dry,
    /// Some process still has it open.
    Open(PipeReader, Outlet),
    /// What is written can no longer be passed on.
    Blocked(io::Error),
}

impl<'a> Pumps<'a> {
    /// The pumps, and the ends of their pipes for the program's standard output and error.
    pub(crate) fn new(
        outlets: [Outlet; 2],
        observer: &'a dyn Observer,
    ) -> io::Result<(Self, PipeWriter, PipeWriter)> {
        let (output, output_in) = io::pipe()?;
        let (error, error_in) = io::pipe()?;
        set_nonblocking(output.as_raw_fd())?;
        set_nonblocking(error.as_raw_fd())?;
        let [to_output, to_error] = outlets;
        let pumps = [
            Pump { stream: Stream::Output, pipe: output, outlet: to_output },
            Pump { stream: Stream::Error, pipe: error, outlet: to_error },
        ];
        Ok((Self { pumps, observer, stop: io::pipe()? }, output_in, error_in))
    }

    /// Pumps until `wait` returns and all that was written until then is passed on.
    pub(crate) fn run<T>(
        self,
        program_cores: Option<&[CpuId]>,
        wait: impl FnOnce() -> T,
    ) -> (T, Option<io::Error>) {
        let spare = spare_cores(program_cores);
        let Self { pumps, observer, stop: (stop, mut stop_in) } = self;
        let (value, rests) = thread::scope(|scope| {
            let (spare, stop) = (&spare, stop.as_raw_fd());
            let threads = pumps.map(|pump| {
                scope.spawn(move || {
                    if !spare.is_empty() {
                        // Elsewhere it is slower, not wrong.
                        let _ = confine(spare);
                    }
                    pump.run(stop, observer)
                })
            });
            let value = wait();
            // An empty pipe takes a byte.
            let _ = stop_in.write_all(&[1]);
            let rests = threads.map(|thread| match thread.join() {
                Ok(rest) => rest,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            (value, rests)
        });
        let mut open = Vec::new();
        let mut failure = None;
        for rest in rests {
            match rest {
                Rest::Dry => {}
                Rest::Open(pipe, outlet) => open.push((pipe, outlet)),
                Rest::Blocked(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Rest::Blocked(error) => failure = failure.or(Some(error)),
            }
        }
        leftover::leave(&open);
        (value, failure)
    }
}

impl Pump {
    fn run(mut self, stop: RawFd, observer: &dyn Observer) -> Rest {
        let mut piece = vec![0; PIECE];
        while !wait_for(self.pipe.as_raw_fd(), stop) {
            match self.pump(&mut piece, observer) {
                Ok(Some(0)) => return Rest::Dry,
                Ok(_) => {}
                Err(error) => return Rest::Blocked(error),
            }
        }
        let mut left = buffered(self.pipe.as_raw_fd());
        while left > 0 {
            let most = left.min(PIECE);
            match self.pump(&mut piece[..most], observer) {
                Ok(Some(0)) => return Rest::Dry,
                Ok(taken) => left -= taken.unwrap_or(0),
                Err(error) => return Rest::Blocked(error),
            }
        }
        if has_ended(self.pipe.as_raw_fd()) {
            Rest::Dry
        } else {
            Rest::Open(self.pipe, self.outlet)
        }
    }

    /// Passes on what is there, up to the size of `piece`. Returns how many bytes that were: 0 at
    /// the end of the pipe, and `None` if there was nothing.
    fn pump(&mut self, piece: &mut [u8], observer: &dyn Observer) -> io::Result<Option<usize>> {
        let taken = match self.pipe.read(piece) {
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes = &piece[..taken];
        let poured = self.outlet.as_ref().map_or(Ok(()), |to| pour(to.as_raw_fd(), bytes));
        if taken > 0 {
            observer.saw(self.stream, bytes);
        }
        poured.map(|()| Some(taken))
    }
}

/// Waits until the pipe has something or the program has ended. Returns whether it has ended.
fn wait_for(pipe: RawFd, stop: RawFd) -> bool {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut both = [entry(pipe), entry(stop)];
    // SAFETY: two entries, ours to be written. If it fails, reading says what there is.
    unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
    both[1].revents != 0
}

/// How many bytes a pipe holds.
fn buffered(pipe: RawFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request writes an int.
    if unsafe { libc::ioctl(pipe, libc::FIONREAD, &raw mut bytes) } != 0 {
        return 0;
    }
    usize::try_from(bytes).unwrap_or(0)
}

/// Whether no process has the pipe open for writing, and nothing is in it.
fn has_ended(pipe: RawFd) -> bool {
    let mut entry = libc::pollfd { fd: pipe, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, ours to be written.
    unsafe { libc::poll(&raw mut entry, 1, 0) };
    entry.revents & (libc::POLLIN | libc::POLLHUP) == libc::POLLHUP
}

/// Writes everything, and waits if a file that does not block takes nothing.
fn pour(to: RawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable; the descriptor is open as long as its owner.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        if written > 0 {
            bytes = &bytes[written as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock => {
                let mut entry = libc::pollfd { fd: to, events: libc::POLLOUT, revents: 0 };
                // SAFETY: one entry, ours to be written.
                unsafe { libc::poll(&raw mut entry, 1, -1) };
            }
            _ => return Err(error),
        }
    }
    Ok(())
}

fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: changes the flags of a descriptor of ours, and of nobody else's: a pipe's ends have
    // flags of their own.
    let done = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0 && libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}
