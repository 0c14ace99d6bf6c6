//! Small programs, each of which checks one thing of read-write locks. They run without the library
//! and under every read-write lock. As in `c_programs.rs`, a program prints `ok` and nothing else.

mod common;

use std::path::Path;
use std::process::Command;

use common::c::{LIMIT, compile, compile_cpp, verdict};
use common::{run, rwlocks, under_both, under_rwlock};
use kilocore_locks::RwLockId;
use kilocore_platform::Native;

/// Runs the C program `name` under all locks.
fn check(name: &str) {
    check_program(&compile(name, name, &[]));
}

/// Runs a program under all locks, and without the library.
fn check_program(program: &Path) {
    let failures: Vec<String> = rwlocks()
        .filter_map(|lock| verdict(under_rwlock(Command::new(program), lock), lock).err())
        .collect();
    assert!(failures.is_empty(), "{} fails\n{}", program.display(), failures.join("\n"));
}

#[test]
fn writers_are_alone_and_readers_share() {
    check("rwlock");
}

#[test]
fn calls_return_what_they_should() {
    check("rwlock_calls");
}

#[test]
fn processes_can_share() {
    check("rwlock_shared");
}

#[test]
fn children_can_use_what_they_inherit() {
    check("rwlock_fork");
}

#[test]
fn the_last_user_may_free_the_memory() {
    check("rwlock_destroy");
}

/// glibc's default lets readers pass a writer that waits, and so do the locks that say it.
#[test]
fn readers_may_wait_for_readers_beside_a_waiting_writer() {
    let program = compile("readers-first", "rwlock_readers_first", &[]);
    let such = rwlocks().filter(|lock| {
        let named = lock.map(|name| name.parse::<RwLockId>().expect("a lock"));
        named.is_none_or(RwLockId::readers_pass_writers::<Native>)
    });
    let such: Vec<_> = such.collect();
    assert_eq!(such, [None, Some("reader-first")]);
    for lock in such {
        verdict(under_rwlock(Command::new(&program), lock), lock).unwrap();
    }
}

#[test]
fn mutexes_of_cpp_can_be_shared() {
    check_program(&compile_cpp("cpp", "shared_mutex"));
}

/// Mutexes and read-write locks are replaced independently. A program that uses one kind sees
/// nothing of the other's choice.
#[test]
fn either_kind_is_replaced_alone_or_both() {
    let failures: Vec<String> = ["mutex", "condvar", "rwlock_calls"]
        .iter()
        .flat_map(|name| {
            let program = compile(&format!("both-{name}"), name, &[]);
            [(Some("mcs"), None), (None, Some("phase-fair")), (Some("futex"), Some("writer-first"))]
                .into_iter()
                .filter_map(move |(lock, rwlock)| {
                    verdict(under_both(Command::new(&program), lock, rwlock), lock.or(rwlock)).err()
                })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// If the name of the lock is unknown, the library reports this in one line and changes nothing. If
/// the name is empty, it reports nothing.
#[test]
fn unknown_locks_are_reported() {
    let program = compile("unknown-rwlock", "rwlock_calls", &[]);
    for (lock, complains) in [("futex", true), ("central-rw", true), ("", false)] {
        let mut command = under_rwlock(Command::new(&program), Some(lock));
        // The program would otherwise expect more than glibc does.
        command.args(["glibc"]);
        let output = run(command, LIMIT);
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert!(output.status.success(), "{stderr}");
        assert_eq!(output.stdout, b"ok\n");
        assert_eq!(stderr.lines().count(), usize::from(complains), "{stderr}");
        if complains {
            assert!(stderr.contains(&format!("KILOCORE_RWLOCK={lock}")), "{stderr}");
            assert!(stderr.contains("phase-fair"), "it does not list the locks: {stderr}");
        }
    }
}
