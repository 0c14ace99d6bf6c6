//! Programs that do not start: the message says what stands in the way, and the status is that of shells.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::measured::{kilocore, run_while};

/// An executable file with what is in a shell's, changed.
fn changed(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = fs::read("/bin/sh").expect("there is a shell");
    change(&mut bytes);
    let path = folder.join(name);
    fs::write(&path, bytes).expect("a folder of the test's own");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its own file");
    path.to_str().expect("text").to_owned()
}

#[test]
fn every_verb_says_what_stands_in_the_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mips = changed(folder, "mips", |bytes| bytes[18..20].copy_from_slice(&[8, 0]));
    let script = changed(folder, "script", |bytes| *bytes = b"#!/no/such/shell\n".to_vec());
    let archive = changed(folder, "archive", |bytes| *bytes = b"PK\x03\x04\0\0".to_vec());
    let incomplete = changed(folder, "incomplete", |bytes| {
        let at = bytes.windows(9).position(|name| name == b"libc.so.6").expect("it needs that");
        bytes[at + 3] = b'X';
    });
    let folder_name = folder.to_str().expect("text");
    for (program, status, part) in [
        (&*mips, 126, "exec format error: it is a program for MIPS"),
        (&script, 126, "bad interpreter: its first line names `/no/such/shell`"),
        (&archive, 126, "neither a program for this machine nor a script"),
        (folder_name, 126, "it is a directory"),
        (&incomplete, 127, "the dynamic linker does not find libX.so.6"),
        ("no-such-program-anywhere", 127, "in none of the folders of PATH (/"),
    ] {
        for verb in [
            &["record", "locks", "--recorder", "preload"][..],
            &["doctor", "--once", "--recorder", "preload"],
            &["steer", "--metrics", "proc"],
            &["run", "--pages", "--pages-statistics"],
        ] {
            if program == mips && verb[0] == "run" {
                continue; // It cannot have a library under it, which is said first.
            }
            let mut command = kilocore();
            command.args(verb).args(["--", program]).current_dir(folder);
            let output = run_while(command, |_| ());
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{verb:?} {program}: {said}");
            assert!(said.contains(part), "{verb:?} {program}: {said}");
            assert!(!folder.join("kilocore.locks.json").exists(), "{verb:?} {program}");
        }
    }
}

#[test]
fn text_without_an_interpreter_is_read_by_a_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = changed(folder.path(), "script", |bytes| *bytes = b"echo $1; exit 3\n".to_vec());
    for verb in [&["record", "locks", "--recorder", "preload"][..], &["run", "--pages"]] {
        let mut command = kilocore();
        command.args(verb).args(["--", &script, "read"]).current_dir(folder.path());
        let output = run_while(command, |_| ());
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, b"read\n");
    }
}
