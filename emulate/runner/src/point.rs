//! One run of a program on a simulated machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kilocore_emulation_orders::{MOST_BYTES, Orders, Report};
use kilocore_process::{
    CpuId, Input, MOST_AT_A_TIME, NotStarted, Output, Start, allowed_cores, run, sized_for,
};
use kilocore_qemu::{Plugin, Program, QemuError, command, find};

use crate::environment::environment;
use crate::names::{Names, Symbols};
use crate::{Causes, EmulateError, StackTimes};

/// What emulates: QEMU with the plugin.
#[derive(Debug, Clone)]
pub struct Emulator {
    library: PathBuf,
    qemu: PathBuf,
    cpu: String,
}

/// A run that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// How the program is to be emulated.
    pub orders: Orders,
    /// Variables of the program's environment, beside those of this process's. Those that put libraries under it
    /// belong here: this process's own are put under QEMU as well.
    pub variables: Vec<(OsString, OsString)>,
}

impl From<Orders> for Asked {
    fn from(orders: Orders) -> Self {
        Self { orders, variables: Vec::new() }
    }
}

/// A run of a program on a simulated machine.
#[derive(Debug, Clone)]
pub struct Point {
    /// What happened.
    pub report: Report,
    /// Where the time went.
    pub causes: Causes,
    /// The same by call stack, if that was asked for.
    pub stacks: StackTimes,
    /// How the program ended.
    pub status: ExitStatus,
    /// Whether somebody asked it to end.
    pub interrupted: bool,
    /// How long that took here, by the clock on the wall.
    pub took: Duration,
    /// Processor time that it took here.
    pub computed: Duration,
}

impl Point {
    /// Whether the program ended in another way than it should.
    #[must_use]
    pub fn ended_badly(&self) -> bool {
        self.interrupted || !self.status.success()
    }
}

impl Emulator {
    /// That with the plugin `libkilocore_emulate_qemu.so` from here, with this QEMU or the one that is installed. The
    /// program finds a processor that has all that QEMU can do.
    ///
    /// # Errors
    /// If the plugin or QEMU is missing, or QEMU takes no plugins.
    pub fn new(library: &Path, qemu: Option<&Path>) -> Result<Self, EmulateError> {
        let library = kilocore_qemu::library(library)?;
        Ok(Self { library, qemu: find(qemu)?, cpu: "max".to_owned() })
    }

    /// With another processor, as QEMU names it.
    #[must_use]
    pub fn with_processor(self, cpu: String) -> Self {
        Self { cpu, ..self }
    }
}

/// Runs a program as it is asked for. `{cores}` and `{threads}` in its command become the number of cores, and so
/// does the variable `OMP_NUM_THREADS`, unless it is set.
///
/// # Errors
/// If the program cannot be run, or not to its end on the simulated machine. How it ended is no error.
pub fn emulate(
    words: &[OsString],
    asked: &Asked,
    emulator: &Emulator,
    output: Output<'_>,
    input: Input,
) -> Result<Point, EmulateError> {
    let core = allowed_cores().last().copied();
    on_core(words, asked, emulator, output, input, core, &mut Symbols::default())
}

/// Runs a program as it is asked for each time, on as many cores of the host at a time as may be used, those with
/// the most simulated cores first. `done` is called after each run, from any thread, and says whether to go on. The
/// program's input is empty.
///
/// # Errors
/// That of the first run that failed: others are not begun then.
pub fn emulate_all(
    words: &[OsString],
    asked: &[Asked],
    emulator: &Emulator,
    output: Output<'_>,
    done: &(dyn Fn(&Point) -> bool + Sync),
) -> Result<Vec<Point>, EmulateError> {
    let mut by_effort: Vec<usize> = (0..asked.len()).collect();
    by_effort.sort_by_key(|&index| asked[index].orders.cores);
    let left = Mutex::new(by_effort);
    let results: Mutex<Vec<Option<Result<Point, EmulateError>>>> =
        Mutex::new(asked.iter().map(|_| None).collect());
    let work = |core: CpuId| {
        let mut symbols = Symbols::default();
        while let Some(index) = { lock(&left).pop() } {
            let point = on_core(
                words,
                &asked[index],
                emulator,
                output,
                Input::Empty,
                Some(core),
                &mut symbols,
            );
            if !point.as_ref().is_ok_and(done) {
                lock(&left).clear();
            }
            lock(&results)[index] = Some(point);
        }
    };
    thread::scope(|scope| {
        for core in allowed_cores().into_iter().take(asked.len().min(MOST_AT_A_TIME)) {
            scope.spawn(move || work(core));
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program on one core of the host.
fn on_core(
    words: &[OsString],
    Asked { orders, variables }: &Asked,
    emulator: &Emulator,
    output: Output<'_>,
    input: Input,
    core: Option<CpuId>,
    symbols: &mut Symbols,
) -> Result<Point, EmulateError> {
    let words = sized_for(words, orders.cores);
    let (name, arguments) = words.split_first().ok_or(EmulateError::NoProgram)?;
    let program = Program::find(name, arguments).map_err(QemuError::from)?;
    let folder = tempfile::tempdir().map_err(EmulateError::Files)?;
    let (ordered, told) = (folder.path().join("orders"), folder.path().join("report"));
    write(&ordered, &orders.to_bytes()).map_err(EmulateError::Files)?;
    // It is read by this descriptor, whatever becomes of the name.
    let report = File::options().read(true).write(true).create_new(true).open(&told);
    let mut report = report.map_err(EmulateError::Files)?;
    let argument = |key: &str, path: &Path| {
        let mut word = OsString::from(key);
        word.push(path);
        word
    };
    let plugin = Plugin {
        library: &emulator.library,
        arguments: vec![argument("orders=", &ordered), argument("report=", &told)],
    };
    let variables = environment(variables, orders.cores)?;
    let command = command(
        &emulator.qemu,
        Some(&emulator.cpu),
        Some(orders.seed),
        &plugin,
        variables,
        program,
    );
    let end = run(Start {
        command: &command,
        output,
        input,
        cores: core.as_ref().map(std::slice::from_ref),
        beside_others: true,
        ..Start::default()
    });
    let end = end.map_err(|reason| match reason {
        NotStarted::Refused(source) => {
            QemuError::Start { qemu: emulator.qemu.clone(), source }.into()
        }
        held @ NotStarted::HeldBack => EmulateError::Files(held.into()),
    })?;
    let bytes = read(&mut report).map_err(EmulateError::Files)?;
    if bytes.is_empty() {
        return Err(EmulateError::NoReport { status: end.status });
    }
    let report = Report::read(&bytes)?;
    if let Some(why) = report.failure {
        return Err(EmulateError::Failed { cores: orders.cores, why });
    }
    Ok(Point {
        causes: Causes::of(&report, symbols),
        stacks: StackTimes::of(&report, &mut Names::new(&report.files, symbols)),
        report,
        status: end.status,
        interrupted: end.interrupted,
        took: end.elapsed,
        computed: end.user + end.system,
    })
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    File::options().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// Reads no more than a report has at most, and a byte by which one is seen to be larger.
fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
