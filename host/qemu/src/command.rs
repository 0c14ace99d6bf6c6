//! The command that runs a program under QEMU with a plugin.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::{Program, QemuError};

/// A plugin, and what it is told.
#[derive(Debug, Clone)]
pub struct Plugin<'a> {
    /// The plugin's file.
    pub library: &'a Path,
    /// Its arguments, each as `key=value`, in any characters: commas are taken care of.
    pub arguments: Vec<OsString>,
}

/// The whole path of a plugin or of a library that is put under the program.
///
/// # Errors
/// [`QemuError::Library`] if it is not there.
pub fn library(path: &Path) -> Result<PathBuf, QemuError> {
    let library = path.to_owned();
    path.canonicalize().map_err(|source| QemuError::Library { library, source })
}

/// The command that runs a program under QEMU with a plugin, and with these variables in the program's
/// environment, each as `name=value`. QEMU takes commas in them to separate variables. `cpu` is the processor
/// that the program finds, as QEMU names it. `seed` is that of the random bytes which Linux hands to each program.
#[must_use]
pub fn command(
    qemu: &Path,
    cpu: Option<&str>,
    seed: Option<u64>,
    plugin: &Plugin<'_>,
    variables: Vec<OsString>,
    program: Program,
) -> Vec<OsString> {
    let mut command = vec![qemu.as_os_str().to_owned()];
    if let Some(cpu) = cpu {
        command.extend(["-cpu".into(), cpu.into()]);
    }
    if let Some(seed) = seed {
        command.extend(["-seed".into(), seed.to_string().into()]);
    }
    let mut words = OsString::from("file=");
    words.push(doubled(plugin.library.as_os_str()));
    for argument in &plugin.arguments {
        words.push(",");
        words.push(doubled(argument));
    }
    for variable in variables {
        command.extend(["-E".into(), variable]);
    }
    command.extend(["-plugin".into(), words, "-0".into(), program.name]);
    command.push(program.file.into_os_string());
    command.extend(program.arguments);
    command
}

/// A word in an option: a comma stands there twice.
fn doubled(word: &OsStr) -> OsString {
    let doubled = word
        .as_bytes()
        .iter()
        .flat_map(|&byte| std::iter::repeat_n(byte, if byte == b',' { 2 } else { 1 }));
    OsString::from_vec(doubled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_its_place_and_commas_stand_twice() {
        let program = Program {
            file: "/bin/true".into(),
            name: "true".into(),
            arguments: vec!["-plugin".into(), "a,b".into()],
        };
        let plugin = Plugin {
            library: Path::new("/a,b/plugin.so"),
            arguments: vec!["shared=/x,y".into(), "locks=on".into()],
        };
        let variables = vec!["NAME=value".into()];
        let made = command(Path::new("/qemu"), Some("max"), Some(7), &plugin, variables, program);
        let expected = [
            "/qemu",
            "-cpu",
            "max",
            "-seed",
            "7",
            "-E",
            "NAME=value",
            "-plugin",
            "file=/a,,b/plugin.so,shared=/x,,y,locks=on",
            "-0",
            "true",
            "/bin/true",
            "-plugin",
            "a,b",
        ];
        assert_eq!(made, expected);
    }
}
