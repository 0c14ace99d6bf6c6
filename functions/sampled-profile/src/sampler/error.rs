//! Why a program cannot be recorded.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::sampler::Hertz;

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// No program was named.
    #[error("no program to record; name one after `--`")]
    NoProgram,
    /// The program cannot be started.
    #[error("{}: {source}; name a program that exists and may be executed", program.to_string_lossy())]
    Start {
        /// The program that was to be started.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The frequency is zero.
    #[error("{0} is no frequency to sample with; choose 1 Hz or more")]
    Frequency(Hertz),
    /// This process may not use a core that was asked for.
    #[error(
        "core {core} is not among those that this process may run on ({allowed}); choose of those"
    )]
    Core {
        /// The core on which it was to be counted.
        core: u32,
        /// The cores that it may run on.
        allowed: String,
    },
    /// The profile cannot be written.
    #[error("{}: {source}; the profile was not written, choose a place that has room and may be written to", file.display())]
    Output {
        /// The file that the profile was to go to.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel forbids users to sample.
    #[error(
        "the kernel lets only administrators take samples: kernel.perf_event_paranoid is {paranoid}; \
         as root, `sysctl kernel.perf_event_paranoid=1` allows it, or run this as root"
    )]
    Paranoid {
        /// The value of `kernel.perf_event_paranoid`, from -1 to 4.
        paranoid: i32,
    },
    /// A sandbox forbids sampling.
    #[error(
        "the system call perf_event_open is forbidden here ({source}), as by a container's seccomp \
         profile; run outside of it, or start the container with `--cap-add PERFMON` or \
         `--security-opt seccomp=unconfined`"
    )]
    Sandbox {
        /// What the system said.
        source: io::Error,
    },
    /// The kernel is built without sampling.
    #[error(
        "this kernel has no perf_event_open ({source}); one built with CONFIG_PERF_EVENTS is needed"
    )]
    NoPerfEvents {
        /// What the system said.
        source: io::Error,
    },
    /// The machine does not have the event.
    #[error("this machine does not count {event} ({source}); choose cpu-clock")]
    NoEvent {
        /// The event that was to be counted.
        event: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There are too few file descriptors. Each core needs one for each event.
    #[error("too few files may be open to sample {cores} cores ({source}); raise `ulimit -n`")]
    Files {
        /// How many cores there are.
        cores: usize,
        /// What the system said.
        source: io::Error,
    },
    /// An event cannot be opened for another reason.
    #[error("{event} cannot be sampled on core {core}: {source}; choose another event, or perf")]
    Event {
        /// The event that was to be counted.
        event: &'static str,
        /// The core on which it was to be counted.
        core: u32,
        /// What the system said.
        source: io::Error,
    },
    /// There is no memory for a buffer.
    #[error(
        "no memory can be locked for the samples of core {core} ({source}); raise `ulimit -l`, or \
         as root the sysctl kernel.perf_event_mlock_kb"
    )]
    Buffer {
        /// The core on which it was to be counted.
        core: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The sampler itself cannot run.
    #[error("the sampler cannot run: {0}; end some processes or raise `ulimit -u` and `ulimit -n`")]
    Sampler(io::Error),
    /// On this architecture, copies of stacks are recorded by `perf` only.
    #[error(
        "on this architecture only perf copies stacks to be unwound; install it (Debian: \
         linux-perf), or use frame pointers"
    )]
    DwarfNeedsPerf,
    /// There is no `perf`.
    #[error(
        "there is no perf on the PATH; install it (Debian: linux-perf), or use the own sampler"
    )]
    NoPerf,
    /// `perf` does not work.
    #[error("perf does not work here: {said}; mend that, or use the own sampler")]
    Perf {
        /// What perf printed, cut off if that is long.
        said: String,
    },
    /// What was recorded is no profile.
    #[error("{}: at byte {offset}: {what}; record again, with the own sampler if perf wrote this", file.display())]
    Malformed {
        /// The recording that is damaged.
        file: PathBuf,
        /// Where it is damaged, in bytes from its beginning.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
}
