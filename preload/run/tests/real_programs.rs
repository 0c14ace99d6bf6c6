//! Real programs give the same answers under a lock of each family as without the library. In
//! `make soak` they run under every lock.
//!
//! The loads are small, because a lock that spins is slow if there are more threads than cores. The
//! tests check that the answers are right, and not how fast they are. The programs must be
//! installed. They are in these Debian packages: kyotocabinet-utils sysbench xz-utils git python3
//! stress-ng memcached libmemcached-tools mariadb-server-core mariadb-client.

mod common;
#[path = "real/mariadb.rs"]
mod mariadb;
#[path = "real/memcached.rs"]
mod memcached;

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use common::{locks, scratch, succeed, under};
use kilocore_locks::LockId;

/// The time limit of a program that takes at most about a second when it is alone on the machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns a command, given as words, under `lock`.
fn words(words: &str, lock: Option<&str>) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words);
    under(command, lock)
}

#[test]
fn kyoto_cabinet_finds_no_fault() {
    for lock in locks() {
        for test in
            ["order -th 2 10000", "queue -th 2 10000", "wicked -th 2 5000", "tran -th 2 5000"]
        {
            let text = succeed(words(&format!("kccachetest {test}"), lock), LIMIT);
            // The program checks every answer of the database and prints `ok` at the end.
            assert_eq!(text.trim_end().lines().last(), Some("ok"), "{test} {lock:?}: {text}");
        }
        let text = succeed(words("kccachetest order -th 2 -rnd 3000", lock), LIMIT);
        assert_eq!(text.trim_end().lines().last(), Some("ok"), "{lock:?}: {text}");
    }
}

/// Returns the number behind `label` in the output of sysbench, which has lines such as:
///
/// ```text
///     total number of events:              10240
/// ```
fn figure(text: &str, label: &str) -> u64 {
    text.lines()
        .find_map(|line| line.trim().strip_prefix(label))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no figure for '{label}' in {text}"))
}

#[test]
fn sysbench_does_all_its_work() {
    // The second test yields its turn while it holds a lock. It has only two threads, because more
    // threads would each wait for a time slice under a lock that is handed over in order.
    let tests = [
        ("mutex --threads=4 --mutex-num=16 --mutex-locks=1000 --mutex-loops=50", 4),
        ("threads --threads=2 --thread-locks=2 --thread-yields=5 --events=100 --time=0", 100),
        ("memory --threads=4 --memory-total-size=40M --memory-block-size=4K --time=0", 10240),
    ];
    for lock in locks() {
        for (test, events) in tests {
            let text = succeed(words(&format!("sysbench {test} run"), lock), LIMIT);
            assert_eq!(figure(&text, "total number of events:"), events, "{test} {lock:?}");
        }
    }
}

/// Returns text that compresses well in some places and badly in others. It is the same in each
/// run.
fn some_bytes(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    (0..length)
        .map(|at| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if at / 1000 % 3 == 0 { (state >> 56) as u8 } else { b"lorem ipsum dolor "[at % 18] }
        })
        .collect()
}

#[test]
fn xz_packs_and_unpacks() {
    let directory = scratch("xz");
    let plain = directory.join("plain");
    let original = some_bytes(2_000_000);
    std::fs::write(&plain, &original).expect("a scratch directory can be written");
    let mut expected = None;
    for lock in locks() {
        let packed = directory.join("plain.xz");
        let _ = std::fs::remove_file(&packed);
        let pack = format!("xz -T2 -1 --block-size=150000 --keep {}", plain.display());
        succeed(words(&pack, lock), LIMIT);
        let bytes = std::fs::read(&packed).expect("xz has written it");
        let unpack = format!("xz -T2 --decompress --stdout {}", packed.display());
        let output = common::run(words(&unpack, lock), LIMIT);
        assert!(output.status.success() && output.stdout == original, "{lock:?}");
        // The packed form must not depend on the lock either.
        assert!(*expected.get_or_insert_with(|| bytes.clone()) == bytes, "{lock:?}");
    }
}

fn git(directory: &Path, arguments: &str, lock: Option<&str>) -> String {
    let mut command = words(&format!("git {arguments}"), lock);
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
    succeed(command, LIMIT)
}

#[test]
fn git_keeps_its_objects() {
    let directory = scratch("git");
    git(&directory, "init --quiet", None);
    for (name, value) in
        [("user.name", "A"), ("user.email", "a@b"), ("pack.threads", "3"), ("gc.auto", "0")]
    {
        git(&directory, &format!("config {name} {value}"), None);
    }
    let text = some_bytes(6000);
    for commit in 0..12_usize {
        for file in 0..20_usize {
            let mut bytes = text.clone();
            bytes.rotate_left(file * 100);
            bytes.truncate(3000 + commit * 100);
            std::fs::write(directory.join(format!("file{file}")), bytes).expect("writable");
        }
        git(&directory, "add --all", None);
        git(&directory, &format!("commit --quiet --message=commit{commit}"), None);
    }
    let objects = git(&directory, "rev-list --objects --all", None);
    assert!(objects.lines().count() > 200);
    for lock in locks() {
        // `--force` computes all deltas again, in as many threads as the configuration says.
        git(&directory, "gc --quiet --aggressive --prune=now", lock);
        git(&directory, "repack -a -d -F --quiet --window=20", lock);
        git(&directory, "fsck --full --strict", lock);
        assert_eq!(git(&directory, "rev-list --objects --all", lock), objects, "{lock:?}");
        let found = git(&directory, "grep --threads=3 --count --text lorem", lock);
        assert_eq!(found.lines().count(), 20, "{lock:?}");
    }
}

#[test]
fn python_threads_agree() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/threads.py");
    let mut expected = None;
    for lock in locks() {
        let mut command = under(Command::new("python3"), lock);
        command.arg(&script);
        let text = succeed(command, LIMIT);
        assert_eq!(*expected.get_or_insert_with(|| text.clone()), text, "{lock:?}");
    }
}

#[test]
fn stress_ng_verifies() {
    for lock in locks() {
        // Without a limit, this stressor starts threads until the system has no more of them. The
        // other stressors, which need threads too, would then give up.
        let stressors = "stress-ng --pthread 1 --pthread-max 64 --mutex 1 --futex 1 --sem 1 \
                         --timeout 1 --verify";
        // Where others have the cores, its second may be over before a stressor has made its threads. It says then
        // that the system has none, and has verified nothing.
        let once = || common::run(words(stressors, lock), LIMIT);
        let is_over =
            |output: &Output| String::from_utf8_lossy(&output.stderr).contains("could not create");
        let tried = (0..9).map(|_| once()).find(|output| !is_over(output));
        let output = tried.expect("it makes its threads at some time");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !text.contains("fail:"), "{lock:?}: {text}");
    }
}

#[test]
fn memcached_keeps_its_values() {
    for lock in locks() {
        memcached::keeps_its_values(lock);
    }
}

/// The database server always runs under two locks: one that sleeps, and one that spins in order.
/// For all other locks see below.
const HEAVY: [&str; 3] = ["futex", "mcs", "requester"];

#[test]
fn mariadb_serves() {
    for lock in HEAVY {
        lock.parse::<LockId>().expect("the registry knows it");
        mariadb::serves(Some(lock), None, 200);
    }
}

/// The same test with more work, under the locks of the other tests.
#[test]
#[ignore = "about ten seconds per lock"]
fn mariadb_serves_longer() {
    for lock in locks() {
        mariadb::serves(lock, None, 1000);
    }
}
