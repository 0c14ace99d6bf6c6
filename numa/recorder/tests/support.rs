//! Compiling programs, running them, and adding up what their streams say.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use kilocore_process::Output;
use kilocore_reference_recorder::{Options, Stream, record};
use kilocore_references::{Burst, Ending, Event, EventKind, Instructions, PageNumber, ThreadId};
use tempfile::TempDir;

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room")
}

/// Compiles one of `programs`.
pub(crate) fn compiled(folder: &Path, source: &str) -> PathBuf {
    let compiler = if source.ends_with(".c") { "cc" } else { "c++" };
    built(folder, source, &[compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-fopenmp"])
}

/// Builds one of `programs` with a command, into this folder.
pub(crate) fn built(folder: &Path, source: &str, command: &[&str]) -> PathBuf {
    let program = folder.join(source).with_extension("");
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs"));
    let mut compiler = Command::new(command[0]);
    compiler.args(&command[1..]).arg("-o").arg(&program).arg(sources.join(source));
    kilocore_shipped::output_of(&mut compiler);
    program
}

pub(crate) fn words(program: &Path, arguments: &[&str]) -> Vec<OsString> {
    let arguments = arguments.iter().map(OsString::from);
    [program.as_os_str().to_owned()].into_iter().chain(arguments).collect()
}

pub(crate) fn options() -> Options<'static> {
    Options::new(kilocore_shipped::folder().join("libkilocore_numa_qemu.so"))
}

/// A program that was run.
#[derive(Debug)]
pub(crate) struct RunResult<T> {
    pub(crate) made: T,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) threads_unrecorded: u64,
}

/// Runs a program under QEMU and gives its stream to `consume`.
pub(crate) fn ran<T>(
    command: &[OsString],
    options: Options<'_>,
    consume: impl FnOnce(&mut Stream<'_>) -> T,
) -> RunResult<T> {
    let folder = folder();
    let create = |name| File::create(folder.path().join(name)).expect("there is room");
    let (stdout, stderr) = (create("out"), create("err"));
    let output = Output::To { stdout: stdout.as_fd(), stderr: stderr.as_fd() };
    let options = Options { output, empty_input: true, ..options };
    let recorded = record(command, &options, consume).expect("it can be recorded");
    let stdout = std::fs::read(folder.path().join("out")).expect("it was written");
    let threads_unrecorded = recorded.threads_unrecorded;
    RunResult { made: recorded.made, status: recorded.status, stdout, threads_unrecorded }
}

/// Runs it and adds up.
pub(crate) fn summed(command: &[OsString], options: Options<'_>) -> RunResult<Sums> {
    ran(command, options, |stream| {
        let mut sums = Sums::default();
        for event in stream.by_ref() {
            sums.add(&event.expect("the stream is whole"));
        }
        sums.ending = stream.ending();
        sums.replaced_by = stream.replaced_by().map(str::to_owned);
        sums
    })
}

/// The number that a program printed first.
pub(crate) fn first_page(stdout: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(stdout);
    text.lines().next().and_then(|line| line.parse().ok()).expect("it prints a page's number")
}

/// What a stream amounts to. Events have to come as it is promised.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) counts: HashMap<(ThreadId, PageNumber), (u64, u64)>,
    pub(crate) instructions: u64,
    pub(crate) started: usize,
    pub(crate) ended: usize,
    pub(crate) forked: usize,
    pub(crate) replaced: usize,
    pub(crate) ending: Ending,
    pub(crate) replaced_by: Option<String>,
    clocks: HashMap<ThreadId, Instructions>,
}

impl Sums {
    fn add(&mut self, event: &Event) {
        let known = self.clocks.contains_key(&event.thread);
        assert_eq!(known, event.kind != EventKind::Started, "{event:?}");
        let clock = self.clocks.entry(event.thread).or_insert(event.at);
        assert!(*clock <= event.at, "{event:?} after {clock:?}");
        *clock = event.at;
        match &event.kind {
            EventKind::Burst(Burst { page, reads, writes }) => {
                assert!(*reads + *writes > 0, "{event:?}");
                let counts = self.counts.entry((event.thread, *page)).or_default();
                counts.0 += u64::from(*reads);
                counts.1 += u64::from(*writes);
            }
            EventKind::Quantum { instructions } => self.instructions += u64::from(*instructions),
            EventKind::Started => self.started += 1,
            EventKind::Ended => self.ended += 1,
            EventKind::Forked => self.forked += 1,
            EventKind::Replaced => self.replaced += 1,
            _ => {}
        }
    }

    /// The loads and stores of a page by one thread.
    pub(crate) fn of(&self, thread: u32, page: u64) -> (u64, u64) {
        self.counts.get(&(ThreadId(thread), PageNumber(page))).copied().unwrap_or_default()
    }

    /// The loads and stores of a page by all threads.
    pub(crate) fn of_all(&self, page: u64) -> (u64, u64) {
        let of_page = self.counts.iter().filter(|((_, it), _)| it.0 == page);
        of_page.fold((0, 0), |sum, (_, counts)| (sum.0 + counts.0, sum.1 + counts.1))
    }
}
