//! What a task executes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use kilocore_sweep::Array;

/// The script of an array's tasks. The shell becomes the task's program, so that signals reach that.
pub(crate) fn script(array: &Array<'_>) -> Vec<u8> {
    let mut text = b"#!/bin/sh\nexec".to_vec();
    for word in array.words {
        text.push(b' ');
        text.extend(quoted(word));
    }
    text.push(b' ');
    text.extend(quoted(array.folder.as_os_str()));
    text.extend(b"/\"$SLURM_ARRAY_TASK_ID\".json\n");
    text
}

/// A word as a shell reads it, whatever its bytes are.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = b"'".to_vec();
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend(br"'\''"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;

    use kilocore_sweep::Array;

    use super::script;

    #[test]
    fn words_and_folders_come_through_a_shell_as_they_are() {
        let own = tempfile::tempdir().expect("a folder");
        let folder = own.path().join("a 'b' $c");
        std::fs::create_dir(&folder).expect("a folder");
        let words = ["printf", "%s\\n", "it's `one`"].map(OsString::from);
        let array = Array { name: "kilocore-a", folder: &folder, tasks: 1, words: &words };
        let file = own.path().join("script");
        std::fs::write(&file, script(&array)).expect("it can be written");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("it is ours");
        let output = Command::new("sh").arg(&file).env("SLURM_ARRAY_TASK_ID", "7").output();
        let printed = String::from_utf8(output.expect("a shell").stdout).expect("it is text");
        let expected = format!("it's `one`\n{}\n", Path::new(&folder).join("7.json").display());
        assert_eq!(printed, expected);
    }
}
