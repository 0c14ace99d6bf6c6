//! Running the program, and giving its stream to whoever wants it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::thread;

use kilocore_process::{Input, NotStarted, Output, Start, allowed_cores, run, utc_date};
use kilocore_qemu::{self as qemu, Program, QemuError};
use kilocore_references::layout::Sizes;
use kilocore_references::{About, PageNumber};

use crate::RecordError;
use crate::allocations::{self, Allocations};
use crate::memory::Memory;
use crate::plugin::{Told, plugin};
use crate::stream::{Over, Stream};

/// How a program's references are recorded.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// The path of `libkilocore_numa_qemu.so`, the plugin.
    pub library: PathBuf,
    /// The program `qemu-x86_64`. If none is named, it is looked for as programs are.
    pub qemu: Option<PathBuf>,
    /// After how many instructions of a thread its quantum ends. Within a quantum the order of
    /// references is lost; shorter quanta make more events. At least 1 and at most 2^24 count.
    pub quantum: u32,
    /// How many threads are recorded at a time: at most 4096.
    pub threads: u32,
    /// How many slots the ring of each thread has: a power of two from 256 to 2^24. A slot is 16 bytes,
    /// and a burst takes one.
    pub slots: u32,
    /// The processor that the program finds, as QEMU names it. `max` has all that QEMU can do: it costs
    /// nothing, and programs take the ways that they take on new processors. QEMU's own choice, if none is
    /// named, is an old one, on which programs for newer ones end with `SIGILL`.
    pub cpu: Option<String>,
    /// Whether the program's locks are traced as well, for [`trace_locks`](crate::trace_locks).
    pub locks: bool,
    /// How many instructions a processor looks ahead: lines that are used within so many are fetched at the
    /// same time, unless the address of one comes from another. For [`trace_locks`](crate::trace_locks).
    /// Processors of the years from 2015 to 2024 look about 200 to 600 instructions ahead.
    pub window: u32,
    /// Whether it is recorded who allocates the program's memory, and how. It takes the plugin and a library
    /// under the program. Not together with `locks`.
    pub allocations: Option<Allocations>,
    /// Where the program's output goes.
    pub output: Output<'a>,
    /// Whether its standard input is empty instead of this process's.
    pub empty_input: bool,
}

impl Options<'_> {
    /// The usual way, with the plugin from here.
    #[must_use]
    pub fn new(library: PathBuf) -> Self {
        Self {
            library,
            qemu: None,
            quantum: 2_000,
            threads: 512,
            slots: 1 << 14,
            cpu: Some("max".to_owned()),
            locks: false,
            window: 256,
            allocations: None,
            output: Output::Inherited,
            empty_input: false,
        }
    }
}

/// A program that was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded<T> {
    /// What was made of its stream.
    pub made: T,
    /// How the program ended: as it would have without QEMU.
    pub status: ExitStatus,
    /// Whether somebody asked it to end.
    pub interrupted: bool,
    /// Threads that were not recorded, because too many lived at a time.
    pub threads_unrecorded: u64,
}

/// What a stream cannot show, whatever happens.
const NOT_COVERED: [&str; 4] = [
    "loads and stores of the kernel for the program, such as those of read and write",
    "processes that the program forks, and programs that are executed instead of it",
    "memory that is attached with shmat",
    "the order of the references within a quantum",
];

/// Finds out whether a program can be recorded, and runs nothing of it.
///
/// # Errors
/// If it cannot: it is no program for this, or QEMU or the plugin is missing.
pub fn check(command: &[OsString], options: &Options<'_>) -> Result<(), RecordError> {
    prepare(command, options).map(drop)
}

/// The program, QEMU, and the plugin.
fn prepare(
    command: &[OsString],
    options: &Options<'_>,
) -> Result<(Program, PathBuf, PathBuf), RecordError> {
    let (name, arguments) = command.split_first().ok_or(RecordError::NoProgram)?;
    let program = Program::find(name, arguments).map_err(QemuError::from)?;
    let emulator = qemu::find(options.qemu.as_deref())?;
    Ok((program, emulator, qemu::library(&options.library)?))
}

/// Runs a program and calls `consume` with the stream of what it does, while it runs.
///
/// The program has this process's standard input, output and error, unless the options say otherwise. If
/// this process gets a `SIGINT`, `SIGTERM`, `SIGHUP` or `SIGQUIT` meanwhile, the program gets it. If
/// `consume` returns before the program has ended, the program goes on and is recorded no more.
///
/// # Errors
/// If the program cannot be run under QEMU with the plugin. How it ended is no error.
pub fn record<T>(
    command: &[OsString],
    options: &Options<'_>,
    consume: impl FnOnce(&mut Stream<'_>) -> T,
) -> Result<Recorded<T>, RecordError> {
    let (program, emulator, library) = prepare(command, options)?;
    let sizes = Sizes { rings: options.threads, slots: options.slots };
    let memory = Memory::new(sizes, quantum(options)).map_err(RecordError::Memory)?;
    let mut about = about(command, options);
    let sites = options.allocations.as_ref().filter(|_| !options.locks);
    let variables = match sites {
        None => Vec::new(),
        Some(sites) => preloaded(sites, &program, &mut about)?,
    };
    let told = Told {
        shared: &memory.name(),
        window: options.locks.then_some(options.window),
        sites: sites.is_some(),
    };
    let plugin = plugin(&library, &told);
    let command =
        qemu::command(&emulator, options.cpu.as_deref(), None, &plugin, variables, program);
    let over = Over::default();
    thread::scope(|scope| {
        let runner = || {
            let input = if options.empty_input { Input::Empty } else { Input::Inherited };
            let end =
                run(Start { command: &command, output: options.output, input, ..Start::default() });
            over.set(end.as_ref().ok().map(|end| end.status), &memory);
            end
        };
        let runner =
            thread::Builder::new().spawn_scoped(scope, runner).map_err(RecordError::Recorder)?;
        let made = consume(&mut Stream::new(&memory, &over, &about));
        let end = match runner.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let end = end.map_err(|reason| match reason {
            NotStarted::Refused(source) => QemuError::Start { qemu: emulator, source }.into(),
            held @ NotStarted::HeldBack => RecordError::Recorder(held.into()),
        })?;
        let header = memory.shared().header();
        if header.program.load(Ordering::Acquire) == 0 {
            return Err(RecordError::NotBegun { status: end.status });
        }
        let threads_unrecorded = header.threads_unrecorded.load(Ordering::Relaxed);
        let (status, interrupted) = (end.status, end.interrupted);
        Ok(Recorded { made, status, interrupted, threads_unrecorded })
    })
}

/// What to put into the program's environment so that it tells of its blocks. If it cannot, that is not
/// covered.
fn preloaded(
    sites: &Allocations,
    program: &Program,
    about: &mut About,
) -> Result<Vec<OsString>, RecordError> {
    let library = qemu::library(&sites.library)?;
    let others = std::env::var_os("LD_PRELOAD");
    let variables = allocations::variables(sites, &library, &program.file, others.as_deref());
    Ok(variables.unwrap_or_else(|why| {
        about.not_covered.push(allocations::not_covered(why));
        Vec::new()
    }))
}

/// More would not fit into the counts of a burst, if all instructions did nothing else than load.
fn quantum(options: &Options<'_>) -> u32 {
    options.quantum.clamp(1, 1 << 24)
}

fn about(command: &[OsString], options: &Options<'_>) -> About {
    About {
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        recorded_at: utc_date(),
        quantum: quantum(options),
        page_bytes: PageNumber::BYTES as u32,
        cpus: allowed_cores().len() as u32,
        how: "QEMU's user mode, with a plugin that counts loads and stores of each page".to_owned(),
        not_covered: NOT_COVERED.map(str::to_owned).to_vec(),
    }
}
