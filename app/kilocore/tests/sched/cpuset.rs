//! `kilocore steer --control cpuset` for real, on cgroups of version 1.
//!
//! Each program has a cgroup of its own to begin with, so that a thread that goes home is told from one
//! that goes to the top.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::metrics::{fighters, is_empty, preloading, records};
use crate::programs::{
    Daemon, Program, all_cores, children, confined, journals, kill_both, masks, restored, sched,
    sleepers, wait_until,
};

/// Where cpusets of version 1 are mounted.
fn mounted() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("proc");
    let line = mounts.lines().find(|line| {
        let system = line.split(" - ").nth(1).unwrap_or_default();
        system.starts_with("cgroup ") && system.ends_with("cpuset")
    })?;
    line.split(' ').nth(4).map(PathBuf::from)
}

/// A cgroup in which a program begins.
struct Home(PathBuf);

impl Home {
    /// `None`, told, where none can be made.
    fn make() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let made = mounted().and_then(|top| {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let home = top.join(format!("kilocore-test-{}-{number}", std::process::id()));
            fs::create_dir(&home).ok()?;
            for file in ["cpuset.mems", "cpuset.cpus"] {
                fs::copy(top.join(file), home.join(file)).expect("a cpuset");
            }
            Some(Self(home))
        });
        if made.is_none() {
            eprintln!("not tested: no cgroup of version 1 with a cpuset can be made here");
        }
        made
    }

    /// A program in it.
    fn program(&self, threads: usize) -> Program {
        Program::in_command(self.command(Command::new(sleepers()).arg(threads.to_string())))
    }

    /// Lets a command begin in it.
    fn command<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let tasks = self.0.join("tasks");
        let enter = move || fs::write(&tasks, "0");
        // SAFETY: between fork and exec, makes system calls only: the standard library keeps a path as short
        // as this one on the stack.
        unsafe { command.pre_exec(enter) }
    }

    fn threads(&self) -> BTreeSet<u32> {
        numbers(&self.0)
    }

    /// The cgroups in it.
    fn groups(&self) -> Vec<PathBuf> {
        let inside = fs::read_dir(&self.0).expect("it is there").flatten();
        let folders = inside.filter(|entry| entry.file_type().expect("a type").is_dir());
        folders.map(|entry| entry.path()).collect()
    }

    /// Whether all threads of these processes are in it, and nothing else is.
    fn has_back(&self, pids: &[u32]) -> bool {
        let threads: BTreeSet<u32> = pids.iter().flat_map(|pid| tids(*pid)).collect();
        self.groups().is_empty() && !threads.is_empty() && threads.is_subset(&self.threads())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            wait_until("the cgroup of a program that is over goes away", || {
                fs::remove_dir(&self.0).is_ok()
            });
        }
    }
}

fn numbers(cgroup: &Path) -> BTreeSet<u32> {
    let text = fs::read_to_string(cgroup.join("tasks")).unwrap_or_default();
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn tids(pid: u32) -> Vec<u32> {
    let all = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether each thread of a process is in a cgroup of this daemon.
fn is_held(pid: u32, home: &Home, daemon: &Daemon) -> bool {
    let ours = format!("kilocore-sched-{}-", daemon.child.id());
    let is_ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(ours.as_bytes()))
    };
    let held: BTreeSet<u32> =
        home.groups().iter().filter(|path| is_ours(path)).flat_map(|path| numbers(path)).collect();
    let threads = tids(pid);
    !threads.is_empty() && threads.iter().all(|tid| held.contains(tid))
}

/// Confines threads, also some that are made meanwhile, and ends the daemon by a signal.
fn ends_by(signal: libc::c_int) {
    let Some(all) = all_cores() else { return };
    let Some(home) = Home::make() else { return };
    let mut program = home.program(4);
    let daemon = Daemon::pins_by("cpuset", program.pid());
    wait_until("all are confined", || {
        confined(program.pid(), &all) && is_held(program.pid(), &home, &daemon)
    });
    for group in home.groups() {
        let cores = fs::read_to_string(group.join("cpuset.cpus")).expect("a cpuset");
        for tid in numbers(&group) {
            let mask = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
            assert!(mask.contains(&format!("Cpus_allowed_list:\t{cores}")), "{cores}: {mask}");
        }
    }
    for word in ["more", "fork", "more"] {
        program.tell(word);
    }
    daemon.signal(signal);
    let (output, folder) = daemon.end();
    let children = children(program.pid());
    assert_eq!(children.len(), 1);
    wait_until("all are at home", || home.has_back(&[program.pid(), children[0]]));
    assert!(restored(program.pid(), &all) && restored(children[0], &all));
    wait_until("the journal is gone", || journals(folder.path()) == 0);
    // SAFETY: integers only; a child of a program that still runs.
    unsafe { libc::kill(children[0] as libc::pid_t, libc::SIGKILL) };
    if signal != libc::SIGKILL {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn threads_are_home_after_an_interrupt() {
    ends_by(libc::SIGINT);
}

#[test]
fn threads_are_home_after_a_hangup() {
    ends_by(libc::SIGHUP);
}

#[test]
fn threads_are_home_after_the_daemon_was_killed() {
    ends_by(libc::SIGKILL);
}

#[test]
fn threads_are_home_once_asked_for_after_daemon_and_guardian_were_killed() {
    let Some(all) = all_cores() else { return };
    let Some(home) = Home::make() else { return };
    let mut program = home.program(4);
    let daemon = Daemon::pins_by("cpuset", program.pid());
    wait_until("all are held", || is_held(program.pid(), &home, &daemon));
    let guardians = children(daemon.child.id());
    assert_eq!(guardians.len(), 1);
    kill_both(daemon.child.id(), guardians[0]);
    let (_, folder) = daemon.end();
    assert!(confined(program.pid(), &all), "nobody is there to put it back");
    program.tell("more");
    // Somebody else's cgroup in one of ours is not removed.
    let other = home.groups().pop().expect("it holds threads").join("other");
    fs::create_dir(&other).expect("a cgroup");
    let again = || sched(folder.path()).arg("--restore").output().expect("it runs");
    let output = again();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("5 threads got their affinity back"), "{said}");
    assert!(said.contains("could not be put back") && said.contains("other"), "{said}");
    assert_eq!(journals(folder.path()), 1, "it is kept");
    assert!(restored(program.pid(), &all));
    fs::remove_dir(&other).expect("it is empty");
    let output = again();
    assert!(output.status.success(), "{output:?}");
    assert!(home.has_back(&[program.pid()]));
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn what_a_confined_thread_asks_for_is_in_force_at_home() {
    let Some(all) = all_cores() else { return };
    let Some(home) = Home::make() else { return };
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("proc");
    let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    if (numbers.next(), numbers.next()) < (Some(6), Some(2)) {
        eprintln!("not tested: this kernel forgets what threads ask for");
        return;
    }
    let mut program = home.program(3);
    let daemon = Daemon::pins_by("cpuset", program.pid());
    wait_until("all are held", || is_held(program.pid(), &home, &daemon));
    program.tell("here");
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert!(home.has_back(&[program.pid()]));
    let own = masks(program.pid()).into_iter().filter(|mask| *mask != all).count();
    assert_eq!(own, 1, "its first thread's");
}

#[test]
fn a_program_that_dies_while_confined_leaves_no_cgroup() {
    let (Some(_), Some(home)) = (all_cores(), Home::make()) else { return };
    let program = home.program(100);
    let daemon = Daemon::pins_by("cpuset", program.pid());
    wait_until("all are held", || is_held(program.pid(), &home, &daemon));
    drop(program);
    let (output, folder) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.groups(), Vec::<PathBuf>::new());
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn ten_thousand_threads_are_held_and_come_home() {
    let Some(all) = all_cores() else { return };
    let Some(home) = Home::make() else { return };
    let mut program = home.program(10_000);
    let daemon = Daemon::pins_by("cpuset", program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    for _ in 0..100 {
        program.tell("more");
    }
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(masks(program.pid()).len(), 10_100);
    assert!(restored(program.pid(), &all) && home.has_back(&[program.pid()]));
}

#[test]
fn a_program_that_is_started_keeps_its_status_and_leaves_no_cgroup() {
    let Some(home) = Home::make() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args(["--control", "cpuset", "--policy", "pinned", "--window", "20ms", "--output"]);
    command.arg(&file).args(["--", "sh", "-c", "sleep 1; exit 7"]);
    let output = home.command(&mut command).output().expect("it runs");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("carried out by cpuset (cgroup v1 at"), "{said}");
    let done: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).expect("it is written")).expect("it is JSON");
    assert_eq!(done["control"], "cpuset");
    assert_eq!(done["left"], serde_json::json!([]));
    assert_eq!(home.groups(), Vec::<PathBuf>::new());
    fs::remove_file(&file).expect("it is there");
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn recordings_go_with_the_cgroups_if_the_daemon_is_killed() {
    let Some(home) = Home::make() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = fighters(folder.path(), &[]).expect("it is compiled");
    let options = ["--control", "cpuset", "--policy", "pinned"];
    let mut command = preloading(folder.path(), &program, &options);
    let mut program = Program::in_command(home.command(&mut command));
    let recordings = folder.path().join("recordings");
    wait_until("it records and is held", || records(&recordings) && !home.groups().is_empty());
    program.child.kill().expect("it runs");
    wait_until("everything is gone", || is_empty(&recordings) && home.groups().is_empty());
    drop(program.input.take());
    let mut had = String::new();
    program.output.read_line(&mut had).expect("text");
    assert!(had.trim_end().parse::<u64>().expect("a number") > 0);
    wait_until("the program has ended", || home.threads().is_empty());
}

#[test]
fn a_dry_run_makes_no_cgroup_and_says_what_would_carry_orders_out() {
    let Some(home) = Home::make() else { return };
    let program = home.program(4);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    command.args(["--control", "cpuset", "--dry-run", "--policy", "pinned", "--window", "20ms"]);
    command.args(["--duration", "1s", "--pid"]).arg(program.pid().to_string());
    let child = command.stderr(std::process::Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    while child.try_wait().expect("a child").is_none() {
        assert!(home.has_back(&[program.pid()]));
    }
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("would have been carried out by cpuset"), "{said}");
}

/// What is said where mounts of cgroups have been changed by this, and the program has not begun.
fn refused(change: impl Fn(&CString) -> libc::c_int + Send + Sync + 'static) -> Option<String> {
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("not tested, as only root can change mounts");
        return None;
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("proc");
    let cgroups = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let points: Vec<CString> =
        cgroups.filter_map(|line| CString::new(line.split(' ').nth(4)?).ok()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("made");
    let mut command = sched(folder.path());
    command.args(["--control", "cpuset", "--", "touch"]).arg(&made);
    let own_mounts = move || {
        // SAFETY: strings that end with a zero; the mounts are this process's own from then on.
        let own = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    c"/".as_ptr(),
                    std::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    std::ptr::null(),
                ) == 0
        };
        let changed = own && points.iter().all(|point| change(point) == 0);
        if changed { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: makes system calls only.
    unsafe { command.pre_exec(own_mounts) };
    let output = command.output().expect("root may have mounts of its own");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!made.exists(), "nothing begins");
    assert_eq!(journals(folder.path()), 0);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--control affinity"), "it tells how to mend that: {said}");
    Some(said)
}

#[test]
fn without_cgroups_it_is_refused() {
    // SAFETY: a string that ends with a zero.
    let said = refused(|point| unsafe { libc::umount2(point.as_ptr(), libc::MNT_DETACH) });
    if let Some(said) = said {
        assert!(said.contains("no cgroups with cpusets are mounted"), "{said}");
    }
}

#[test]
fn read_only_cgroups_are_refused() {
    if mounted().is_none() {
        eprintln!("not tested: no cpusets of version 1 are mounted");
        return;
    }
    // SAFETY: strings that end with a zero.
    let said = refused(|point| unsafe {
        let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY;
        libc::mount(std::ptr::null(), point.as_ptr(), std::ptr::null(), flags, std::ptr::null())
    });
    if let Some(said) = said {
        assert!(said.contains("cannot be written to: Read-only file system"), "{said}");
    }
}

#[test]
fn a_control_that_is_none_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output =
        sched(folder.path()).args(["--control", "cgroup", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("choose affinity or cpuset"));
}
