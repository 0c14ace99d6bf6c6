//! What cannot be recorded is refused before anything is run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_reference_recorder::{Options, ProgramError, QemuError, RecordError, record};

use crate::support::{folder, options, words};

fn refused(command: &[OsString], options: &Options<'_>) -> RecordError {
    record(command, options, |_| panic!("there is no stream")).expect_err("it cannot be recorded")
}

fn executable(path: &Path, content: &[u8]) {
    std::fs::write(path, content).expect("there is room");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("it is ours");
}

#[test]
fn what_is_no_program_for_this_machine_is_refused() {
    let folder = folder();
    let mut program = std::fs::read("/bin/true").expect("every system has it");
    program[18..20].copy_from_slice(&183_u16.to_le_bytes());
    let path = folder.path().join("for-arm");
    executable(&path, &program);
    let error = refused(&words(&path, &[]), &options());
    assert!(
        matches!(error, RecordError::Qemu(QemuError::Program(ProgramError::Foreign { .. }))),
        "{error}"
    );
    assert!(error.to_string().contains("Arm with 64 bits"), "{error}");

    let error = refused(&words("no-such-program".as_ref(), &[]), &options());
    assert!(error.to_string().contains("no-such-program"), "{error}");
    assert!(matches!(refused(&[], &options()), RecordError::NoProgram));
}

#[test]
fn what_has_other_rights_is_refused() {
    let folder = folder();
    let path = folder.path().join("privileged");
    executable(&path, &std::fs::read("/bin/true").expect("every system has it"));
    // Only root can give files away.
    if std::os::unix::fs::chown(&path, Some(1), None).is_err() {
        return;
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    std::fs::set_permissions(&path, mode).expect("it may be root");
    let error = refused(&words(&path, &[]), &options());
    assert!(
        matches!(error, RecordError::Qemu(QemuError::Program(ProgramError::Privileged { .. }))),
        "{error}"
    );
}

#[test]
fn a_missing_plugin_and_impossible_sizes_are_refused() {
    let library = PathBuf::from("/no/such/plugin.so");
    let error = refused(&words("true".as_ref(), &[]), &Options { library, ..options() });
    assert!(error.to_string().contains("build the plugin"), "{error}");
    let qemu = Some("/no/such/qemu".into());
    let error = refused(&words("true".as_ref(), &[]), &Options { qemu, ..options() });
    assert!(error.to_string().contains("/no/such/qemu"), "{error}");
    for (threads, slots) in [(0, 1 << 14), (5_000, 1 << 14), (4, 300), (4, 128)] {
        let error = refused(&words("true".as_ref(), &[]), &Options { threads, slots, ..options() });
        assert!(matches!(error, RecordError::Memory(_)), "{error}");
    }
}

/// The example, in a process of its own.
fn example(path: Option<&Path>, plugin: &Path) -> String {
    let own = std::env::current_exe().expect("a program knows where it is");
    let folder = own.ancestors().nth(2).expect("it is in `deps`");
    let mut command = Command::new(folder.join("examples/count_references"));
    command.arg(plugin).arg("/bin/true");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().expect("Cargo builds examples for tests");
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).expect("it is text")
}

#[test]
fn a_missing_qemu_is_named_and_one_without_plugins_too() {
    let folder = folder();
    let plugin = options().library;
    let error = example(Some(folder.path()), &plugin);
    assert!(error.contains("install the Debian package qemu-user"), "{error}");
    executable(&folder.path().join("qemu-x86_64"), b"#!/bin/sh\n/bin/echo -cpu model\n");
    let error = example(Some(folder.path()), &plugin);
    assert!(error.contains("takes no plugins"), "{error}");
    // A file that is no plugin: QEMU says so itself, and the recorder that it did not begin.
    let other = kilocore_shipped::folder().join("libkilocore_run.so");
    let error = example(None, &other);
    assert!(error.contains("QEMU did not begin"), "{error}");
}
