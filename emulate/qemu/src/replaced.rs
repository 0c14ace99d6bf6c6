//! How often the program took a lock under the library that replaces them, and how often it may have been left to glibc.
//!
//! The library is called in the place of glibc's functions. It leaves to these what it does not replace, such as recursive
//! mutexes. Who calls a function executes the block at its beginning, and how often each block was executed is known
//! anyway. So neither the library nor the program is any slower for this.
//!
//! glibc calls its own functions as well, so it cannot be known how many calls were left to it, but how many there were at
//! most.

use std::collections::BTreeSet;
use std::path::Path;

use kilocore_emulation_orders::MappedFile;
use kilocore_symbols::Entries;

use crate::blocks;

/// The library that replaces locks.
const LIBRARY: &str = "libkilocore_run.so";
/// How the names of the files begin in which glibc's own functions are.
const GLIBC: [&str; 3] = ["libc.so", "libc-", "libpthread"];

/// The functions by which mutexes are taken, of POSIX and of C11. For the latter, too, the library calls those of
/// glibc's that POSIX has.
const MUTEXES: [&str; 7] = [
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
];
/// The same for read-write locks.
const RW_LOCKS: [&str; 8] = [
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_clockwrlock",
];

/// How often functions were called that take a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// Those of the library.
    pub(crate) calls: u64,
    /// Of these, how many were left to glibc at most.
    pub(crate) left: u64,
}

/// What the program has done, which has these files in its memory. Nothing without the library.
pub(crate) fn taken(files: &[MappedFile]) -> Taken {
    let of = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<&MappedFile> {
        let name = |file: &MappedFile| is_wanted(file.path.rsplit('/').next().unwrap_or_default());
        files.iter().filter(|file| name(file)).collect()
    };
    let library = of(&|name| name == LIBRARY);
    if library.is_empty() {
        return Taken::default();
    }
    let glibc = of(&|name| GLIBC.iter().any(|front| name.starts_with(front)));
    let kind = |functions: &[&str]| {
        let calls = calls(&library, functions);
        Taken { calls, left: calls.min(self::calls(&glibc, functions)) }
    };
    let [mutexes, rw_locks] = [kind(&MUTEXES), kind(&RW_LOCKS)];
    Taken { calls: mutexes.calls + rw_locks.calls, left: mutexes.left + rw_locks.left }
}

/// How often functions of a file were called.
fn calls(file: &[&MappedFile], functions: &[&str]) -> u64 {
    functions.iter().map(|function| called(file, function)).sum()
}

/// How often a function was called, under its own name or the one that glibc once had for it besides: the one may lead to
/// the other.
fn called(file: &[&MappedFile], function: &str) -> u64 {
    let names = [function.to_owned(), format!("__{function}")];
    let of = |name: &String| {
        let entries = |part: &&MappedFile| {
            let entries = Entries::open(Path::new(&part.path), name).unwrap_or_default();
            entries.in_memory(part.start..part.end, part.offset).collect::<Vec<u64>>()
        };
        let starts: BTreeSet<u64> = file.iter().flat_map(entries).collect();
        blocks::executed_at(&starts)
    };
    names.iter().map(of).max().unwrap_or(0)
}
