//! Programs that cannot be recorded: which, and why, is told, and nobody is told that they took no
//! lock.

#[path = "../common/measured.rs"]
#[allow(dead_code)] // each test file uses its part
mod measured;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use measured::{Measured, TAKES, compiled, kilocore, measure};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder of the test's own")
}

/// Asserts that nothing was recorded for this reason, that the program ran all the same, and that
/// the reason is told.
#[track_caller]
fn assert_lost(measured: &Measured, why: &str, part: &str) {
    assert_eq!(measured.status, Some(2), "{measured:?}");
    assert!(measured.output.contains("was there"), "{measured:?}");
    assert_eq!(measured.reasons(), [why], "{measured:?}");
    assert!(measured.said.contains(part), "{measured:?}");
    assert!(measured.said.contains("nothing can be said"), "{measured:?}");
    assert_eq!(measured.taken(), 0);
}

/// Whether this is root, without whom some cases cannot be made; says if not.
fn is_root(what: &str) -> bool {
    // SAFETY: takes no argument.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("not tested, as only root can: {what}");
    }
    root
}

#[test]
fn a_program_that_can_be_recorded_is_not_lost() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    assert_eq!(measured.status, Some(5), "{measured:?}");
    assert_eq!((measured.taken(), measured.reasons().len()), (1_000, 0));
    assert!(!measured.said.contains("not recorded"), "{measured:?}");
}

#[test]
fn a_program_without_locks_is_not_lost() {
    let measured = measure(kilocore(), &["sh", "-c", "exit 3"]);
    assert_eq!((measured.status, measured.reasons().len()), (Some(3), 0), "{measured:?}");
}

#[test]
fn a_static_program() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &["-static"]);
    let program = program.to_str().unwrap();
    // One that is named itself is watched instead, if that is possible.
    let executed = format!("exec {program}");
    assert_lost(&measure(kilocore(), &["sh", "-c", &executed]), "static", "statically");
    let child = format!("{program}; exit 0");
    assert_lost(&measure(kilocore(), &["sh", "-c", &child]), "static", "statically");
}

#[test]
fn a_program_of_another_architecture() {
    let folder = folder();
    // A program of 32 bits needs no C library to be compiled, but a kernel that runs it.
    let source = "void _start(void) {\n\
        __asm__ volatile(\"int $0x80\" :: \"a\"(4), \"b\"(1), \"c\"(\"was there\\n\"), \"d\"(10));\n\
        __asm__ volatile(\"int $0x80\" :: \"a\"(1), \"b\"(0));\n}\n";
    let program = folder.path().join("small");
    let text = folder.path().join("small.c");
    fs::write(&text, source).unwrap();
    let made = Command::new("cc")
        .args(["-m32", "-O1", "-fno-pie", "-no-pie", "-nostdlib", "-static", "-o"])
        .args([&program, &text])
        .status();
    let runs = made.is_ok_and(|status| status.success())
        && Command::new(&program).output().is_ok_and(|output| output.status.success());
    if !runs {
        eprintln!("not tested, as no 32-bit program can be made or run here");
        return;
    }
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    assert_lost(&measured, "other-architecture", "32-bit");
}

#[test]
fn a_full_file_system() {
    if !is_root("a file system of its own") {
        return;
    }
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&small).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("not tested, as nothing can be mounted here");
        return;
    }
    let mut command = kilocore();
    command.env("TMPDIR", &small);
    let measured = measure(command, &[program.to_str().unwrap()]);
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_lost(&measured, "no-room", "TMPDIR");
}

#[test]
fn little_address_space() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let limited = format!("ulimit -v 200000; exec {}", program.display());
    let measured = measure(kilocore(), &["sh", "-c", &limited]);
    // A recorder that makes do with less records all the same.
    if measured.status == Some(5) {
        assert_eq!((measured.taken(), measured.reasons().len()), (1_000, 0), "{measured:?}");
    } else {
        assert_lost(&measured, "no-room", "ulimit -v");
    }
}

#[test]
fn small_files() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let limited = format!("ulimit -f 1; exec {}", program.display());
    assert_lost(&measure(kilocore(), &["sh", "-c", &limited]), "no-room", "ulimit -f");
}

#[test]
fn limits_that_hold_for_kilocore_too_are_told_and_survived() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    for limit in ["ulimit -f 1", "ulimit -v 200000"] {
        let script = format!("{limit}; exec \"$@\"");
        let plain = kilocore();
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(plain.get_program());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let measured = measure(command, &[program.to_str().unwrap()]);
        assert!(measured.output.contains("was there"), "{limit}: {measured:?}");
        if limit.contains("-f") || measured.status != Some(5) {
            assert_eq!(measured.status, Some(2), "{limit}: {measured:?}");
            assert!(measured.said.contains("not recorded"), "{limit}: {measured:?}");
        } else {
            assert_eq!(measured.taken(), 1_000, "{limit}: {measured:?}");
        }
    }
}

/// A program that changes its root, gives itself to nobody, and then takes a lock.
const CHANGES_ROOT: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    if (chroot(words[1]) != 0 || chdir("/") != 0) return 9;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    usleep(300000);
    puts("was there");
    return 0;
}
"#;

#[test]
fn a_program_that_changes_its_root_is_recorded() {
    if !is_root("chroot") {
        return;
    }
    let folder = folder();
    let program = compiled(&folder, "changes", CHANGES_ROOT, &[]);
    let jail = folder.path().join("jail");
    fs::create_dir(&jail).unwrap();
    let words = [program.to_str().unwrap(), jail.to_str().unwrap()];
    let measured = measure(kilocore(), &words);
    assert_eq!((measured.status, measured.taken()), (Some(0), 1), "{measured:?}");
}

#[test]
fn a_program_that_is_executed_in_another_root() {
    if !is_root("chroot") {
        return;
    }
    let folder = folder();
    let jail = folder.path().join("jail");
    let program = compiled(&folder, "takes", TAKES, &[]);
    // What it needs, at the paths at which it finds it here.
    let needed = Command::new("ldd").arg(&program).output().expect("ldd comes with the C library");
    let needed = String::from_utf8_lossy(&needed.stdout).into_owned();
    let paths = needed.split_whitespace().filter(|word| word.starts_with('/'));
    for path in paths {
        let inside = jail.join(path.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        kilocore_shipped::copy_to_run(Path::new(path), &inside);
    }
    kilocore_shipped::copy_to_run(&program, &jail.join("takes"));
    let words = ["chroot", jail.to_str().unwrap(), "/takes"];
    assert_lost(&measure(kilocore(), &words), "other-root", "chroot");
}

/// A program that tells of itself while it runs, and ends when its file is gone.
const GOES_ON: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    puts("was there");
    fflush(stdout);
    if (count > 2 && daemon(1, 1) != 0) return 9;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    while (access(words[1], F_OK) == 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        usleep(10000);
    }
    return 0;
}
"#;

#[test]
fn a_daemon() {
    let folder = folder();
    let program = compiled(&folder, "goes-on", GOES_ON, &[]);
    let file = folder.path().join("while");
    fs::write(&file, "").unwrap();
    let words = [program.to_str().unwrap(), file.to_str().unwrap(), "as a daemon"];
    let measured = measure(kilocore(), &words);
    fs::remove_file(&file).unwrap();
    let reasons = measured.reasons();
    assert_eq!(reasons, ["still-running"], "{measured:?}");
    // What the daemon had recorded by then is up to who was faster.
    if measured.taken() == 0 {
        assert_lost(&measured, "still-running", "foreground");
    }
}

#[test]
fn other_rights() {
    if !is_root("set-user-id programs of others") {
        return;
    }
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(&program, Some(65_534), Some(65_534)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).unwrap();
    if is_without_set_id(folder.path()) {
        eprintln!("not tested, as this file system has no set-user-id programs");
        return;
    }
    let measured = measure(kilocore(), &[program.to_str().unwrap()]);
    assert_lost(&measured, "other-rights", "set-user-id");
}

/// Whether a folder is on a file system that is mounted without set-user-id programs.
fn is_without_set_id(folder: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes()).unwrap();
    // SAFETY: zero bytes are a valid statvfs.
    let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string, and a structure of ours.
    assert_eq!(unsafe { libc::statvfs(name.as_ptr(), &raw mut facts) }, 0);
    facts.f_flag & libc::ST_NOSUID != 0
}

#[test]
fn a_closed_environment() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let measured = measure(kilocore(), &["env", "-i", program.to_str().unwrap()]);
    assert_lost(&measured, "not-asked", "env without -i");
}

#[test]
fn a_child_that_is_lost_beside_one_that_is_recorded_is_told_of_and_changes_no_status() {
    let folder = folder();
    let program = compiled(&folder, "takes", TAKES, &[]);
    let other = compiled(&folder, "static", TAKES, &["-static"]);
    let both = format!("{}; {}; exit 4", program.display(), other.display());
    let measured = measure(kilocore(), &["sh", "-c", &both]);
    assert_eq!((measured.status, measured.taken()), (Some(4), 1_000), "{measured:?}");
    assert_eq!(measured.reasons(), ["static"]);
    assert!(measured.said.contains("not recorded"), "{measured:?}");
    assert!(!measured.said.contains("nothing can be said"), "{measured:?}");
}

#[test]
fn a_daemon_that_was_lost_sight_of_is_found_again() {
    // Its parent is gone before anybody looks, and its environment asks for nothing.
    let folder = folder();
    let program = compiled(&folder, "goes-on", GOES_ON, &[]);
    let file = folder.path().join("while");
    fs::write(&file, "").unwrap();
    let script =
        format!("(env -i {} {} >/dev/null &); echo was there", program.display(), file.display());
    let measured = measure(kilocore(), &["sh", "-c", &script]);
    fs::remove_file(&file).unwrap();
    assert_eq!(measured.status, Some(2), "{measured:?}");
    assert!(measured.reasons().contains(&"still-running".to_owned()), "{measured:?}");
}
