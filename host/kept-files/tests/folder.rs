//! Files are kept, bounded, and believed only if nobody else can have written them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use kilocore_kept_files::{KeptFiles, KeptName};
use tempfile::TempDir;

/// A parent, by its path without links.
fn parent() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn below(parent: &std::path::Path) -> std::io::Result<KeptFiles> {
    KeptFiles::below(parent, "program", "subject", 1_000)
}

#[test]
fn what_is_written_is_read_also_by_another_process_that_opens_the_folder_anew() {
    let (_held, parent) = parent();
    let files = below(&parent.join("not/there")).unwrap();
    assert_eq!(files.read("one").unwrap(), None);
    files.write("one", b"first").unwrap();
    files.write("one", b"second").unwrap();
    let again = below(&parent.join("not/there")).unwrap();
    assert_eq!(again.read("one").unwrap().unwrap(), b"second");
    let made = parent.join("not/there/program/subject");
    assert_eq!(fs::read_dir(&made).unwrap().count(), 1);
    assert_eq!(fs::metadata(made.join("one")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_was_used_longest_ago_goes_first_and_the_newest_stays() {
    let (_held, parent) = parent();
    let files = below(&parent).unwrap();
    let folder = parent.join("program/subject");
    for (name, age) in [("a", 300), ("b", 200), ("c", 100)] {
        files.write(name, &[0; 400]).ok();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        fs::File::open(folder.join(name)).unwrap().set_modified(then).unwrap();
        if name == "b" {
            // Used again, so that it is younger than it was.
            assert!(files.read("a").unwrap().is_some());
        }
    }
    // Of a, b and c, two fit: b was used longest ago when c came.
    assert!(files.read("b").unwrap().is_none());
    assert!(files.read("a").unwrap().is_some() && files.read("c").unwrap().is_some());
    files.write("large", &[0; 1_001]).unwrap();
    assert!(files.read("large").is_err(), "larger than all may be");
    assert!(files.read("a").unwrap().is_none());
}

#[test]
fn what_was_abandoned_goes_and_what_is_being_written_stays() {
    let (_held, parent) = parent();
    let files = below(&parent).unwrap();
    let folder = parent.join("program/subject");
    for (name, age) in [(".new-1-1", 7_200), (".new-1-2", 60)] {
        fs::write(folder.join(name), b"part").unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        fs::File::options()
            .append(true)
            .open(folder.join(name))
            .unwrap()
            .set_modified(then)
            .unwrap();
    }
    files.write("one", b"whole").unwrap();
    assert!(!folder.join(".new-1-1").exists() && folder.join(".new-1-2").exists());
}

#[test]
fn links_and_folders_of_everybody_are_refused() {
    let (_held, parent) = parent();
    fs::create_dir(parent.join("real")).unwrap();
    symlink(parent.join("real"), parent.join("link")).unwrap();
    below(&parent.join("real")).unwrap();
    assert!(below(&parent.join("link")).is_err());
    assert!(below(&parent.join("real/../real")).is_err());
    assert!(below(std::path::Path::new("relative")).is_err());

    let subject = parent.join("real/program/subject");
    fs::set_permissions(&subject, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(below(&parent.join("real")).is_err(), "others may write to it");
    fs::remove_dir(&subject).unwrap();
    symlink(&parent, &subject).unwrap();
    assert!(below(&parent.join("real")).is_err(), "a link in its place");
}

#[test]
fn a_file_that_others_may_write_a_link_and_a_pipe_are_refused_at_once() {
    let (_held, parent) = parent();
    let files = below(&parent).unwrap();
    let folder = parent.join("program/subject");
    files.write("one", b"whole").unwrap();
    fs::set_permissions(folder.join("one"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(files.read("one").is_err());
    fs::write(parent.join("other"), b"elsewhere").unwrap();
    symlink(parent.join("other"), folder.join("two")).unwrap();
    assert!(files.read("two").is_err());
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("three"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(files.read("three").is_err());
    // Each is replaced by the next write, and what a link led to stays.
    for name in ["one", "two", "three"] {
        files.write(name, b"new").unwrap();
        assert_eq!(files.read(name).unwrap().unwrap(), b"new");
    }
    assert_eq!(fs::read(parent.join("other")).unwrap(), b"elsewhere");
}

#[test]
fn a_folder_on_the_way_that_belongs_to_somebody_else_is_refused() {
    let (_held, parent) = parent();
    fs::create_dir(parent.join("theirs")).unwrap();
    if std::os::unix::fs::chown(parent.join("theirs"), Some(65_534), None).is_err() {
        eprintln!("only root can give a folder away");
        return;
    }
    assert!(below(&parent.join("theirs")).is_err());
    let own = below(&parent).unwrap();
    own.write("one", b"mine").unwrap();
    let file = parent.join("program/subject/one");
    std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
    assert!(own.read("one").is_err(), "another user's file");
}

#[test]
fn files_are_named_the_one_that_was_used_last_first() {
    let (_held, parent) = parent();
    let files = below(&parent).unwrap();
    assert_eq!(files.most_bytes(), 1_000);
    assert_eq!(files.names().unwrap(), []);
    let folder = parent.join("program/subject");
    for (name, age) in [("a", 100), ("b", 300), ("c", 200)] {
        files.write(name, &vec![0; age]).unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age as u64);
        fs::File::open(folder.join(name)).unwrap().set_modified(then).unwrap();
    }
    // What is not complete, no file or no text is no name.
    fs::write(folder.join(".new-1-1"), "half").unwrap();
    fs::create_dir(folder.join("d")).unwrap();
    symlink("a", folder.join("e")).unwrap();
    let no_text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&[b'f', 0xff]);
    fs::write(folder.join(no_text), "").unwrap();
    let named = |name: &str, bytes| KeptName { name: name.to_owned(), bytes };
    assert_eq!(files.names().unwrap(), [named("a", 100), named("c", 200), named("b", 300)]);
    files.read("b").unwrap();
    assert_eq!(files.names().unwrap()[0], named("b", 300));
}

#[test]
fn what_is_removed_is_gone_and_can_be_removed_again() {
    let (_held, parent) = parent();
    let files = below(&parent).unwrap();
    files.write("one", b"first").unwrap();
    files.write("two", b"second").unwrap();
    for _ in 0..2 {
        files.remove("one").unwrap();
        assert_eq!(files.read("one").unwrap(), None);
    }
    assert!(files.read("two").unwrap().is_some());
}
