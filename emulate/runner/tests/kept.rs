//! Results that are kept: used again if all that they depend on is as it was, and only then.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_emulation::{Asked, Emulator, KeptRuns, Point};
use kilocore_emulation_orders::Orders;
use kilocore_kept_files::KeptFiles;
use tempfile::TempDir;

use crate::support::{MACHINE, emulator, program, settle, with};

/// A folder for files of a test, and one in which results are kept.
struct Place {
    held: TempDir,
    emulator: Emulator,
}

impl Place {
    fn new() -> Self {
        let held = tempfile::tempdir().expect("there is room");
        let root = held.path().canonicalize().expect("its path");
        let files = KeptFiles::below(&root, "kept", "runs", 64 << 20).expect("it is ours");
        Self { held, emulator: emulator().keeping(KeptRuns::in_files(files)) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.held.path().join(name)
    }

    /// Writes a file, and waits until its next change would be seen.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("it is ours");
        settle(&path);
        path
    }

    /// A copy of a program.
    fn copy(&self, name: &str, of: &Path) -> PathBuf {
        let path = self.path(name);
        fs::copy(of, &path).expect("it is ours");
        settle(&path);
        path
    }

    /// The files in which results are kept.
    fn entries(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.path("kept/runs")).expect("it is there");
        all.map(|entry| entry.expect("a file").path()).collect()
    }

    fn asked(&self, asked: &Asked, words: &[OsString]) -> (Point, String) {
        let (point, text) = with(words, asked, &self.emulator).expect("it is emulated");
        (point, text)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Point {
        self.asked(&usual(), &words(program, arguments)).0
    }
}

fn words(program: &Path, arguments: &[&str]) -> Vec<OsString> {
    [program.into()].into_iter().chain(arguments.iter().map(OsString::from)).collect()
}

fn usual() -> Asked {
    Orders::new(kilocore_machine::find(MACHINE).expect("built in"), 2).into()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("plain")
}

#[track_caller]
fn is_known(point: &Point) {
    assert!(point.known_since.is_some(), "emulated anew: {:?}", point.for_once);
}

#[track_caller]
fn is_new(point: &Point) {
    assert!(point.known_since.is_none(), "known from before");
    assert_eq!(point.for_once, None);
}

fn reads() -> PathBuf {
    program("reads", &[])
}

#[test]
fn a_second_run_is_known_and_the_same_in_all_digits() {
    let place = Place::new();
    for (name, arguments) in
        [("sharing", &["4", "300", "8"][..]), ("work", &["4", "40", "300", "100", "mutex"])]
    {
        let program = program(name, &[]);
        let words = words(&program, arguments);
        let (first, printed) = place.asked(&usual(), &words);
        is_new(&first);
        let (second, printed_again) = place.asked(&usual(), &words);
        is_known(&second);
        assert!(second.report == first.report && second.causes == first.causes, "{name}");
        assert_eq!((second.took, second.computed), (first.took, first.computed));
        assert!(second.status.success() && !second.interrupted);
        // It has not run.
        assert!(printed_again.is_empty() && (name != "work" || !printed.is_empty()), "{printed}");
        // What is kept is what comes out anew.
        let (anew, _) = with(&words, &usual(), &emulator()).expect("it is emulated");
        assert!(anew.known_since.is_none() && anew.report == first.report, "{name}");
    }
}

#[test]
fn programs_that_people_have_are_known_the_second_time() {
    let place = Place::new();
    let input = place.write("input", b"some text\n".repeat(5_000));
    for (name, arguments) in [("cat", vec![]), ("sort", vec!["--parallel=2"]), ("md5sum", vec![])] {
        let program = Path::new("/usr/bin").join(name);
        let arguments: Vec<&str> = arguments.into_iter().chain([text(&input)]).collect();
        is_new(&place.run(&program, &arguments));
        is_known(&place.run(&program, &arguments));
    }
}

#[test]
fn a_changed_file_runs_anew_whatever_its_time_of_before_says() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let once = || place.run(&reads(), &["", text(&input)]);
    let first = once();
    is_new(&first);
    is_known(&once());
    let before = fs::metadata(&input).expect("it is there").modified().expect("a time");
    place.write("input", "\x7f");
    fs::File::options()
        .append(true)
        .open(&input)
        .expect("ours")
        .set_modified(before)
        .expect("ours");
    settle(&input);
    let second = once();
    is_new(&second);
    assert!(second.report.counts.instructions > first.report.counts.instructions + 100_000);
    is_known(&once());
    // Another file in its place, of the same content and the same time.
    let other = place.write("other", "\x7f");
    fs::File::options()
        .append(true)
        .open(&other)
        .expect("ours")
        .set_modified(before)
        .expect("ours");
    fs::rename(&other, &input).expect("it is ours");
    settle(&input);
    is_new(&once());
    // Through a link that leads elsewhere.
    let (link, third) = (place.path("link"), place.write("third", "\x01"));
    symlink(&input, &link).expect("it is ours");
    let linked = || place.run(&reads(), &["", text(&link)]);
    is_new(&linked());
    is_known(&linked());
    fs::remove_file(&link).expect("it is ours");
    symlink(&third, &link).expect("it is ours");
    is_new(&linked());
}

#[test]
fn a_changed_program_runs_anew() {
    let place = Place::new();
    let program = place.copy("program", &reads());
    let once = || place.run(&program, &[]);
    is_new(&once());
    is_known(&once());
    let again = place.copy("again", &crate::support::program("reads", &["-g"]));
    fs::rename(again, &program).expect("it is ours");
    settle(&program);
    is_new(&once());
    is_known(&once());
    // A link to it that leads to another one, which has not changed either.
    let link = place.path("link");
    let linked = || place.run(&link, &[]);
    symlink(&program, &link).expect("it is ours");
    is_new(&linked());
    is_known(&linked());
    fs::remove_file(&link).expect("it is ours");
    symlink(reads(), &link).expect("it is ours");
    is_new(&linked());
    is_known(&linked());
}

#[test]
fn a_library_that_is_found_earlier_on_the_path_runs_anew() {
    let place = Place::new();
    let library = |folder: &str, turns: u32| {
        let folder = place.path(folder);
        fs::create_dir_all(&folder).expect("it is ours");
        let source = place.write("library.c", format!("int turns(void) {{ return {turns}; }}\n"));
        compile(&["-shared", "-fPIC", "-o"], &folder.join("libturns.so"), &source, &[]);
    };
    fs::create_dir(place.path("first")).expect("it is ours");
    library("second", 1);
    let main = "int turns(void); int main(void) { for (int i = 0; i < 1000 * turns(); i++) __asm__ volatile(\"\"); }\n";
    let (source, second) = (place.write("main.c", main), place.path("second"));
    let program = place.path("main");
    compile(&["-o"], &program, &source, &["-L", text(&second), "-lturns"]);
    let path = format!("{}:{}", text(&place.path("first")), text(&second));
    let asked = Asked { variables: vec![("LD_LIBRARY_PATH".into(), path.into())], ..usual() };
    let once = || place.asked(&asked, &words(&program, &[])).0;
    let first = once();
    is_new(&first);
    is_known(&once());
    library("first", 200);
    let second = once();
    is_new(&second);
    assert!(second.report.counts.instructions > first.report.counts.instructions + 100_000);
    is_known(&once());
    fs::remove_file(place.path("first/libturns.so")).expect("it is ours");
    let third = once();
    is_new(&third);
    assert_eq!(third.report.counts.instructions, first.report.counts.instructions);
}

fn compile(options: &[&str], to: &Path, source: &Path, after: &[&str]) {
    let mut compiler = Command::new("cc");
    let status = compiler.arg("-O1").args(options).arg(to).arg(source).args(after).status();
    assert!(status.expect("there is a compiler").success(), "{}", source.display());
    settle(to);
}

#[test]
fn a_file_that_was_not_there_runs_anew_when_it_comes() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    for how in ["looks", "opens"] {
        let once = || place.asked(&usual(), &words(&reads(), &[how, text(&input)]));
        let (first, printed) = once();
        is_new(&first);
        assert_eq!(printed, "-1\n");
        is_known(&once().0);
        let beside = place.write("input.beside", "four");
        let (second, printed) = once();
        is_new(&second);
        assert_eq!(printed, "4\n", "{how}");
        is_known(&once().0);
        fs::remove_file(&beside).expect("it is ours");
        is_new(&once().0);
    }
    // A file more in a folder that is read.
    let once = || place.run(&reads(), &["lists", text(&input)]);
    let folder = place.held.path();
    settle(folder);
    is_new(&once());
    // Results are kept in a folder below it, which is another one.
    is_known(&once());
    place.write("more", "");
    settle(folder);
    is_new(&once());
}

#[test]
fn whatever_is_asked_otherwise_runs_anew() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let first = ["variable", text(&input)];
    let once = |asked: &Asked| place.asked(asked, &words(&reads(), &first)).0;
    is_new(&once(&usual()));
    let with = |change: &dyn Fn(&mut Orders)| {
        let mut asked = usual();
        change(&mut asked.orders);
        asked
    };
    let variable =
        |value: &str| Asked { variables: vec![("VARIABLE".into(), value.into())], ..usual() };
    let all = [
        with(&|orders| orders.cores = 3),
        with(&|orders| orders.seed = 2),
        with(&|orders| orders.disorder = 500),
        with(&|orders| orders.cycles_per_instruction = 0.5),
        with(&|orders| orders.interleaved = true),
        with(&|orders| orders.machine = kilocore_machine::find("core-i7-6700").expect("built in")),
        with(&|orders| orders.machine.clock_ghz.value *= 2.0),
        variable("one"),
        variable("two"),
    ];
    for asked in &all {
        is_new(&once(asked));
    }
    for asked in all.iter().chain([&usual()]) {
        is_known(&once(asked));
    }
    // Other words, the same ones parted otherwise, and another program of the same content.
    for arguments in [&["variable"][..], &["var", "iable"], &["variable", text(&input), ""]] {
        let run = || place.asked(&usual(), &words(&reads(), arguments)).0;
        let is_good = run().status.success();
        assert!(!is_good || run().known_since.is_some(), "{arguments:?}");
    }
    let copy = place.copy("copy", &reads());
    is_new(&place.run(&copy, &first));
    let other = place.emulator.clone().with_processor("qemu64".to_owned());
    let (point, _) =
        crate::support::with(&words(&reads(), &first), &usual(), &other).expect("runs");
    is_new(&point);
}

#[test]
fn what_depends_on_more_or_acts_outside_is_not_kept() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    for (how, why) in [
        ("writes", "it opens for writing"),
        ("renames", "it changes files"),
        ("draws", "/dev/urandom is no file"),
        ("busy", "/proc/uptime is the kernel's"),
        ("forks", "it starts another process"),
        ("connects", "it makes a socket"),
        ("timer", "it sets a timer"),
        ("output", "descriptor 1"),
    ] {
        for _ in 0..2 {
            let point = place.run(&reads(), &[how, text(&input)]);
            assert!(point.known_since.is_none(), "{how}");
            let said = point.for_once.unwrap_or_default();
            assert!(said.contains(why), "{how}: {said}");
        }
    }
    let failing = ["fails", text(&input)];
    for _ in 0..2 {
        let point = place.run(&reads(), &failing);
        assert_eq!((point.status.code(), point.known_since), (Some(3), None));
    }
    assert_eq!(place.entries(), Vec::<PathBuf>::new());
    // What only seems to.
    let simulated = ["draws-simulated", "counts", "usage", "memory"];
    for how in simulated.into_iter().chain(["drops", "told", "itself", "pipe"]) {
        let once = || place.asked(&usual(), &words(&reads(), &[how, text(&input)]));
        let (point, printed) = once();
        is_new(&point);
        assert!(how != "memory" || printed == "1 1 1\n", "{printed}");
        is_known(&once().0);
    }
}

#[test]
fn a_file_that_changes_meanwhile_is_not_trusted() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let ended = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                fs::write(&input, "\x01").expect("it is ours");
            }
        });
        // Where others have the cores, nobody may write for as long as a run takes. That one is kept, rightly.
        let once = || {
            let before = place.entries();
            let why = place.run(&reads(), &["", text(&input)]).for_once;
            assert!(why.is_none() || place.entries() == before, "{why:?}");
            why
        };
        let seen = (0..50).find_map(|_| once());
        ended.store(true, Ordering::Relaxed);
        seen
    });
    let why = seen.expect("it was written while it was read, at some time");
    assert!(why.contains("was changed"), "{why}");
}

#[test]
fn an_entry_that_is_damaged_short_foreign_or_a_link_is_not_used() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let once = || place.run(&reads(), &["", text(&input)]);
    let first = once();
    is_new(&first);
    let [entry] = &place.entries()[..] else { panic!("one run is kept") };
    let whole = fs::read(entry).expect("it is ours");
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let damages: [&dyn Fn(); 6] = [
        &|| fs::write(entry, &changed).expect("it is ours"),
        &|| fs::write(entry, &whole[..whole.len() - 1]).expect("it is ours"),
        &|| fs::write(entry, []).expect("it is ours"),
        &|| fs::set_permissions(entry, PermissionsExt::from_mode(0o666)).expect("it is ours"),
        &|| {
            let elsewhere = place.write("elsewhere", &whole);
            fs::remove_file(entry).expect("it is ours");
            symlink(elsewhere, entry).expect("it is ours");
        },
        &|| {
            // Only root can give a file away; without that it is removed.
            if chown(entry, Some(65_534), None).is_err() {
                fs::remove_file(entry).expect("it is ours");
            }
        },
    ];
    for (index, damage) in damages.iter().enumerate() {
        is_known(&once());
        damage();
        let again = once();
        assert!(again.known_since.is_none() && again.report == first.report, "{index}");
    }
    is_known(&once());
    // That of another run under this one's name.
    let other = || place.run(&reads(), &["looks", text(&input)]);
    is_new(&other());
    let another = place.entries().into_iter().find(|path| path != entry).expect("two are kept");
    fs::copy(&another, entry).expect("it is ours");
    is_new(&once());
    is_known(&other());
}

#[test]
fn where_nothing_can_be_written_the_run_is_the_same() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let once = || place.run(&reads(), &["", text(&input)]);
    let first = once();
    let [entry] = &place.entries()[..] else { panic!("one run is kept") };
    fs::remove_file(entry).expect("it is ours");
    fs::create_dir_all(entry.join("full")).expect("it is ours");
    let again = once();
    assert!(again.report == first.report && again.known_since.is_none());
    let why = again.for_once.unwrap_or_default();
    assert!(why.contains("cannot be written"), "{why}");
    assert_eq!(place.entries(), std::slice::from_ref(entry), "nothing is left half written");
}

#[test]
fn several_at_once_give_the_same_and_leave_a_whole_file() {
    let place = Place::new();
    let input = place.write("input", "\x01");
    let arguments = ["", text(&input)];
    let runs: Vec<Point> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..3).map(|_| scope.spawn(|| place.run(&reads(), &arguments))).collect();
        all.into_iter().map(|one| one.join().expect("it runs")).collect()
    });
    assert!(runs.iter().all(|run| run.report == runs[0].report && run.for_once.is_none()));
    assert_eq!(place.entries().len(), 1);
    is_known(&place.run(&reads(), &arguments));
}
