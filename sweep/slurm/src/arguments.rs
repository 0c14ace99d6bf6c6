//! What `sbatch` is told of an array.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use kilocore_sweep::Array;

/// The words after `sbatch`: one core for each task, and a signal half a minute before its time is over.
pub(crate) fn arguments(
    array: &Array<'_>,
    script: &Path,
    partition: Option<&str>,
) -> io::Result<Vec<OsString>> {
    let mut words: Vec<OsString> = [
        "--parsable",
        "--ntasks=1",
        "--cpus-per-task=1",
        "--signal=B:TERM@30",
        "--requeue",
        "--open-mode=append",
    ]
    .map(OsString::from)
    .into();
    words.push(format!("--job-name={}", array.name).into());
    words.push(format!("--array=0-{}", array.tasks - 1).into());
    words.push(with("--chdir=", env::current_dir()?.as_os_str().as_bytes().to_vec()));
    // A percent sign in a folder's name would stand for something.
    let mut log = pattern(array.folder.as_os_str());
    log.extend(b"/%a.log");
    words.push(with("--output=", log));
    if let Some(partition) = partition {
        words.push(format!("--partition={partition}").into());
    }
    words.push(script.into());
    Ok(words)
}

fn with(option: &str, value: Vec<u8>) -> OsString {
    OsString::from_vec([option.as_bytes().to_vec(), value].concat())
}

fn pattern(name: &OsStr) -> Vec<u8> {
    let double = |&byte: &u8| if byte == b'%' { vec![b'%', b'%'] } else { vec![byte] };
    name.as_bytes().iter().flat_map(double).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kilocore_sweep::Array;

    use super::arguments;

    #[test]
    fn an_array_has_its_name_its_tasks_and_its_logs() {
        let folder = Path::new("/shared/50%/arrays/kilocore-a");
        let array = Array { name: "kilocore-a", folder, tasks: 12, words: &[] };
        let words =
            arguments(&array, &folder.join("script"), Some("short,long")).expect("a folder");
        for word in [
            "--job-name=kilocore-a",
            "--array=0-11",
            "--output=/shared/50%%/arrays/kilocore-a/%a.log",
            "--partition=short,long",
        ] {
            assert!(words.iter().any(|own| own == word), "{word}: {words:?}");
        }
        assert_eq!(
            words.last().map(|last| last.as_os_str()),
            Some(folder.join("script").as_os_str())
        );
        let words = arguments(&array, Path::new("script"), None).expect("a folder");
        assert!(words.iter().all(|word| !word.to_string_lossy().starts_with("--partition")));
    }
}
