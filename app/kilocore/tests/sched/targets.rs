//! Whom `kilocore steer` does not steer.

use std::fs;
use std::process::Command;

use crate::programs::{
    Daemon, Program, all_cores, children, confined, journals, keeps_journals, restored, sched,
    wait_until,
};

#[test]
fn what_another_daemon_steers_is_refused_and_so_is_what_it_has_started_and_what_has_started_it() {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(2);
    program.tell("fork");
    let child = children(program.pid())[0];
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all) && confined(child, &all));
    for pid in [program.pid(), child, std::process::id()] {
        let mut command = sched(daemon.folder.path());
        let output = command.args(["--metrics", "proc", "--pid"]).arg(pid.to_string()).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{pid}: {said}");
        assert!(said.contains(&format!("`kill {}`", daemon.child.id())), "{pid}: {said}");
        assert!(confined(program.pid(), &all), "the first one goes on");
    }
    assert_eq!(journals(daemon.folder.path()), 1);
    says_who_steers(program.pid(), &daemon);
    daemon.signal(libc::SIGTERM);
    let (output, folder) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert!(restored(program.pid(), &all) && restored(child, &all));
    // SAFETY: integers only; a child of a program that still runs.
    unsafe { libc::kill(child as libc::pid_t, libc::SIGKILL) };
    let mut again = sched(folder.path());
    again
        .args(["--metrics", "proc", "--duration", "100ms", "--pid"])
        .arg(program.pid().to_string());
    assert!(again.status().expect("it runs").success(), "nobody steers it any more");
}

/// Who measures a program that is steered is told so, and so is who reads the profile.
fn says_who_steers(pid: u32, daemon: &Daemon) {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("profile.json");
    let mut measure = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    keeps_journals(&mut measure, daemon.folder.path());
    measure.args(["record", "locks", "--duration", "0.5", "--pid"]).arg(pid.to_string());
    let output = measure.arg("--output").arg(&profile).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("cannot be watched") || said.contains("perf_event") {
        eprintln!("not tested, as nothing can be watched here: {said}");
        return;
    }
    let shown = String::from_utf8_lossy(&output.stdout);
    let shown: Vec<&str> = shown.split_whitespace().collect();
    let by = format!("kilocore steer (process {}) steered it meanwhile", daemon.child.id());
    assert!(shown.join(" ").contains(&by), "{said}{shown:?}");
    let profile = fs::read_to_string(&profile).expect("it was written");
    let profile: serde_json::Value = serde_json::from_str(&profile).expect("it is JSON");
    assert_eq!(profile["runs"][0]["steered_by"], daemon.child.id());
}

/// What is said of a process that is refused.
fn refused(pid: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    let output = command.args(["--metrics", "proc", "--pid", pid]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(journals(folder.path()), 0);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn threads_of_the_kernel_are_refused() {
    let name = fs::read_to_string("/proc/2/comm").unwrap_or_default();
    if name.trim_end() != "kthreadd" {
        eprintln!("not tested, as the kernel's threads are not seen here");
        return;
    }
    assert!(refused("2").contains("thread of the kernel"));
}

#[test]
fn the_first_process_is_refused_unless_all_are_meant() {
    assert!(refused("1").contains("--whole-system"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    command.args(["--metrics", "proc", "--whole-system", "--dry-run", "--duration", "100ms"]);
    let output = command.args(["--pid", "1"]).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}
