//! A file of pages is one pool's at a time, and its name is durable.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use kilocore_buffer_pool::{BufferPool, FileStore, OpenFileError, Options, PageId};

fn writing() -> OpenOptions {
    File::options().read(true).write(true).create(true).clone()
}

fn reading() -> OpenOptions {
    File::options().read(true).clone()
}

fn is_in_use(result: Result<FileStore, OpenFileError>) -> bool {
    match result {
        Ok(_) => false,
        Err(OpenFileError::InUse(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_file_is_one_stores_or_that_of_all_who_only_read_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("pages");
    let open = |options: OpenOptions| FileStore::open(&path, &options);
    let writer = open(writing()).expect("it is new");
    assert!(is_in_use(open(writing())));
    assert!(is_in_use(open(reading())));
    drop(writer);
    let readers = [open(reading()), open(reading())];
    assert!(readers.iter().all(Result::is_ok));
    assert!(is_in_use(open(writing())));
    drop(readers);
    assert!(!is_in_use(open(writing())));
}

/// As a process has it that another thread has just forked.
#[test]
fn a_copy_of_the_open_file_does_not_keep_the_lock() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("pages");
    let store = FileStore::open(&path, &writing()).expect("it is new");
    let _copy = store.file().try_clone().expect("it is open");
    drop(store);
    assert!(!is_in_use(FileStore::open(&path, &writing())));
}

#[test]
fn another_program_is_kept_away_and_keeps_away() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("pages");
    let store = FileStore::open(&path, &writing()).expect("it is new");
    let try_lock = || {
        let status = Command::new("flock").arg("--nonblock").arg(&path).arg("true").status();
        status.expect("flock is there").success()
    };
    assert!(!try_lock());
    // A pool has the store as long as it lives.
    let pool = BufferPool::new(store, Options::new(2, 4096)).expect("in range");
    pool.write(PageId(0)).expect("there is room")[0] = 1;
    pool.sync().expect("there is room");
    assert!(!try_lock());
    drop(pool);
    assert!(try_lock());
    // It has the lock when it says so, and until it is told to end.
    let mut other = Command::new("flock")
        .arg(&path)
        .args(["sh", "-c", "echo locked; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("flock is there");
    let mut said = [0; 6];
    other.stdout.as_mut().expect("it is a pipe").read_exact(&mut said).expect("it says so");
    assert!(is_in_use(FileStore::open(&path, &writing())));
    other.stdin.take().expect("it is a pipe").write_all(b"\n").expect("it waits");
    assert!(other.wait().expect("it ends").success());
    assert!(!is_in_use(FileStore::open(&path, &writing())));
}

/// What was synced: devices and files.
static SYNCED: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

fn identity(path: &Path) -> (u64, u64) {
    let metadata = std::fs::metadata(path).expect("it is there");
    (metadata.dev(), metadata.ino())
}

fn was_synced(path: &Path) -> bool {
    SYNCED.lock().expect("nobody panics with it").contains(&identity(path))
}

/// Forgets that a file was synced, or another one that had its number before.
fn forget(path: &Path) {
    let gone = identity(path);
    SYNCED.lock().expect("nobody panics with it").retain(|synced| *synced != gone);
}

/// Comes before the system's function of this name, for the whole test program, and does the same.
// SAFETY: it has the type of the function that it replaces, and does what that does.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: libc::c_int) -> libc::c_int {
    // SAFETY: all zeros are a value of this type, which consists of numbers.
    let mut metadata: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to what is borrowed here, and takes any number for the file.
    if unsafe { libc::fstat(file, &raw mut metadata) } == 0
        && let Ok(mut synced) = SYNCED.lock()
    {
        synced.push((metadata.st_dev, metadata.st_ino));
    }
    // SAFETY: it is the system's own call, which takes any number.
    unsafe { libc::syscall(libc::SYS_fsync, file) as libc::c_int }
}

#[test]
fn the_name_of_a_file_that_is_written_is_durable() {
    let folder = tempfile::tempdir().expect("there is room");
    let [there, link] = ["there", "link"].map(|name| folder.path().join(name));
    for folder in [&there, &link] {
        std::fs::create_dir(folder).expect("there is room");
        forget(folder);
    }
    let path = there.join("pages");
    drop(FileStore::open(&path, &writing()).expect("it is new"));
    assert!(was_synced(&there));
    // A link leads to the name that counts.
    forget(&there);
    symlink(&path, link.join("pages")).expect("there is room");
    drop(FileStore::open(link.join("pages"), &writing()).expect("it is there"));
    assert!(was_synced(&there));
    assert!(!was_synced(&link));
}

#[test]
fn who_only_reads_a_file_syncs_nothing() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("pages");
    std::fs::write(&path, "").expect("there is room");
    forget(folder.path());
    drop(FileStore::open(&path, &reading()).expect("it is there"));
    assert!(!was_synced(folder.path()));
}

#[test]
fn an_error_names_the_file() {
    let folder = tempfile::tempdir().expect("there is room");
    let missing = folder.path().join("missing");
    let error = FileStore::open(&missing, &reading()).expect_err("it is not there");
    assert!(matches!(&error, OpenFileError::Open(path, _) if *path == missing));
    assert!(error.to_string().starts_with(missing.to_str().expect("text")), "{error}");
    let path = folder.path().join("pages");
    let _store = FileStore::open(&path, &writing()).expect("it is new");
    let error = FileStore::open(&path, &writing()).expect_err("it is in use");
    assert!(error.to_string().contains("pages: another program has it open"), "{error}");
}
