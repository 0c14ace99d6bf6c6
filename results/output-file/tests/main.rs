//! Regular files are replaced, and everything else is written through and stays.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use kilocore_output_file::{OutputFile, write_whole};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room")
}

fn names(folder: &TempDir) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("it can be read").file_name();
    let all = fs::read_dir(folder.path()).expect("it is there").map(name);
    let mut all: Vec<String> = all.map(|name| name.into_string().expect("plain")).collect();
    all.sort();
    all
}

#[test]
fn a_file_is_replaced_and_nothing_is_left_beside_it() {
    let folder = folder();
    let file = folder.path().join("file");
    write_whole(&file, "first").expect("there is room");
    let before = fs::metadata(&file).expect("it is there");
    // It would be written over if it were opened.
    let mut old = File::open(&file).expect("it is there");
    write_whole(&file, "second").expect("there is room");
    let mut text = String::new();
    old.read_to_string(&mut text).expect("text");
    assert_eq!(text, "first");
    assert_eq!(fs::read_to_string(&file).expect("text"), "second");
    assert_ne!(fs::metadata(&file).expect("it is there").ino(), before.ino());
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn a_link_stays_a_link_and_leads_to_the_new_file() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("there")).expect("there is room");
    symlink("there/file", path("one")).expect("there is room");
    symlink(path("one"), path("other")).expect("there is room");
    // The file need not be there yet.
    for text in ["first", "second"] {
        write_whole(&path("other"), text).expect("there is room");
        assert_eq!(fs::read_to_string(path("there/file")).expect("text"), text);
        let is_link = |name| fs::symlink_metadata(path(name)).expect("it is there").is_symlink();
        assert!(is_link("one") && is_link("other"));
    }
    assert_eq!(names(&folder), ["one", "other", "there"]);
    symlink("round", path("round")).expect("there is room");
    write_whole(&path("round"), "").expect_err("it leads to itself");
}

#[test]
fn a_fifo_is_written_through_by_whichever_name() {
    let folder = folder();
    let (fifo, link) = (folder.path().join("fifo"), folder.path().join("link"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("it is installed").success());
    symlink("fifo", &link).expect("there is room");
    for name in [&fifo, &link] {
        // More than a pipe holds.
        let text = "text ".repeat(100_000);
        OutputFile::named(name).and_then(|output| output.check()).expect("it can be written to");
        let read = thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read_to_string(&fifo).expect("text"));
            write_whole(name, &text).expect("somebody reads it");
            reader.join().expect("it has read")
        });
        assert!(read == text, "{} bytes", read.len());
    }
    assert!(fs::symlink_metadata(&fifo).expect("it is there").file_type().is_fifo());
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(names(&folder), ["fifo", "link"]);
}

/// Makes a device of the same numbers as one of the system's, if this user may: those of the system are not put at
/// risk.
fn device(folder: &TempDir, name: &str, minor: &str) -> Option<std::path::PathBuf> {
    let path = folder.path().join(name);
    let mut make = Command::new("mknod");
    make.arg(&path).args(["c", "1", minor]).stderr(Stdio::null());
    let made = make.status().is_ok_and(|status| status.success());
    // In some containers it can be made and not be opened.
    (made && File::options().write(true).open(&path).is_ok()).then_some(path)
}

#[test]
fn a_device_is_written_through_and_its_error_is_told() {
    let folder = folder();
    let device = [("full", "7"), ("null", "3")].map(|(name, minor)| device(&folder, name, minor));
    let [Some(full), Some(null)] = device else {
        // Root's mistakes would cost the system its devices.
        if fs::metadata("/proc/self").expect("it is there").uid() == 0 {
            return;
        }
        let error = write_whole(Path::new("/dev/full"), "text").expect_err("it is full");
        return assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    };
    let link = folder.path().join("link");
    symlink("full", &link).expect("there is room");
    for name in [&full, &link] {
        let error = write_whole(name, "text").expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    write_whole(&null, "text").expect("it takes everything");
    for name in [&full, &null] {
        let kind = fs::symlink_metadata(name).expect("it is there").file_type();
        assert!(kind.is_char_device(), "{}", name.display());
    }
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(names(&folder), ["full", "link", "null"]);
}

#[test]
fn a_descriptor_of_this_process_gets_the_text_behind_what_it_has() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, "before ").expect("there is room");
    let mut file = File::options().read(true).append(true).open(&path).expect("it is there");
    let number = file.as_raw_fd();
    let link = folder.path().join("link");
    symlink(format!("/dev/fd/{number}"), &link).expect("there is room");
    write_whole(Path::new(&format!("/proc/self/fd/{number}")), "one ").expect("it is open");
    write_whole(&link, "other").expect("it is open");
    let mut text = String::new();
    file.rewind().expect("a file");
    file.read_to_string(&mut text).expect("text");
    assert_eq!(text, "before one other");
    assert_eq!(fs::read_to_string(&path).expect("it has its name"), text);
}

#[test]
fn what_cannot_be_a_file_is_refused() {
    let folder = folder();
    let named = |path: &Path| OutputFile::named(path).expect_err("no file").kind();
    assert_eq!(named(folder.path()), io::ErrorKind::IsADirectory);
    assert_eq!(named(&folder.path().join("new/")), io::ErrorKind::IsADirectory);
    assert_eq!(named(Path::new("/")), io::ErrorKind::IsADirectory);
    assert_eq!(named(&folder.path().join("not/there")), io::ErrorKind::NotFound);
    symlink(folder.path(), folder.path().join("link")).expect("there is room");
    assert_eq!(named(&folder.path().join("link")), io::ErrorKind::IsADirectory);
    assert_eq!(names(&folder), ["link"]);
}

/// Needs root, who alone can make what is another's.
#[test]
fn what_a_stranger_has_put_into_a_shared_folder_is_not_followed() {
    const STRANGER: u32 = 65_534;
    let (shared, own) = (folder(), folder());
    let set_mode = |mode| fs::set_permissions(shared.path(), fs::Permissions::from_mode(mode));
    let (link, target) = (shared.path().join("link"), own.path().join("mine"));
    write_whole(&target, "mine").expect("there is room");
    symlink(&target, &link).expect("there is room");
    if lchown(&link, Some(STRANGER), None).is_err() {
        return;
    }
    set_mode(0o1777).expect("it is ours");
    let error = write_whole(&link, "theirs").expect_err("it is a stranger's");
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(fs::read_to_string(&target).expect("text"), "mine");
    // In a folder of one's own, whoever made it is trusted with it.
    set_mode(0o755).expect("it is ours");
    write_whole(&link, "theirs").expect("it is followed");
    assert_eq!(fs::read_to_string(&target).expect("text"), "theirs");
}
