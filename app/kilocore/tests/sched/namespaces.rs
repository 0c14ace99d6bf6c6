//! Daemons that live where processes have other numbers.

use std::process::{Command, Stdio};

use crate::programs::{
    all_cores, children, confined, is_root, journals, keeps_journals, restored, sched, sleepers,
    wait_until,
};

/// A program and a daemon that pins it, in a namespace of their own. The first word is the program, the second
/// `kilocore`.
const INSIDE: &str = "exec 3<&0; \"$0\" 4 <&3 & \
    \"$1\" steer --policy pinned --window 20ms --metrics proc --pid $! & cat <&3; wait";

#[test]
fn a_daemon_of_another_namespace_lives_to_who_shares_its_folder() {
    if !is_root() {
        eprintln!("not tested, as only root makes namespaces everywhere");
        return;
    }
    let Some(all) = all_cores() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", INSIDE]);
    command.arg(sleepers()).arg(env!("CARGO_BIN_EXE_kilocore"));
    keeps_journals(&mut command, folder.path());
    let mut inside = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("unshare");
    let child_of = |pid: u32, word: &str| {
        children(pid).into_iter().find(|pid| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(word)
        })
    };
    let mut found = None;
    wait_until("it steers", || {
        // The shell is the only child of the command.
        let shell = child_of(inside.id(), "sh");
        found = shell
            .and_then(|shell| Some((child_of(shell, "--policy")?, child_of(shell, "sleepers\0")?)));
        found.is_some_and(|(_, program)| confined(program, &all))
    });
    let (daemon, program) = found.expect("both are there");
    let restore = || {
        let output = sched(folder.path()).arg("--restore").output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(restore(), (Some(0), String::new()), "there is nothing to do");
    assert_eq!(journals(folder.path()), 1);
    assert!(confined(program, &all));
    // SAFETY: integers only; a process of this test that somebody there waits for.
    unsafe { libc::kill(daemon as libc::pid_t, libc::SIGKILL) };
    wait_until("all are as they were", || restored(program, &all));
    wait_until("the journal is gone", || journals(folder.path()) == 0);
    drop(inside.stdin.take());
    inside.wait().expect("it ends");
}
