//! One run of a program on a simulated machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use kilocore_emulation_orders::{MOST_BYTES, Orders, Report};
use kilocore_process::{
    CpuId, Input, MOST_AT_A_TIME, NotStarted, Output, Start, allowed_cores, input_is_a_file, run,
    sized_for,
};
use kilocore_qemu::{Plugin, Program, QemuError, command};

use crate::environment::{OWN, environment};
use crate::kept_run::Question;
use crate::names::{Names, Symbols};
use crate::own_output::OwnOutput;
use crate::question::Run;
use crate::{EmulateError, Emulator, Point, stuck, window};

/// A run that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// How the program is to be emulated.
    pub orders: Orders,
    /// Variables of the program's environment, beside those of this process's. Those that put libraries under it
    /// belong here: this process's own are put under QEMU as well.
    pub variables: Vec<(OsString, OsString)>,
    /// The locks that these put under it, if there are any. That is for people.
    pub locks: Option<String>,
}

impl From<Orders> for Asked {
    fn from(orders: Orders) -> Self {
        Self { orders, variables: Vec::new(), locks: None }
    }
}

/// A program as it is about to be run.
struct Ready {
    program: Program,
    variables: Vec<OsString>,
}

impl Ready {
    fn new(
        words: &[OsString],
        Asked { orders, variables, .. }: &Asked,
    ) -> Result<Self, EmulateError> {
        let words = sized_for(words, orders.cores);
        let (name, arguments) = words.split_first().ok_or(EmulateError::NoProgram)?;
        let program = Program::find(name, arguments).map_err(QemuError::from)?;
        Ok(Self { program, variables: environment(variables, orders.cores)? })
    }

    fn run<'a>(&'a self, asked: &'a Asked, emulator: &'a Emulator, output: Output<'a>) -> Run<'a> {
        let Self { program, variables } = self;
        Run { emulator, orders: &asked.orders, program, variables, output }
    }
}

/// What is known of a run with [repeated](Input::Repeated) input before it begins, if all of it is.
pub(crate) fn question_of(
    words: &[OsString],
    asked: &Asked,
    emulator: &Emulator,
    output: Output<'_>,
) -> Result<Option<Question>, EmulateError> {
    let ready = Ready::new(words, asked)?;
    Ok(if input_is_a_file() { None } else { ready.run(asked, emulator, output).question() })
}

/// Runs a program as it is asked for. `{cores}` and `{threads}` in its command become the number of cores, and so
/// does the variable `OMP_NUM_THREADS`, unless it is set. If the result is [kept](Emulator::keeping), the program is
/// not run, and prints nothing.
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
/// program's input is the file that is this process's own, from its beginning, or empty if that is none. A run that ends badly while others run beside it is repeated by itself, after them: the
/// program may need files to itself.
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
    emulate_on(words, asked, emulator, output, MOST_AT_A_TIME, done)
}

/// The same, so many at a time at most.
pub(crate) fn emulate_on(
    words: &[OsString],
    asked: &[Asked],
    emulator: &Emulator,
    output: Output<'_>,
    most: usize,
    done: &(dyn Fn(&Point) -> bool + Sync),
) -> Result<Vec<Point>, EmulateError> {
    let mut by_effort: Vec<usize> = (0..asked.len()).collect();
    by_effort.sort_by_key(|&index| asked[index].orders.cores);
    let left = Mutex::new(by_effort);
    let results: Mutex<Vec<Option<Result<Point, EmulateError>>>> =
        Mutex::new(asked.iter().map(|_| None).collect());
    let again = Mutex::new(Vec::new());
    let work = |core: CpuId, alone: bool| {
        let mut symbols = Symbols::default();
        while let Some(index) = { lock(&left).pop() } {
            let point = on_core(
                words,
                &asked[index],
                emulator,
                output,
                Input::Repeated,
                Some(core),
                &mut symbols,
            );
            let failed = |point: &Point| point.ended_badly() && !point.interrupted;
            if !alone && point.as_ref().is_ok_and(failed) {
                lock(&again).push(index);
                continue;
            }
            if !point.as_ref().is_ok_and(done) {
                lock(&left).clear();
                lock(&again).clear();
            }
            lock(&results)[index] = Some(point);
        }
    };
    let mut cores = allowed_cores();
    cores.truncate(asked.len().min(most).min(MOST_AT_A_TIME));
    let work = &work;
    thread::scope(|scope| {
        for &core in &cores {
            let alone = cores.len() == 1;
            scope.spawn(move || work(core, alone));
        }
    });
    lock(&left).append(&mut lock(&again));
    if let Some(&core) = cores.last() {
        work(core, true);
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program on one core of the host, unless its result is known.
fn on_core(
    words: &[OsString],
    asked: &Asked,
    emulator: &Emulator,
    output: Output<'_>,
    input: Input,
    core: Option<CpuId>,
    symbols: &mut Symbols,
) -> Result<Point, EmulateError> {
    let ready = Ready::new(words, asked)?;
    let asked = ready.run(asked, emulator, output);
    // What is known of a run is known by the names of its files.
    let is_given_a_file = input == Input::Repeated && input_is_a_file();
    let kept = emulator.runs().filter(|_| input != Input::Inherited && !is_given_a_file);
    let kept = kept.and_then(|runs| Some((runs, asked.question()?)));
    if let Some((runs, question)) = &kept
        && let Some(point) = runs.answer(question, symbols)
    {
        return Ok(point);
    }
    let mut point = run_under_qemu(&asked, input, core, symbols)?;
    if is_given_a_file && emulator.runs().is_some() {
        point.for_once = Some(
            "its standard input is a file; name that file to it instead, if it takes names"
                .to_owned(),
        );
    }
    if let Some((runs, question)) = &kept
        && !point.ended_badly()
    {
        // What a link leads to may have become another program meanwhile.
        let is_same = asked.question().as_ref() == Some(question);
        point.for_once = match is_same {
            true => runs.keep(question, &point),
            false => Some("what it is was changed while it ran".to_owned()),
        };
    }
    Ok(point)
}

/// Runs a program, whatever is known of it.
fn run_under_qemu(
    &Run { emulator, orders, program, variables, output }: &Run<'_>,
    input: Input,
    core: Option<CpuId>,
    symbols: &mut Symbols,
) -> Result<Point, EmulateError> {
    let folder = tempfile::tempdir().map_err(EmulateError::Files)?;
    let (ordered, told) = (folder.path().join("orders"), folder.path().join("report"));
    let part = window::found(&orders.window, &program.file)?;
    let exact = Orders { window: part, ..orders.clone() };
    write(&ordered, &exact.to_bytes()).map_err(EmulateError::Files)?;
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
    let command = command(
        &emulator.qemu,
        Some(&emulator.cpu),
        Some(orders.seed),
        &plugin,
        variables.to_vec(),
        program.clone(),
    );
    let own = OwnOutput::of(output).map_err(EmulateError::Files)?;
    let end = run(Start {
        command: &command,
        without: &OWN,
        output: own.output(),
        input,
        cores: core.as_ref().map(std::slice::from_ref),
        beside_others: true,
        ends_for_certain: true,
        ..Start::default()
    });
    let end = end.map_err(|reason| match reason {
        NotStarted::Refused(source) => {
            QemuError::Start { qemu: emulator.qemu.clone(), source }.into()
        }
        held @ NotStarted::HeldBack => EmulateError::Files(held.into()),
    })?;
    let bytes = read(&mut report).map_err(EmulateError::Files)?;
    let report = match (Report::read(&bytes), end.told_by) {
        (Ok(report), _) => report,
        // Whoever was ended in the middle has told nothing, or half of it.
        (Err(_), Some(signal)) => return Err(EmulateError::Interrupted { signal }),
        (Err(_), None) if bytes.is_empty() => {
            return Err(EmulateError::NoReport { status: end.status });
        }
        (Err(error), None) => return Err(error.into()),
    };
    if let Some(mut why) = report.failure {
        why.push_str(&stuck::said(&report.stuck, &mut Names::new(&report.files, symbols)));
        return Err(EmulateError::Failed { cores: orders.cores, why });
    }
    if end.status.success() && !end.interrupted {
        window::check(&orders.window, &exact.window, &report)?;
    }
    let computed = end.user + end.system;
    Ok(Point {
        interrupted: end.interrupted,
        ..Point::of(report, end.status, end.elapsed, computed, symbols)
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
