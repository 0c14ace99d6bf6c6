//! What other users can lay in root's way.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{
    Daemon, Program, all_cores, confined, is_root, journals, private, restored, sched, wait_until,
};

/// Somebody who is not root.
const NOBODY: u32 = 65_534;

/// A folder with a file in it, which nobody wants to lose.
fn precious(folder: &Path, name: &str) -> PathBuf {
    let precious = folder.join(name);
    fs::create_dir(&precious).expect("room");
    fs::write(precious.join("file"), "kept").expect("room");
    precious
}

/// Lays a journal of a daemon that is gone into a folder, which is made. Its lines are these.
fn forge(folder: &Path, lines: &str) {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder).expect("room");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("proc");
    let boot = boot.trim();
    let namespace = fs::metadata("/proc/self/ns/pid").expect("proc");
    let (device, inode) = {
        use std::os::unix::fs::MetadataExt;
        (namespace.dev(), namespace.ino())
    };
    let write = |name: String, header: String| {
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(folder.join(name));
        std::io::Write::write_all(&mut file.expect("room"), (header + lines).as_bytes())
            .expect("room");
    };
    write("4194304-9.journal".to_owned(), format!("kilocore-sched-1 4194304 9 {boot}\n"));
    write(
        format!("4194304-9-{inode}.journal"),
        format!("kilocore-sched-2 4194304 9 {boot} {device} {inode}\n"),
    );
}

#[test]
fn root_believes_no_journal_where_the_environment_says_that_they_lie() {
    if !is_root() {
        eprintln!("not tested, as only root has anything to lose");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let precious = precious(folder.path(), "kilocore-sched-4194304-1");
    let runtime = folder.path().join("runtime");
    fs::create_dir(&runtime).expect("room");
    // Whoever owns this may exchange what lies in it at any moment, so root's own folder is worth nothing there.
    forge(&runtime.join("kilocore-sched-0"), &format!("recordings {}\n", precious.display()));
    chown(&runtime, Some(NOBODY), Some(NOBODY)).expect("root may");
    let mut command = sched(folder.path());
    let output = command.env("XDG_RUNTIME_DIR", &runtime).arg("--restore").output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{output:?}");
    assert!(precious.join("file").exists(), "{output:?}");
}

#[test]
fn a_journal_makes_nothing_go_that_its_daemon_does_not_make() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = precious(folder.path(), "precious");
    let of_another = precious(folder.path(), "kilocore-sched-1-77");
    let link = folder.path().join("kilocore-sched-4194304-77");
    std::os::unix::fs::symlink(&named, &link).expect("room");
    let lines: String = [&named, &of_another, &link]
        .map(|path| format!("recordings {}\n", path.display()))
        .concat();
    let monitor = folder.path().join("kilocore-sched-4194304");
    fs::create_dir(&monitor).expect("room");
    let lines = format!("{lines}monitor {}\ngroup 1 {}\n", monitor.display(), monitor.display());
    forge(&private(folder.path()), &lines);
    let output = sched(folder.path()).env("TMPDIR", folder.path()).arg("--restore").output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(named.join("file").exists() && of_another.join("file").exists(), "{said}");
    assert!(monitor.exists() && link.exists(), "{said}");
    for path in [&named, &of_another, &monitor] {
        let path = path.display().to_string();
        assert!(said.contains(&format!("{path}: it is left alone")), "{path}: {said}");
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn nobody_stops_root_by_making_its_folder_first() {
    if !is_root() {
        eprintln!("not tested, as only root can become another user");
        return;
    }
    let Some(all) = all_cores() else { return };
    let program = Program::of(2);
    let folder = tempfile::tempdir().expect("a folder");
    // In a place of its own for what lies in /tmp, so that nothing of it stays behind.
    let tmp = folder.path().join("tmp");
    fs::create_dir(&tmp).expect("room");
    fs::set_permissions(&tmp, PermissionsExt::from_mode(0o1777)).expect("it is ours");
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    // The sources may lie in /tmp, and then so does what is built of them.
    let kilocore = Path::new(env!("CARGO_BIN_EXE_kilocore"));
    if let Ok(inside) = kilocore.strip_prefix("/tmp") {
        let copy = tmp.join(inside);
        fs::create_dir_all(copy.parent().expect("a file is in a folder")).expect("room");
        kilocore_shipped::copy_to_run(kilocore, &copy);
    }
    let made = Command::new("mkdir").arg(tmp.join("kilocore-sched-0")).uid(NOBODY).status();
    assert!(made.expect("mkdir").success());
    let daemon = Daemon::pins_as(program.pid(), |command| {
        command.env_remove("XDG_RUNTIME_DIR");
        crate::programs::bind(command, &tmp, "/tmp");
    });
    wait_until("all are confined", || confined(program.pid(), &all));
    daemon.signal(libc::SIGTERM);
    let (output, folder) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert!(restored(program.pid(), &all));
    assert_eq!(journals(folder.path()), 0);
}
