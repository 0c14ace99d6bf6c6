//! `kilocore steer` puts every affinity back, whatever ends it.

#[path = "../common/compiled.rs"]
mod compiled;
mod cpuset;
mod descendants;
mod failures;
mod kernel_locks;
mod metrics;
mod namespaces;
mod other_users;
mod programs;
mod targets;

use std::fs;
use std::path::Path;
use std::process::Command;

use programs::{
    Daemon, Program, all_cores, children, confined, journals, kill_both, masks, restored, sched,
    sleepers, wait_until,
};

/// Confines threads, also one that is made meanwhile, and ends the daemon by a signal.
fn ends_by(signal: libc::c_int) {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    program.tell("more");
    program.tell("fork");
    daemon.signal(signal);
    let (output, folder) = daemon.end();
    let children = children(program.pid());
    assert_eq!(children.len(), 1);
    wait_until("all are as they were", || {
        restored(program.pid(), &all) && restored(children[0], &all)
    });
    wait_until("the journal is gone", || journals(folder.path()) == 0);
    // SAFETY: integers only; a child of a program that still runs.
    unsafe { libc::kill(children[0] as libc::pid_t, libc::SIGKILL) };
    if signal != libc::SIGKILL {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn affinities_are_back_after_an_interrupt() {
    ends_by(libc::SIGINT);
}

#[test]
fn affinities_are_back_after_termination() {
    ends_by(libc::SIGTERM);
}

#[test]
fn affinities_are_back_after_a_hangup() {
    ends_by(libc::SIGHUP);
}

#[test]
fn affinities_are_back_after_the_daemon_was_killed() {
    ends_by(libc::SIGKILL);
}

#[test]
fn affinities_are_back_once_asked_for_after_daemon_and_guardian_were_killed() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    let guardians = children(daemon.child.id());
    assert_eq!(guardians.len(), 1);
    kill_both(daemon.child.id(), guardians[0]);
    let (_, folder) = daemon.end();
    assert!(confined(program.pid(), &all), "nobody is there to put it back");
    let output = sched(folder.path()).arg("--restore").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("4 threads got their affinity back"), "{said}");
    assert!(restored(program.pid(), &all));
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn what_a_program_chooses_itself_stays() {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    program.tell("own");
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    let own = masks(program.pid()).into_iter().filter(|mask| *mask != all).count();
    assert_eq!(own, 1, "its first thread's");
}

#[test]
fn a_program_keeps_its_streams_and_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    command.args(["--policy", "pinned", "--window", "20ms", "--"]).arg(sleepers()).arg("3");
    let mut program = Program::in_command(&mut command);
    program.tell("more");
    drop(program.input.take());
    assert_eq!(program.child.wait().expect("it ends").code(), Some(7));
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn a_dry_run_confines_nothing() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(4);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args([
        "--dry-run",
        "--policy",
        "pinned",
        "--window",
        "20ms",
        "--duration",
        "1s",
        "--output",
    ]);
    let mut child = command.arg(&file).arg("--pid").arg(program.pid().to_string()).spawn().unwrap();
    while child.try_wait().expect("a child").is_none() {
        assert!(restored(program.pid(), &all));
    }
    let done: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).expect("it is written")).expect("it is JSON");
    assert!(done["orders"].as_u64() >= Some(4), "it tells what it would do: {done}");
}

#[test]
fn ten_thousand_threads_are_confined_and_restored() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(10_000);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(masks(program.pid()).len(), 10_000);
    assert!(restored(program.pid(), &all));
}

#[test]
fn a_document_is_all_that_is_printed_if_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args(["--dry-run", "--metrics", "proc", "--json", "--output"]).arg(&file);
    let output = command.args(["--", "sh", "-c", "echo it ran; exit 4"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let printed: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("one document and nothing else");
    let written = fs::read(&file).expect("it is written, too");
    assert_eq!(printed, serde_json::from_slice::<serde_json::Value>(&written).expect("JSON"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it ran\n"), "{output:?}");
    let mut command = sched(folder.path());
    let output = command.args(["--output", "x.csv", "--", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(".json"), "{output:?}");
}

#[test]
fn a_process_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = sched(folder.path()).args(["--pid", "4194305"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no process 4194305"), "{output:?}");
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn a_process_of_another_user_is_refused() {
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("not tested, as only root can become another user");
        return;
    }
    let program = Program::of(2);
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody may not execute what lies in somebody's private folder.
    let copy = folder.path().join("kilocore");
    kilocore_shipped::copy_to_run(Path::new(env!("CARGO_BIN_EXE_kilocore")), &copy);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("it is ours");
    let mut command = Command::new(&copy);
    command.args(["steer", "--metrics", "proc", "--pid"]).arg(program.pid().to_string());
    let output = std::os::unix::process::CommandExt::uid(&mut command, 65_534).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("another user") && said.contains("CAP_SYS_NICE"), "{said}");
}

#[test]
fn a_live_view_without_a_terminal_is_refused_before_the_program_exists() {
    let mut command = Command::new("setsid");
    let output = command
        .args(["-w", env!("CARGO_BIN_EXE_kilocore")])
        .args(["steer", "--metrics", "proc", "--watch", "--", "echo", "it ran"])
        .output()
        .expect("setsid");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("/dev/tty") && message.contains("--log FILE"), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_live_view_gives_the_terminal_back_as_it_was() {
    let kilocore = env!("CARGO_BIN_EXE_kilocore");
    let session = format!(
        "stty rows 24 cols 80; stty -g; {} steer --metrics proc --watch -- sh -c 'sleep 2; exit 7' 2>/dev/null; echo status $?; stty -g",
        kilocore
    );
    let output = Command::new("script").args(["-qec", &session, "/dev/null"]).output();
    let text = String::from_utf8(output.expect("script").stdout).expect("text");
    let (before, rest) = text.split_once("\u{1b}[?1049h").expect("the view begins");
    let (view, after) = rest.rsplit_once("\u{1b}[?1049l").expect("the view ends");
    assert!(view.contains("lock-aware") && view.contains("closes"), "{view}");
    let after: Vec<&str> = after.split_whitespace().collect();
    assert_eq!(after, ["status", "7", before.trim()]);
}

/// What `kilocore steer` says, when it refuses to start a program with these options.
fn refused(options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, made) = (folder.path().join("log.txt"), folder.path().join("made"));
    let mut command = sched(folder.path());
    command.args(options).arg("--log").arg(&log).args(["--", "touch"]).arg(&made);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!log.exists() && !made.exists(), "nothing is written, and nothing begins");
    assert_eq!(journals(folder.path()), 0);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn policies_that_need_hardware_counters_are_refused_where_there_are_none() {
    for policy in ["distributed-intensity", "intensity", "complement"] {
        let said = refused(&["--policy", policy, "--metrics", "proc"]);
        let mend = said.contains("take --metrics auto") && said.contains("lock-aware");
        assert!(said.contains(&format!("policy {policy} decides by hardware counters")), "{said}");
        assert!(mend, "{said}");
    }
}

#[test]
fn a_policy_that_needs_a_driver_inside_the_scheduler_is_refused() {
    let said = refused(&["--policy", "companion"]);
    assert!(said.contains("complement") && !said.contains("companions"), "{said}");
    let said = refused(&["--policy", "companions"]);
    assert!(said.contains("driver inside the scheduler"), "{said}");
    assert!(said.contains("kilocore-lab sched --experiment cache"), "{said}");
}
