//! The program, as QEMU has to be told: an ELF file for Linux on x86-64.
//!
//! QEMU executes no scripts. So a script's interpreter is found here, as the kernel would, and QEMU
//! runs that.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kilocore_process::{find_program, machine_name};

use crate::ProgramError;

/// The kernel follows scripts no deeper.
const DEEPEST: usize = 5;
/// The kernel looks at this much of a file.
const BEGINNING: usize = 256;

/// A program to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The file to execute.
    pub file: PathBuf,
    /// What the program finds as its own name.
    pub name: OsString,
    /// The arguments that come after the name.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// Finds the program of a command: the file to execute, or the interpreter that its script names.
    ///
    /// # Errors
    /// If it is not there, or is none that QEMU can run here with the rights that it has.
    pub fn find(name: &OsStr, arguments: &[OsString]) -> Result<Self, ProgramError> {
        let missing =
            |source: io::Error| ProgramError::Missing { program: name.to_owned(), source };
        let mut file = find_program(name).map_err(missing)?;
        let mut program =
            Self { file: PathBuf::new(), name: name.to_owned(), arguments: arguments.to_vec() };
        for _ in 0..DEEPEST {
            let (beginning, privileged) = look(&file).map_err(missing)?;
            let Some(script) = beginning.strip_prefix(b"#!") else {
                check(&file, &beginning)?;
                if privileged {
                    return Err(ProgramError::Privileged { program: file });
                }
                return Ok(Self { file, ..program });
            };
            let (interpreter, argument) = interpreter(script).ok_or_else(|| {
                let what = "a script that names no interpreter".to_owned();
                ProgramError::Foreign { program: file.clone(), what }
            })?;
            program.arguments.insert(0, file.into_os_string());
            program.arguments.splice(0..0, argument);
            file = find_program(&interpreter)
                .map_err(|source| ProgramError::Missing { program: interpreter.clone(), source })?;
            program.name = interpreter;
        }
        Err(ProgramError::Scripts { program: file })
    }
}

/// The beginning of a file, and whether it has rights that its user has not.
fn look(file: &Path) -> io::Result<(Vec<u8>, bool)> {
    let mut file = File::open(file)?;
    let about = file.metadata()?;
    // SAFETY: these take nothing and always succeed.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let privileged = about.mode() & libc::S_ISUID != 0 && about.uid() != user
        || about.mode() & libc::S_ISGID != 0 && about.mode() & 0o010 != 0 && about.gid() != group;
    let mut beginning = Vec::new();
    file.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning)?;
    Ok((beginning, privileged))
}

/// The interpreter that a script names, and the one argument that it may have.
fn interpreter(script: &[u8]) -> Option<(OsString, Option<OsString>)> {
    let line = script.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(|byte| b" \t".contains(byte)).unwrap_or(line.len());
    let (path, argument) = (&line[..end], line[end..].trim_ascii());
    let owned = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let argument = (!argument.is_empty()).then(|| owned(argument));
    (!path.is_empty()).then(|| (owned(path), argument))
}

fn check(file: &Path, beginning: &[u8]) -> Result<(), ProgramError> {
    let foreign = |what: String| ProgramError::Foreign { program: file.to_owned(), what };
    if !beginning.starts_with(b"\x7fELF") || beginning.len() < 20 {
        return Err(foreign("no ELF file".to_owned()));
    }
    let number = |at: usize| u16::from_le_bytes([beginning[at], beginning[at + 1]]);
    let (class, order, system, kind) = (beginning[4], beginning[5], beginning[7], number(16));
    let machine = if order == 2 { number(18).swap_bytes() } else { number(18) };
    if machine != 62 {
        let name = machine_name(machine);
        let name = name.map_or_else(|| format!("machine {machine}"), str::to_owned);
        return Err(foreign(format!("a program for {name}")));
    }
    match (class, system, kind) {
        (2, 0 | 3, 2 | 3) => Ok(()),
        (1, ..) => Err(foreign("a program for x86-64 with addresses of 32 bits (x32)".to_owned())),
        (2, 0 | 3, _) => Err(foreign("an ELF file that is no program".to_owned())),
        _ => Err(foreign("a program for another system".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn elf(class: u8, machine: u16, kind: u16) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\0".to_vec();
        bytes[4] = class;
        bytes.resize(16, 0);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes
    }

    fn found(
        folder: &Path,
        name: &str,
        content: &[u8],
        mode: u32,
    ) -> Result<Program, ProgramError> {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("there is room");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
        Program::find(path.as_os_str(), &["x".into()])
    }

    #[test]
    fn programs_for_other_machines_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("there is room");
        let refused = |content: &[u8]| {
            let error = found(folder.path(), "program", content, 0o755).expect_err("not here");
            error.to_string()
        };
        assert!(found(folder.path(), "good", &elf(2, 62, 3), 0o755).is_ok());
        assert!(refused(&elf(1, 3, 2)).contains("x86 with 32 bits"));
        assert!(refused(&elf(2, 183, 3)).contains("Arm with 64 bits"));
        assert!(refused(&elf(2, 999, 3)).contains("machine 999"));
        assert!(refused(&elf(1, 62, 3)).contains("x32"));
        assert!(refused(&elf(2, 62, 1)).contains("no program"));
        assert!(refused(b"hello").contains("no ELF file"));
        assert!(refused(b"").contains("no ELF file"));
        assert!(refused(b"#!\n").contains("no interpreter"));
        let own = format!("#!{}/loop", folder.path().display());
        let error = found(folder.path(), "loop", own.as_bytes(), 0o755).expect_err("endless");
        assert!(matches!(error, ProgramError::Scripts { .. }), "{error}");
        let error = found(folder.path(), "plain", &elf(2, 62, 3), 0o644).expect_err("no program");
        assert!(matches!(error, ProgramError::Missing { .. }), "{error}");
    }

    #[test]
    fn a_script_is_run_by_its_interpreter() {
        let folder = tempfile::tempdir().expect("there is room");
        let program = found(folder.path(), "script", b"#! /bin/sh  -e x \nexit", 0o755);
        let script = folder.path().join("script").into_os_string();
        let expected = Program {
            file: "/bin/sh".into(),
            name: "/bin/sh".into(),
            arguments: vec!["-e x".into(), script, "x".into()],
        };
        assert_eq!(program.expect("a shell can be run"), expected);
    }
}
