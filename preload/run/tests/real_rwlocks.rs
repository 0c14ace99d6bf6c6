//! Real programs give the right answers under a read-write lock of each family, as they do without the
//! library. In `make soak` they run under each.
//!
//! The programs are in these Debian packages: kyotocabinet-utils rocksdb-tools mariadb-server-core
//! mariadb-client sysbench.

mod common;
#[path = "real/mariadb.rs"]
mod mariadb;

use std::process::Command;
use std::time::Duration;

use common::{rwlock_families, scratch, succeed, under_both, under_rwlock};

/// The time limit of a program that takes at most about a second when it is alone on the machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The hash database protects its table by a read-write lock. Each of these loads locks it some ten
/// thousand times.
#[test]
fn kyoto_cabinet_finds_no_fault() {
    let loads = ["order -th 2 10000", "queue -th 4 10000", "wicked -th 4 5000", "tran -th 2 5000"];
    for rwlock in rwlock_families() {
        for load in loads {
            let mut command = Command::new("kccachetest");
            command.args(load.split(' '));
            let text = succeed(under_rwlock(command, rwlock), LIMIT);
            // The program checks every answer of the database and prints `ok` at the end.
            assert_eq!(text.trim_end().lines().last(), Some("ok"), "{load} {rwlock:?}: {text}");
        }
    }
}

/// A table in memory that is updated in place has read-write locks for its values.
#[test]
fn rocksdb_finds_what_it_has_stored() {
    const KEYS: &str = "5000";
    for (lock, rwlock) in
        rwlock_families().map(|rwlock| (None, rwlock)).chain([(Some("mcs"), Some("phase-fair"))])
    {
        let directory = scratch("rocksdb");
        let mut command = Command::new("db_bench");
        command
            .arg(format!("--db={}", directory.display()))
            .arg("--benchmarks=fillseq,overwrite,readrandom,readwhilewriting,verifychecksum")
            .args(["--threads=4", "--num", KEYS])
            .args(["--inplace_update_support=1", "--allow_concurrent_memtable_write=false"]);
        let text = succeed(under_both(command, lock, rwlock), LIMIT);
        for load in ["readrandom", "readwhilewriting"] {
            let line = text.lines().find(|line| line.starts_with(load));
            let all = format!("({KEYS} of {KEYS} found)");
            assert!(line.is_some_and(|line| line.contains(&all)), "{lock:?} {rwlock:?}: {text}");
        }
        assert!(text.lines().any(|line| line.starts_with("verifychecksum")), "{rwlock:?}: {text}");
    }
}

#[test]
fn mariadb_serves() {
    for rwlock in rwlock_families() {
        mariadb::serves(None, rwlock, 200);
    }
    mariadb::serves(Some("futex"), Some("phase-fair"), 200);
}
