//! Recording a program.

use std::ffi::OsString;
use std::io::{self, PipeWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{About, Ending, Header, Writer};
use kilocore_linux::perf_events::{online_cores, page_size};
use kilocore_process::{NotStarted, Start, Started, kernel_release, machine, run, utc_date};

use crate::recorder::RecordError;
use crate::recorder::collect::{Collected, Collector, Limits};
use crate::recorder::family::Family;
use crate::recorder::faults::Faults;
use crate::recorder::ledger::Ledger;
use crate::recorder::open::Cores;
use crate::recorder::places::Places;

/// Some of a program's pages go back only after its end: the kernel waits until no core can still
/// look at them.
const SETTLE: Duration = Duration::from_millis(200);

/// How a program's pages are recorded.
#[derive(Debug, Clone)]
pub struct Options {
    /// The trace to write.
    pub output: PathBuf,
    /// How long after the program's start the recording begins.
    pub delay: Option<Duration>,
    /// How long it takes. After that, `SIGTERM` asks the program to end.
    pub duration: Option<Duration>,
    /// How many events are enough. After that, `SIGTERM` asks the program to end.
    pub events: Option<u64>,
}

/// A program that was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recording {
    /// How the program ended.
    pub status: ExitStatus,
    /// What the trace says of itself.
    pub header: Header,
    /// What else its reader should know.
    pub warnings: Vec<String>,
}

/// What the trace cannot show, whatever happens.
const NOT_COVERED: [&str; 5] = [
    "pages that the kernel's own threads or other programs allocate for the program, such as parts \
     of files that were in memory before it",
    "which objects of the kernel are in a page: its allocator for small objects keeps pages when the \
     program is done with them, and gives the program parts of pages that others had allocated",
    "pages that the kernel moves: their old place goes back, and nothing says where they are then",
    "huge pages that were set aside for hugetlbfs",
    "writes of zeroes that the program makes itself, and the filling of pages from files",
];

/// Runs a program and records the pages that it is given and gives back.
///
/// The program is recorded from its execution to its end, with all threads and processes that it
/// starts. If all goes well, the whole trace appears at once, in the place of one that was there
/// before. Otherwise nothing is left behind.
///
/// # Errors
/// If the program cannot be started or recorded, or the trace cannot be written. That the program
/// failed is no error.
pub fn record(command: &[OsString], options: &Options) -> Result<Recording, RecordError> {
    let program = command.first().ok_or(RecordError::NoProgram)?;
    let writer = Writer::create(&options.output)?;
    let places = Places::find()?;
    let cores = Cores::open(&places)?;
    let date = utc_date();
    let mut recorder = None;
    let attach = |pid| {
        let result = Recorder::begin(pid, cores, places, writer, options);
        let go = if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        recorder = Some(result);
        go
    };
    let ended = run(Start { command, before_exec: Some(Box::new(attach)), ..Start::default() });
    let (end, recorder) = match (ended, recorder) {
        (_, Some(Err(refused))) => return Err(refused),
        (Ok(end), Some(Ok(recorder))) => (end, recorder),
        (Err(NotStarted::Refused(source)), _) => {
            return Err(RecordError::Start { program: program.clone(), source });
        }
        (Ok(_) | Err(NotStarted::HeldBack), _) => {
            return Err(RecordError::Recorder(io::Error::other("it was not attached")));
        }
    };
    let mut collected = recorder.finish()?;
    let warnings = warnings(&mut collected);
    let header = collected.balance.writer.finish(About {
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        recorded_at: date,
        kernel: kernel_release(),
        architecture: machine(),
        cpus: online_cores().map_or(0, |cores| cores.len() as u32),
        page_bytes: page_size() as u32,
        how: "the kernel's tracepoints kmem:mm_page_alloc, of the program's threads, and \
              kmem:mm_page_free, of everybody, on all cores"
            .to_owned(),
        delay: options
            .delay
            .map_or_else(Default::default, |delay| crate::Nanoseconds(delay.as_nanos() as u64)),
        duration: collected.duration,
        ending: collected.ending,
        processes: collected.balance.processes,
        threads: collected.balance.threads,
        page_faults: collected.faults,
        unseen: collected.balance.unseen,
        not_covered: NOT_COVERED.map(str::to_owned).to_vec(),
    })?;
    Ok(Recording { status: end.status, header, warnings })
}

/// What is worth a warning, most important first.
fn warnings(collected: &mut Collected) -> Vec<String> {
    let mut warnings = Vec::new();
    let unseen = collected.balance.unseen;
    if unseen.lost > 0 {
        warnings.push(format!(
            "{} records were lost, of this program or of others; if they are many, the buffers were \
             full: end what else runs, or record less of the program",
            unseen.lost
        ));
    }
    if collected.never_began {
        warnings.push("the program ended before the recording was to begin".to_owned());
    }
    if collected.ending == Ending::TooManyPages {
        warnings.push(
            "the recording ended early: the program used more memory than a trace has numbers for"
                .to_owned(),
        );
    }
    warnings.append(&mut collected.warnings);
    warnings
}

/// The thread that collects.
#[derive(Debug)]
struct Recorder {
    stop: PipeWriter,
    collector: Option<JoinHandle<Result<Collected, RecordError>>>,
}

impl Recorder {
    /// Begins, while the process waits to execute the program.
    fn begin(
        pid: libc::pid_t,
        cores: Cores,
        places: Places,
        writer: Writer,
        options: &Options,
    ) -> Result<Self, RecordError> {
        let limits =
            Limits { delay: options.delay, duration: options.duration, events: options.events };
        // The trace is as good without these counts.
        let faults = Faults::of(pid).ok();
        let ledger = Ledger::new(Family::of(pid), writer);
        let program = Started::new(pid);
        let mut collector = Collector::new(cores, faults, places, ledger, limits, program);
        let (stopped, stop) = io::pipe().map_err(RecordError::Recorder)?;
        let begin = collector.begin()?;
        let collector = thread::Builder::new()
            .name("kilocore-pages".to_owned())
            .spawn(move || {
                go_first();
                collector.run(begin, &stopped)
            })
            .map_err(RecordError::Recorder)?;
        Ok(Self { stop, collector: Some(collector) })
    }

    /// Collects the rest, once the program has ended.
    fn finish(mut self) -> Result<Collected, RecordError> {
        let still_runs =
            |collector: &JoinHandle<Result<Collected, RecordError>>| !collector.is_finished();
        if self.collector.as_ref().is_some_and(still_runs) {
            thread::sleep(SETTLE);
        }
        self.tell_to_stop();
        match self.collector.take().map(JoinHandle::join) {
            Some(Ok(collected)) => collected,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("only the end of the recorder takes it"),
        }
    }

    fn tell_to_stop(&mut self) {
        // An empty pipe takes a byte.
        let _ = self.stop.write_all(&[1]);
    }
}

impl Drop for Recorder {
    /// Ends the thread of a program that was not started after all.
    fn drop(&mut self) {
        self.tell_to_stop();
        // What it had gathered, and why it failed, is nobody's concern.
        let _ = self.collector.take().map(JoinHandle::join);
    }
}

/// Lets the calling thread have a core before others, if that is allowed: whoever empties buffers
/// too late loses records.
fn go_first() {
    const SOONER_BY: libc::c_int = 10;
    // SAFETY: integers only; 0 is the calling thread. If it fails, which looks like -1, little is
    // wrong. What is below the least is taken for the least.
    unsafe {
        let now = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, now - SOONER_BY);
    }
}
