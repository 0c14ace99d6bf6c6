//! Files that somebody else can change, or that name files of somebody else.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use kilocore_symbols::{Binary, PerfMap};

const SOURCE: &str = "
static int plus(int a) { return a + 1; }
static inline __attribute__((always_inline)) int inlined(int a) { return a * 3; }
__attribute__((noinline)) int outer(int a) { return inlined(a) ^ plus(a); }
int main(int argc, char **argv) { return outer(argc); }
";

/// Compiles a program whose debugging information lies in the other file that is returned.
fn split(directory: &Path) -> (PathBuf, PathBuf) {
    fs::write(directory.join("source.c"), SOURCE).expect("there is room");
    let gcc = |options: &[&str]| {
        let status = Command::new("gcc").args(options).current_dir(directory).status();
        assert!(status.expect("gcc runs").success());
    };
    gcc(&["-g", "-O1", "-gsplit-dwarf", "-c", "source.c", "-o", "source.o"]);
    gcc(&["source.o", "-o", "program"]);
    (directory.join("program"), directory.join("source.dwo"))
}

/// The names of what was inlined into `outer` or is called there.
fn names(program: &Path) -> Vec<String> {
    let binary = Binary::open(program).expect("it is one");
    let outer = binary
        .functions(&|name| (name == "outer").then_some(0))
        .pop()
        .map(|(_, code)| code)
        .expect("it is there");
    outer.flat_map(|at| binary.frames(at)).map(|frame| frame.function).collect()
}

fn knows_what_is_inlined(program: &Path) -> bool {
    names(program).iter().any(|name| name == "inlined")
}

fn is_root() -> bool {
    // SAFETY: the call takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        eprintln!("left out: only root can give a file to another user");
    }
    is_root
}

fn pipe(path: &Path) {
    let name = CString::new(path.as_os_str().as_bytes()).expect("a plain name");
    // SAFETY: the name ends with a zero and lives until the call returns.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o666) }, 0);
}

/// Notices when something is opened.
struct Watch(OwnedFd);

impl Watch {
    fn of(path: &Path) -> Self {
        let name = CString::new(path.as_os_str().as_bytes()).expect("a plain name");
        // SAFETY: takes a number, and returns a new descriptor or -1.
        let fd = unsafe { libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) };
        assert!(fd >= 0);
        // SAFETY: the kernel has just made the descriptor, so nobody else owns it.
        let watch = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        // SAFETY: the descriptor is open, and the name ends with a zero and lives until the call returns.
        assert!(unsafe { libc::inotify_add_watch(fd, name.as_ptr(), libc::IN_OPEN) } >= 0);
        watch
    }

    fn saw_it_opened(&self) -> bool {
        let mut room = [0_u8; 4096];
        // SAFETY: the descriptor is open, and `room` is ours to be written for its whole length.
        let read = unsafe { libc::read(self.0.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
        read > 0
    }
}

#[test]
fn debugging_information_in_a_file_of_its_own_is_found() {
    let directory = tempfile::tempdir().expect("there is room");
    let (program, _) = split(directory.path());
    assert!(knows_what_is_inlined(&program), "{:?}", names(&program));
}

#[test]
fn a_pipe_that_a_program_names_is_never_opened() {
    let directory = tempfile::tempdir().expect("there is room");
    let (program, debug) = split(directory.path());
    let package = directory.path().join("program.dwp");
    fs::remove_file(&debug).expect("it is there");
    for path in [&debug, &package] {
        pipe(path);
        // Somebody writes to it, so that who opens it is not left waiting for that.
        let _writer = OpenOptions::new().read(true).write(true).open(path).expect("it is there");
        let watch = Watch::of(path);
        let names = names(&program);
        assert!(names.iter().any(|name| name == "outer"), "{names:?}");
        assert!(!watch.saw_it_opened(), "{} was opened", path.display());
    }
}

#[test]
fn only_who_has_a_say_in_a_program_gives_it_debugging_information() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("there is room");
    let (program, debug) = split(directory.path());
    chown(&debug, Some(65534), None).expect("root may");
    assert!(!knows_what_is_inlined(&program), "it is another user's");
    chown(&program, Some(65534), None).expect("root may");
    assert!(knows_what_is_inlined(&program), "both are one user's");
}

#[test]
fn a_file_that_is_cut_short_while_names_are_read_does_no_harm() {
    let directory = tempfile::tempdir().expect("there is room");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("first.c"), SOURCE).expect("there is room");
    fs::write(path("second.c"), "int second(int a) { return a * a; }\n").expect("there is room");
    let sources = [path("first.c"), path("second.c")];
    let status =
        Command::new("gcc").args(["-g", "-O1", "-o"]).arg(path("x")).args(sources).status();
    assert!(status.expect("gcc runs").success());
    let binary = Binary::open(&path("x")).expect("it is one");
    let lies = |wanted: &str| {
        let found = binary.functions(&|name| (name == wanted).then_some(0)).pop();
        found.expect("it is there").1.start
    };
    let (outer, second) = (lies("outer"), lies("second"));
    assert_eq!(binary.frames(outer).pop().expect("there is one").function, "outer");
    // What was asked for is in memory now; what was not asked for yet is the other unit.
    File::create(path("x")).expect("it may be written");
    assert_eq!(binary.frames(second).pop().expect("there is one").function, "second");
}

/// A process of another user, and the file with the symbols of its generated code.
struct Another {
    process: Child,
    path: PathBuf,
}

impl Another {
    fn start() -> Self {
        let process = Command::new("sleep").arg("1000").uid(65534).spawn().expect("root may");
        let path = PerfMap::path(process.id());
        Self { process, path }
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ran");
    }
}

#[test]
fn only_the_owner_of_a_process_and_root_name_its_generated_code() {
    if !is_root() {
        return;
    }
    let another = Another::start();
    let path = &another.path;
    let known = || {
        let map = PerfMap::of_process(another.process.id())?;
        map.function(0x1004).map(str::to_owned)
    };
    fs::write(path, "1000 10 generated\n").expect("there is room");
    assert_eq!(known().as_deref(), Some("generated"), "it is root's");
    chown(path, Some(65534), None).expect("root may");
    assert_eq!(known().as_deref(), Some("generated"), "it is the process's");
    chown(path, Some(1), None).expect("root may");
    assert_eq!(known(), None, "it is somebody else's");
    fs::remove_file(path).expect("it is there");
    let directory = tempfile::tempdir().expect("there is room");
    let other = directory.path().join("other.map");
    fs::write(&other, "1000 10 generated\n").expect("there is room");
    symlink(&other, path).expect("there is room");
    assert_eq!(known(), None, "it is a link");
}

#[test]
fn what_the_kernel_makes_up_is_no_program() {
    // Its size says that there is something, and to read some of its kind does something.
    let message = Binary::open(Path::new("/sys/kernel/notes")).expect_err("it is none").to_string();
    assert!(message.contains("not a regular file"), "{message}");
}
