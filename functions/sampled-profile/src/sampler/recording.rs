//! Recording a program, whichever way.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use kilocore_linux::{HeldUp, offline_warning};
use kilocore_output_file::OutputFile;
use kilocore_process::{CpuId, End, Input, NotStarted, Start, allowed_cores, run, spare_cores};
use tempfile::TempDir;

use crate::sampler::own::{self, Buffers, Gathered, Host, Kernel, Sampler};
use crate::sampler::perf::Perf;
use crate::sampler::{
    Backend, CallGraph, Event, Hertz, KernelSamples, Nanoseconds, Options, SampleError, Scope,
};

/// What took the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// The program `perf record`.
    Perf,
    /// The sampler of this crate.
    Own,
}

/// Processor time of the program and of all children that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    /// Time in user space.
    pub user: Nanoseconds,
    /// Time in the kernel.
    pub system: Nanoseconds,
}

/// A program that was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recording {
    /// How the program ended.
    pub status: ExitStatus,
    /// Whether a signal asked it to end.
    pub interrupted: bool,
    /// The wall-clock time from the moment before its execution to its end.
    pub elapsed: Nanoseconds,
    /// The processor time that the program used.
    pub cpu_time: CpuTime,
    /// How many samples the profile has.
    pub samples: u64,
    /// How many records were lost because nobody emptied the buffers in time.
    pub lost: u64,
    /// What took the samples.
    pub taker: Taker,
    /// How many samples were taken in a second of a core's time.
    pub frequency: Hertz,
    /// Whether samples were taken in the kernel.
    pub kernel: KernelSamples,
    /// Which processes or cores were sampled.
    pub scope: Scope,
    /// What else a reader of the profile should know.
    pub warnings: Vec<String>,
    /// How many cores the program was allowed.
    pub cores: u32,
    /// The event at every so many of which a sample was taken.
    pub event: Event,
    /// How samples tell their callers.
    pub call_graph: CallGraph,
}

/// Runs a program and records it.
///
/// The program is sampled from its execution to its end, with all threads and processes that it
/// starts. If all goes well, the whole profile appears at once, in the place of one that was there
/// before. Otherwise nothing is left behind.
///
/// # Errors
/// If the program cannot be started or sampled, or the profile cannot be written. That the program
/// failed is no error.
pub fn record(command: &[OsString], options: &Options<'_>) -> Result<Recording, SampleError> {
    let tools = Tools { perf: "perf".into(), host: Host, buffers: Buffers::of(options.call_graph) };
    record_with(&tools, command, options)
}

/// The tools that there are to record with.
#[derive(Debug)]
pub(crate) struct Tools<K> {
    pub(crate) perf: OsString,
    pub(crate) host: K,
    pub(crate) buffers: Buffers,
}

/// What takes the samples of a running program.
#[derive(Debug)]
enum Running {
    Perf(Perf),
    Own(Sampler),
}

/// Records with these tools.
pub(crate) fn record_with(
    tools: &Tools<impl Kernel + Sync>,
    command: &[OsString],
    options: &Options<'_>,
) -> Result<Recording, SampleError> {
    let program = command.first().ok_or(SampleError::NoProgram)?;
    let allowed = allowed_cores();
    check(options, &allowed)?;
    let place = UnfinishedFolder::beside(&options.output)?;
    let cores = options.cores.as_deref();
    let spare = spare_cores(cores);
    // The program begins in the control group of this process.
    let held_up = HeldUp::of(std::process::id());
    let mut attached = None;
    let attach = |pid| {
        let result = attach(tools, pid, command, options, &place, &spare);
        let go = if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        attached = Some(result);
        go
    };
    let ended = run(Start {
        command,
        cores,
        input: if options.empty_input { Input::Empty } else { Input::Inherited },
        output: options.program_output,
        observer: options.observer,
        before_exec: Some(Box::new(attach)),
        ..Start::default()
    });
    let start = |source| SampleError::Start { program: program.clone(), source };
    let (end, (running, mut warnings)) = match (ended, attached) {
        (Ok(end), Some(Ok(attached))) => (end, attached),
        (_, Some(Err(refused))) => return Err(refused),
        (Err(NotStarted::Refused(source)), _) => return Err(start(source)),
        (Ok(_) | Err(NotStarted::HeldBack), _) => {
            return Err(SampleError::Sampler(io::Error::other("it was not attached")));
        }
    };
    let (taker, gathered) = match running {
        Running::Perf(perf) => (Taker::Perf, perf.finish(&place.file(), options)?),
        Running::Own(sampler) => (Taker::Own, sampler.finish()?),
    };
    place.keep(&options.output)?;
    let used = cores.map_or(allowed.len(), <[CpuId]>::len) as u32;
    warnings.extend(held_up.warning(used));
    warnings.extend(offline_warning());
    warnings.extend(shortage(&end, &gathered));
    let Gathered { samples, lost, frequency, kernel, scope, warnings: more } = gathered;
    warnings.extend(more);
    if lost > 0 {
        warnings.push(format!(
            "{lost} records were lost, so that samples are missing, and perhaps processes or the \
             names of some; sample less often"
        ));
    }
    warnings.extend(output_warning(&end));
    Ok(Recording {
        status: end.status,
        interrupted: end.interrupted,
        elapsed: end.elapsed.into(),
        cpu_time: CpuTime { user: end.user.into(), system: end.system.into() },
        samples,
        lost,
        taker,
        frequency,
        kernel,
        scope,
        warnings,
        cores: used,
        event: options.event,
        call_graph: options.call_graph,
    })
}

/// Refuses options that make no sense.
fn check(options: &Options<'_>, allowed: &[CpuId]) -> Result<(), SampleError> {
    if options.frequency.0 == 0 {
        return Err(SampleError::Frequency(options.frequency));
    }
    if options.backend == Backend::Own && !own_can(options.call_graph) {
        return Err(SampleError::DwarfNeedsPerf);
    }
    let foreign = options.cores.iter().flatten().find(|core| !allowed.contains(core));
    if let Some(core) = foreign {
        let allowed: Vec<String> = allowed.iter().map(|core| core.0.to_string()).collect();
        return Err(SampleError::Core { core: core.0, allowed: allowed.join(", ") });
    }
    Ok(())
}

/// Whether the own sampler can tell callers in this way on this architecture.
fn own_can(call_graph: CallGraph) -> bool {
    call_graph != CallGraph::Dwarf || own::USER_REGISTERS.is_some()
}

/// Attaches what takes the samples to a process. Also returns what is worth a warning.
fn attach(
    tools: &Tools<impl Kernel>,
    pid: libc::pid_t,
    command: &[OsString],
    options: &Options<'_>,
    place: &UnfinishedFolder,
    spare: &[CpuId],
) -> Result<(Running, Vec<String>), SampleError> {
    let mut warnings = Vec::new();
    let own = (options.backend != Backend::Perf && own_can(options.call_graph))
        .then(|| own::open(&tools.host, pid, options, tools.buffers));
    let whole = matches!(&own, Some(Ok(opened)) if opened.scope == Scope::Cores);
    if options.backend != Backend::Own && !whole {
        match (Perf::attach(&tools.perf, pid, options, &place.file(), spare), &own) {
            (Ok(perf), _) => return Ok((Running::Perf(perf), warnings)),
            (Err(error), None) => return Err(error),
            (Err(SampleError::NoPerf), _) => {}
            (Err(error), _) => warnings.push(format!("{error}; the own sampler was used")),
        }
    }
    let opened = own.unwrap_or(Err(SampleError::DwarfNeedsPerf))?;
    let failed = |source| SampleError::Output { file: options.output.clone(), source };
    let out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(place.file())
        .map_err(failed)?;
    let words: Vec<Vec<u8>> = command.iter().map(|word| word.as_bytes().to_vec()).collect();
    let spare = spare.to_vec();
    let sampler = Sampler::begin(opened, pid, &words, options, tools.buffers, out, spare)?;
    Ok((Running::Own(sampler), warnings))
}

/// Returns a warning if the profile has far fewer samples than the program's processor time would
/// make.
fn shortage(end: &End, gathered: &Gathered) -> Option<String> {
    /// If no more samples than this are missing, it may be by chance.
    const FEW: f64 = 100.0;
    let time = match gathered.kernel {
        KernelSamples::Included => end.user + end.system,
        KernelSamples::Excluded { .. } => end.user,
    };
    let due = time.as_secs_f64() * f64::from(gathered.frequency.0);
    if gathered.scope == Scope::Cores || due < FEW || gathered.samples as f64 > due / 2.0 {
        return None;
    }
    Some(format!(
        "there are {} samples instead of about {due:.0}: processes that live for less than the \
         time between two samples get hardly any; as root, or with `sysctl \
         kernel.perf_event_paranoid=0`, the own sampler watches whole cores and sees them",
        gathered.samples
    ))
}

/// Returns a warning if part of the program's output could not be passed on.
fn output_warning(end: &End) -> Option<String> {
    let failure = end.output_failure.as_ref()?;
    Some(format!("the program's output could not be passed on: {failure}; it was cut off there"))
}

/// A folder beside the profile's place, if that is a regular file. The profile is in it until it is whole.
#[derive(Debug)]
struct UnfinishedFolder {
    folder: TempDir,
    output: OutputFile,
}

impl UnfinishedFolder {
    fn beside(output: &Path) -> Result<Self, SampleError> {
        let failed = |source| SampleError::Output { file: output.to_owned(), source };
        let named = OutputFile::named(output).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(".kilocore-").tempdir_in(named.folder());
        Ok(Self { folder: folder.map_err(failed)?, output: named })
    }

    /// Where the profile is to be written.
    fn file(&self) -> PathBuf {
        self.folder.path().join("perf.data")
    }

    /// Moves the profile to where it belongs.
    fn keep(self, output: &Path) -> Result<(), SampleError> {
        self.output
            .receive(&self.file())
            .map_err(|source| SampleError::Output { file: output.to_owned(), source })
    }
}
