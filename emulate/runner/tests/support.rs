//! Compiling programs and emulating them.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use kilocore_emulation::{Asked, EmulateError, Emulator, Point, emulate};
use kilocore_emulation_orders::{Orders, SeenFile, Window};
use kilocore_process::{Input, Output};

pub(crate) const MACHINE: &str = "opteron-6344-4s";
/// The variable with the folders in which programs look for libraries first.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// The program `tests/programs/NAME.c`, compiled once, with these options. It is not as young as that its next change
/// could be missed: such a run is not the same as a later one in what it says of its files.
pub(crate) fn program(name: &str, options: &[&str]) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    static ONE: Mutex<()> = Mutex::new(());
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("there is room")).path();
    let _one = ONE.lock();
    let program = folder.join(format!("{name}{}", options.concat()));
    if !program.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
        let compiled = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
            .arg(&program)
            .arg(source.with_extension("c"))
            .args(options)
            .status();
        assert!(compiled.expect("there is a compiler").success(), "{name} compiles");
    }
    settle(&program);
    program
}

/// Waits until a change of a file would be seen by its times, which go on by themselves.
pub(crate) fn settle(path: &Path) {
    while SeenFile::at(path.to_str().expect("plain"), true).is_err() {
        std::thread::yield_now();
    }
}

pub(crate) fn emulator() -> Emulator {
    let library = kilocore_shipped::folder().join("libkilocore_emulate_qemu.so");
    Emulator::new(&library, None).expect("QEMU is installed")
}

/// Emulates a program, and returns what it has printed.
pub(crate) fn try_on(
    cores: u32,
    program: &Path,
    arguments: &[&str],
) -> Result<(Point, String), EmulateError> {
    try_with(cores, Window::default(), Vec::new(), program, arguments)
}

/// The same with another lock in the place of its mutexes, for one that ends well.
pub(crate) fn under(lock: &str, cores: u32, program: &Path, arguments: &[&str]) -> (Point, String) {
    let library = kilocore_shipped::folder().join("libkilocore_run.so");
    let mut variables = kilocore_process::preload_environment(&library);
    variables.push(("KILOCORE_LOCK".into(), lock.into()));
    let whole = Window::default();
    well(cores, arguments, try_with(cores, whole, variables, program, arguments))
}

/// The same with pages on all nodes in turn, for one that ends well.
pub(crate) fn interleaved(cores: u32, program: &Path, arguments: &[&str]) -> Point {
    let orders = Orders { interleaved: true, ..orders(cores) };
    well(cores, arguments, try_as_asked(orders.into(), program, arguments)).0
}

/// One that ends well on a machine on which a broadcast wakes one waiter and has the others wait for the mutex, or not.
pub(crate) fn requeued(
    is: bool,
    cores: u32,
    program: &Path,
    arguments: &[&str],
) -> (Point, String) {
    let mut orders = orders(cores);
    let figure = orders.machine.os.requeued_broadcasts.as_mut().expect("it is told");
    figure.value = f64::from(u8::from(is));
    well(cores, arguments, try_as_asked(orders.into(), program, arguments))
}

/// One that ends well, with the calls that led to where its time went.
pub(crate) fn with_stacks(cores: u32, program: &Path) -> Point {
    let orders = Orders { stacks: true, ..orders(cores) };
    well(cores, &[], try_as_asked(orders.into(), program, &[])).0
}

/// What came out and was printed, of a program that has ended well.
fn well(
    cores: u32,
    arguments: &[&str],
    tried: Result<(Point, String), EmulateError>,
) -> (Point, String) {
    let (point, text) = tried.expect("it is emulated");
    assert!(point.status.success(), "{arguments:?} on {cores}: {} {text}", point.status);
    (point, text)
}

pub(crate) fn orders(cores: u32) -> Orders {
    Orders::new(kilocore_machine::find(MACHINE).expect("built in"), cores)
}

/// A part of a run, from here to there.
pub(crate) fn try_part(
    window: Window,
    cores: u32,
    program: &Path,
    arguments: &[&str],
) -> Result<(Point, String), EmulateError> {
    try_with(cores, window, Vec::new(), program, arguments)
}

fn try_with(
    cores: u32,
    window: Window,
    variables: Vec<(OsString, OsString)>,
    program: &Path,
    arguments: &[&str],
) -> Result<(Point, String), EmulateError> {
    let orders = Orders { window, ..orders(cores) };
    try_as_asked(Asked { variables, ..orders.into() }, program, arguments)
}

fn try_as_asked(
    asked: Asked,
    program: &Path,
    arguments: &[&str],
) -> Result<(Point, String), EmulateError> {
    let mut words: Vec<OsString> = vec![program.into()];
    words.extend(arguments.iter().map(OsString::from));
    with(&words, &asked, &emulator())
}

/// Emulates a command with this emulator, and returns what it has printed. Cargo adds the folder that it builds in to
/// those in which programs look for libraries; when somebody builds there, the run would depend on that.
pub(crate) fn with(
    words: &[OsString],
    asked: &Asked,
    emulator: &Emulator,
) -> Result<(Point, String), EmulateError> {
    let mut asked = asked.clone();
    if asked.variables.iter().all(|(name, _)| name != LIBRARIES) {
        asked.variables.push((LIBRARIES.into(), OsString::new()));
    }
    let mut printed: File = tempfile::tempfile().expect("there is room");
    let other = printed.try_clone().expect("a descriptor");
    let output = Output::To {
        stdout: std::os::fd::AsFd::as_fd(&other),
        stderr: std::os::fd::AsFd::as_fd(&other),
    };
    let point = emulate(words, &asked, emulator, output, Input::Empty)?;
    let mut text = String::new();
    printed.rewind().expect("a file");
    printed.read_to_string(&mut text).expect("text");
    Ok((point, text))
}

/// The same for one that ends well.
pub(crate) fn on(cores: u32, program: &Path, arguments: &[&str]) -> (Point, String) {
    well(cores, arguments, try_on(cores, program, arguments))
}
