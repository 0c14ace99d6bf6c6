//! Recording with `perf record`.
//!
//! The program is Kilocore's child and not perf's, so Kilocore controls its signals and cores and
//! receives its status. perf attaches to the child's process while the child waits to execute the
//! program. Through its control pipes, perf tells that it is ready. perf's own messages are kept,
//! and shown if it fails.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kilocore_process::CpuId;

use crate::sampler::own::{Gathered, Host, Kernel, why_excluded};
use crate::sampler::scan::scan;
use crate::sampler::{CallGraph, KernelSamples, Options, SampleError, Scope};

/// A `perf record` that runs.
#[derive(Debug)]
pub(crate) struct Perf {
    child: Child,
    said: File,
    ended: bool,
    /// Our ends of its pipes: without them it fails at the end.
    _pipes: (PipeWriter, PipeReader),
}

impl Perf {
    /// Attaches perf to a process that is about to execute a program, to record into `out`.
    pub(crate) fn attach(
        perf: &OsStr,
        pid: libc::pid_t,
        options: &Options<'_>,
        out: &Path,
        spare: &[CpuId],
    ) -> Result<Self, SampleError> {
        let (control, mut control_in) = io::pipe().map_err(SampleError::Sampler)?;
        let (mut ready, ready_in) = io::pipe().map_err(SampleError::Sampler)?;
        let said = tempfile::tempfile().map_err(SampleError::Sampler)?;
        let kept = [control.as_raw_fd(), ready_in.as_raw_fd()];
        let mut command = Command::new(perf);
        command
            .args(arguments(pid, options, kept))
            .arg("--output")
            .arg(out)
            .env("PERF_CONFIG", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone().map_err(SampleError::Sampler)?)
            // What a terminal sends is for the program; perf goes on until that has ended.
            .process_group(0);
        let spare = spare.to_vec();
        // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates
        // nothing.
        unsafe { command.pre_exec(move || prepare(&spare, kept)) };
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SampleError::NoPerf,
            _ => SampleError::Perf { said: error.to_string() },
        })?;
        // With these go our ends: when perf ends before it is ready, so does its pipe.
        drop((control, ready_in));
        // A perf that is gone does not answer, either.
        let _ = control_in.write_all(b"enable\n");
        let is_ready = is_ready(&mut ready);
        let mut perf = Self { child, said, ended: false, _pipes: (control_in, ready) };
        if is_ready { Ok(perf) } else { Err(perf.failure()) }
    }

    /// Lets perf complete the file, once the program has ended, and looks through it.
    pub(crate) fn finish(
        mut self,
        out: &Path,
        options: &Options<'_>,
    ) -> Result<Gathered, SampleError> {
        // SAFETY: the child is not waited for yet, so the id is its.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGINT) };
        let status = self.child.wait().map_err(SampleError::Sampler)?;
        self.ended = true;
        // It ends as if by the signal when it has done all that it does about it.
        if !status.success() && status.signal() != Some(libc::SIGINT) {
            return Err(self.failure());
        }
        let scan = match scan(out, &options.output) {
            Err(SampleError::Malformed { .. }) => return Err(self.failure()),
            scan => scan?,
        };
        let kernel = match scan.kernel {
            true => KernelSamples::Included,
            false => KernelSamples::Excluded { why: why_excluded(Host.paranoid()) },
        };
        let said = self.said();
        let warning = |line: &&str| line.to_ascii_lowercase().starts_with("warning");
        Ok(Gathered {
            samples: scan.tally.samples,
            lost: scan.tally.lost(),
            frequency: scan.frequency.unwrap_or(options.frequency),
            kernel,
            scope: Scope::Processes,
            warnings: said.lines().filter(warning).map(|line| format!("perf: {line}")).collect(),
        })
    }

    /// What it said, without empty lines, and not too much of it.
    fn said(&mut self) -> String {
        const MOST: u64 = 4096;
        let mut said = Vec::new();
        let read =
            self.said.rewind().and_then(|()| (&mut self.said).take(MOST).read_to_end(&mut said));
        if read.is_err() {
            return String::new();
        }
        let said = String::from_utf8_lossy(&said);
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn failure(&mut self) -> SampleError {
        self.end();
        let lines = self.said();
        let said: Vec<&str> = lines.lines().take(4).collect();
        let said = if said.is_empty() { "it ended without a word".into() } else { said.join(" ") };
        SampleError::Perf { said }
    }

    fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Perf {
    /// Ends the perf of a program that was not started after all.
    fn drop(&mut self) {
        self.end();
    }
}

/// What perf is asked to do.
fn arguments(pid: libc::pid_t, options: &Options<'_>, [control, ready]: [RawFd; 2]) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "record",
        "--event",
        options.event.name(),
        // Nothing is left in the user's cache of build ids.
        "--no-buildid-cache",
        "--timestamp",
        // A clock that programs have too, so that a part of a recording can be found by its time.
        "--clockid=CLOCK_MONOTONIC",
        "--sample-cpu",
        // Not before the control pipe says so.
        "--delay=-1",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(format!("--freq={}", options.frequency.0));
    arguments.push(format!("--pid={pid}"));
    arguments.push(format!("--control=fd:{control},{ready}"));
    match options.call_graph {
        CallGraph::FramePointers => arguments.push("--call-graph=fp".to_owned()),
        CallGraph::Dwarf => arguments.push("--call-graph=dwarf".to_owned()),
        CallGraph::None => {}
    }
    arguments
}

/// Leaves perf its pipes, and the program its cores.
fn prepare(spare: &[CpuId], kept: [RawFd; 2]) -> io::Result<()> {
    for fd in kept {
        // SAFETY: changes a flag of this process's descriptor.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    if !spare.is_empty() {
        // Elsewhere it disturbs the program, and is not wrong.
        let _ = kilocore_process::confine(spare);
    }
    Ok(())
}

/// Whether perf says that it records.
fn is_ready(ready: &mut PipeReader) -> bool {
    let mut word = [0; 4];
    ready.read_exact(&mut word).is_ok() && word == *b"ack\n"
}
