//! The memory that a pool takes: how much of it is there, and what happens if the system refuses it.
//!
//! What these tests measure or limit is that of a whole process, so each has one of its own.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use kilocore_buffer_pool::{
    BufferPool, DefaultLists, FaultyDisk, Options, OptionsError, PageId, PoolError,
};
use kilocore_lru::{Layout, Options as ListOptions};

const MIB: u64 = 1 << 20;

/// Set in a process that runs one test.
const ALONE: &str = "KILOCORE_POOL_TEST_ALONE";

/// Runs a test's body in a process of its own, whose address space has at most so many bytes.
fn alone(test: &str, most: Option<u64>, body: fn()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let mut command = Command::new(std::env::current_exe().expect("it is running"));
    command.args(["--exact", "--nocapture", test]).env(ALONE, "1");
    if let Some(bytes) = most {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: between fork and exec this only makes a system call.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            })
        };
    }
    let output = command.output().expect("it can be started again");
    let [said, complained] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let is_good = output.status.success() && said.contains("1 passed");
    assert!(is_good, "{}\n{said}\n{complained}", output.status);
}

/// The bytes of this process that are in memory.
fn resident() -> u64 {
    let smaps = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux has it");
    let line = smaps.lines().find(|line| line.starts_with("Rss:")).expect("there is such a line");
    let kib: u64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kib * 1024
}

#[test]
fn a_page_takes_memory_from_its_first_use_until_the_pool_shrinks() {
    alone("resources::a_page_takes_memory_from_its_first_use_until_the_pool_shrinks", None, || {
        const MOST: u32 = 100_000;
        const USED: u32 = 5_000;
        const PAGE: u64 = 8192;
        // What else a process takes, and huge pages of the system of which a part is used.
        let rest = 8 * MIB;
        let options = Options { most: MOST, ..Options::new(1, PAGE as usize) };
        let before = resident();
        let pool = BufferPool::new(FaultyDisk::new(), options).expect("there is so much memory");
        let made = resident();
        let tables = 61 * u64::from(MOST);
        assert!(made < before + tables + rest, "{before} bytes, and {made} with an empty pool");

        pool.resize(USED).expect("it is not the most");
        for page in 0..USED {
            assert_eq!(pool.read(PageId(page.into())).expect("there is room")[0], 0);
        }
        let used = resident();
        let pages = u64::from(USED) * PAGE;
        assert!((made + pages..made + pages + rest).contains(&used), "{made} bytes, then {used}");

        pool.resize(1).expect("nothing is pinned");
        let shrunk = resident();
        assert!(shrunk < made + rest, "{made} bytes, then {used}, then {shrunk}");
    });
}

#[test]
fn without_memory_for_its_tables_no_pool_is_made() {
    alone("resources::without_memory_for_its_tables_no_pool_is_made", Some(256 * MIB), || {
        let small = Options::new(1, 1);
        // From a pool that fits to one whose first table does not.
        let outcomes = (1..=20).map(|millions| {
            let options = Options { most: millions * 1_000_000, ..small };
            match BufferPool::new(FaultyDisk::new(), options) {
                Ok(_) => true,
                Err(OptionsError::NoMemory) => false,
                Err(other) => panic!("{millions} million frames: {other}"),
            }
        });
        let outcomes: Vec<_> = outcomes.collect();
        assert!(outcomes[0] && !outcomes[19] && outcomes.is_sorted_by(|less, more| less >= more));

        for cores in [1 << 22, 1 << 30, u32::MAX] {
            let options = Options { cores, ..small };
            let pool = BufferPool::new(FaultyDisk::new(), options);
            assert!(matches!(pool.err(), Some(OptionsError::NoMemory)), "{cores} cores");
            let lists = ListOptions { layout: Layout::STOCK, batch: 1, sorted: false };
            let lists = DefaultLists::new(1, 1, lists).expect("they are small");
            let pool = BufferPool::with_lists(FaultyDisk::new(), lists, options);
            assert!(matches!(pool.err(), Some(OptionsError::NoMemory)), "{cores} cores");
        }
    });
}

#[test]
fn without_memory_for_a_copy_a_page_stays_dirty() {
    alone("resources::without_memory_for_a_copy_a_page_stays_dirty", Some(1024 * MIB), || {
        let large = 600 * MIB as usize;
        let pool =
            BufferPool::new(FaultyDisk::new(), Options::new(1, large)).expect("it fits once");
        pool.write(PageId(1)).expect("there is room")[0] = 1;
        let refused = pool.sync().expect_err("it does not fit twice");
        let PoolError::Write(PageId(1), error) = refused else { panic!("{refused}") };
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert_eq!(pool.statistics().dirty, 1);
        assert_eq!(pool.read(PageId(1)).expect("it stays")[0], 1);
    });
}
