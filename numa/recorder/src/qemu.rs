//! QEMU, and how it is told what to do.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kilocore_process::find_program;

use crate::RecordError;
use crate::program::Program;

/// Finds a QEMU that takes plugins: this one, or the one that is installed.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, RecordError> {
    let name = named.map_or(OsStr::new("qemu-x86_64"), Path::as_os_str);
    let qemu = find_program(name).map_err(|source| match named {
        Some(qemu) => RecordError::Start { qemu: qemu.to_owned(), source },
        None => RecordError::NoQemu,
    })?;
    let help = Command::new(&qemu).arg("-help").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let help = help.map_err(|source| RecordError::Start { qemu: qemu.clone(), source })?;
    let takes = help.stdout.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"-plugin"));
    if takes { Ok(qemu) } else { Err(RecordError::NoPlugins { qemu }) }
}

/// The plugin, and what it is told.
#[derive(Debug)]
pub(crate) struct Plugin<'a> {
    pub(crate) library: &'a Path,
    /// The name of the memory that is shared with it.
    pub(crate) shared: &'a str,
    /// If it traces locks: how many instructions a processor looks ahead.
    pub(crate) window: Option<u32>,
    /// Whether it records who allocates memory.
    pub(crate) sites: bool,
}

/// The command that runs a program under QEMU with the plugin, with these variables in the program's
/// environment.
pub(crate) fn command(
    qemu: &Path,
    cpu: Option<&str>,
    plugin: &Plugin<'_>,
    variables: Vec<OsString>,
    program: Program,
) -> Vec<OsString> {
    let mut command = vec![qemu.as_os_str().to_owned()];
    if let Some(cpu) = cpu {
        command.extend(["-cpu".into(), cpu.into()]);
    }
    let mut words = OsString::from("file=");
    words.push(doubled(plugin.library));
    words.push(format!(",shared={}", plugin.shared));
    if let Some(window) = plugin.window {
        words.push(format!(",locks=on,window={window}"));
    }
    if plugin.sites {
        words.push(",sites=on");
    }
    for variable in variables {
        command.extend(["-E".into(), variable]);
    }
    command.extend(["-plugin".into(), words, "-0".into(), program.name]);
    command.push(program.file.into_os_string());
    command.extend(program.arguments);
    command
}

/// A path in an option: a comma stands there twice.
fn doubled(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = path.as_os_str().as_bytes();
    let doubled =
        bytes.iter().flat_map(|&byte| std::iter::repeat_n(byte, if byte == b',' { 2 } else { 1 }));
    OsString::from_vec(doubled.collect())
}
