//! Direct input and output, for which memory has to be aligned.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use kilocore_buffer_pool::{BufferPool, FileStore, Options, PageId, Store};

const PAGE: usize = 4096;

/// Refuses what a disk would refuse that is written in sectors of a page's size.
struct Aligned;

fn check(bytes: &[u8]) -> io::Result<()> {
    match bytes.as_ptr().addr() % PAGE {
        0 => Ok(()),
        beyond => Err(io::Error::other(format!("{beyond} bytes beyond a sector's beginning"))),
    }
}

impl Store for Aligned {
    fn read(&self, _: PageId, into: &mut [u8]) -> io::Result<()> {
        check(into)
    }

    fn write(&self, _: PageId, from: &[u8]) -> io::Result<()> {
        check(from)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_store_gets_aligned_bytes() {
    for bytes in [PAGE, 4 * PAGE] {
        let pool = BufferPool::new(Aligned, Options::new(3, bytes)).expect("in range");
        for page in 0..20 {
            pool.write(PageId(page)).expect("they are aligned")[0] = 1;
        }
        pool.sync().expect("they are aligned");
    }
}

/// The file of tests lies where the crate is built: where /tmp is in memory, its files take any bytes.
fn open_direct(path: &std::path::Path) -> Option<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_DIRECT).open(path);
    match file {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            eprintln!("the file system has no direct input and output: not tested");
            None
        }
        file => Some(file.expect("it is there")),
    }
}

#[test]
fn a_file_is_read_and_written_directly() {
    let directory = env!("CARGO_TARGET_TMPDIR");
    let path = tempfile::NamedTempFile::new_in(directory).expect("there is room").into_temp_path();
    // It ends within a page, and within a sector.
    let mut content = [vec![1; PAGE], vec![2; PAGE], vec![3; 904]].concat();
    std::fs::write(&path, &content).expect("there is room");
    let Some(file) = open_direct(&path) else { return };
    let pool = BufferPool::new(FileStore::new(file), Options::new(2, PAGE)).expect("in range");
    for (page, value) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        assert_eq!(pool.read(PageId(page)).expect("it can be read")[0], value);
    }
    assert_eq!(pool.read(PageId(2)).expect("it can be read")[903..906], [3, 0, 0]);
    for page in 0..4 {
        pool.write(PageId(page)).expect("there is room")[1] = 9;
    }
    pool.sync().expect("they can be written");
    content.resize(4 * PAGE, 0);
    content.iter_mut().skip(1).step_by(PAGE).for_each(|byte| *byte = 9);
    assert!(std::fs::read(&path).expect("it is there") == content);
}
