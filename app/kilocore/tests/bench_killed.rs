//! A killed `kilocore bench` leaves nothing behind: no process, no scratch file, no semaphores.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long anything may take before the test fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until something is the case.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "waited in vain until {what}");
        yield_now();
    }
}

/// A process, told apart from later ones of the same number by when it began.
type Process = (u32, String);

/// Parent and begin of a process that has not ended.
fn stat(pid: u32) -> Option<(u32, String)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; the fields behind it are numbers.
    let fields: Vec<&str> = text[text.rfind(')')? + 2..].split(' ').collect();
    let is_over = matches!(fields[0], "Z" | "X");
    (!is_over).then(|| (fields[1].parse().unwrap(), fields[19].to_owned()))
}

fn is_alive(process: &Process) -> bool {
    stat(process.0).is_some_and(|(_, begun)| begun == process.1)
}

/// The children of a process, with their command lines.
fn children(parent: u32) -> Vec<(Process, String)> {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let (its_parent, begun) = stat(pid)?;
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        (its_parent == parent)
            .then(|| ((pid, begun), String::from_utf8_lossy(&words).replace('\0', " ")))
    })
    .collect()
}

/// Gives this thread, and what it starts from now on, System V semaphores that no other program
/// sees or makes. Whether that is allowed here.
fn leave_semaphores_of_others() -> bool {
    // SAFETY: touches no memory, and concerns this thread and its children only.
    unsafe { libc::unshare(libc::CLONE_NEWIPC) == 0 }
}

/// The sets of System V semaphores that this thread sees.
fn semaphores() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/sysvipc/sem").unwrap_or_default();
    let ids = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
    ids.map(str::to_owned).collect()
}

/// The folders that benchmarks have made somewhere.
fn folders(parent: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("kilocore-bench-")).collect()
}

fn start(benchmarks: &[&str], scratch: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .arg("bench")
        .args(benchmarks)
        // Long enough that it is killed and does not end.
        .args(["--quick", "--repeats", "1000", "--file-bytes", "8000000", "--scratch"])
        .arg(scratch)
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("kilocore runs")
}

/// Whom the signal goes to.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Process,
    Group,
}

/// Lets a benchmark run until a task of it is there and something is so, kills it, and sees that
/// nothing is left.
fn kill_during(benchmark: &str, victim: Victim, is_time: impl Fn(&Path) -> bool) {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let places = [scratch.path(), Path::new("/dev/shm"), Path::new("/tmp")];
    let before = places.map(folders);
    let mut bench = start(&[benchmark], scratch.path());
    let pid = bench.id();
    let mark = format!("\"benchmark\":\"{benchmark}\"");
    let mut seen: BTreeSet<Process> = BTreeSet::new();
    wait_until(&format!("{benchmark} runs"), || {
        assert!(bench.try_wait().unwrap().is_none(), "{benchmark} ended by itself");
        let children = children(pid);
        seen.extend(children.iter().map(|child| child.0.clone()));
        children.iter().any(|child| child.1.contains(&mark)) && is_time(scratch.path())
    });
    // What the tasks have made themselves, and tasks made meanwhile.
    for (child, _) in children(pid) {
        seen.extend(children_of(&child));
        seen.insert(child);
    }
    let target = match victim {
        Victim::Process => pid as i32,
        Victim::Group => -(pid as i32),
    };
    // SAFETY: touches no memory. The process is not waited for yet, so the number is its.
    assert_eq!(unsafe { libc::kill(target, libc::SIGKILL) }, 0);
    bench.wait().unwrap();
    wait_until(&format!("all of {seen:?} are gone after {benchmark}, {victim:?}"), || {
        !seen.iter().any(is_alive)
    });
    wait_until("all folders are gone", || {
        places.map(folders).iter().zip(&before).all(|(now, before)| now.is_subset(before))
    });
    let left: Vec<_> = scratch.path().read_dir().unwrap().collect();
    assert!(left.is_empty(), "{benchmark}, {victim:?}: {left:?}");
}

fn children_of(process: &Process) -> Vec<Process> {
    children(process.0).into_iter().map(|child| child.0).collect()
}

#[test]
fn nothing_is_left_after_kill() {
    let at_once = |_: &Path| true;
    let has_files = |scratch: &Path| {
        let folders = folders(scratch);
        let mut files = folders.iter().map(|folder| fs::read_dir(scratch.join(folder)));
        files.any(|files| files.is_ok_and(|mut files| files.next().is_some()))
    };
    for victim in [Victim::Process, Victim::Group] {
        kill_during("unlink", victim, has_files);
        kill_during("open-apart", victim, has_files);
        kill_during("write-sequential", victim, has_files);
        kill_during("fork", victim, at_once);
        kill_during("thread", victim, at_once);
        kill_during("exec", victim, at_once);
        kill_during("mmap", victim, at_once);
    }
}

#[test]
fn no_semaphores_are_left_after_kill() {
    if !leave_semaphores_of_others() {
        eprintln!("no namespaces here, so that semaphores of others would be taken for ours");
        return;
    }
    assert_eq!(semaphores(), BTreeSet::new());
    for victim in [Victim::Process, Victim::Group] {
        kill_during("sem", victim, |_| !semaphores().is_empty());
        wait_until("all semaphores are gone", || semaphores().is_empty());
    }
}

#[test]
fn nothing_is_left_after_a_kill_before_the_first_task() {
    for victim in [Victim::Process, Victim::Group] {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut bench = start(&["open", "sem"], scratch.path());
        let pid = bench.id();
        let mut keepers = Vec::new();
        wait_until("the keeper is there", || {
            keepers = children(pid);
            !keepers.is_empty()
        });
        let words = |pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        wait_until("the keeper has a name", || {
            let pid = keepers[0].0.0;
            words(pid).starts_with(b"kilocore\0bench-helper\0") && name(pid) == "kilocore-bench\n"
        });
        let target = if matches!(victim, Victim::Group) { -(pid as i32) } else { pid as i32 };
        // SAFETY: touches no memory. The process is not waited for yet, so the number is its.
        assert_eq!(unsafe { libc::kill(target, libc::SIGKILL) }, 0);
        bench.wait().unwrap();
        wait_until("the keeper is gone", || !keepers.iter().any(|keeper| is_alive(&keeper.0)));
        let left: Vec<_> = scratch.path().read_dir().unwrap().collect();
        assert!(left.is_empty(), "{victim:?}: {left:?}");
    }
}
