//! Roles: threads of a process that have the same name, up to numbers in it, and the same function, if
//! any is given.

use std::collections::{BTreeMap, HashMap};

use crate::thread_account::{Thread, ThreadId};

/// The place of a role in the document.
pub(crate) type RoleId = u32;

/// What makes threads the same role. The main thread sorts first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) process: u32,
    /// Whether it is not the main thread, so that main threads come first.
    pub(crate) not_main: bool,
    pub(crate) name: String,
}

/// The roles of a program.
#[derive(Debug)]
pub(crate) struct Roles {
    /// In the order of their ids.
    pub(crate) keys: Vec<Key>,
    of_thread: BTreeMap<ThreadId, RoleId>,
}

impl Roles {
    /// The roles of `threads`, and of the threads `seen` that are not among them. Those belong to the
    /// process of the others, if these all belong to one, and have no name.
    pub(crate) fn new(threads: &[Thread], seen: impl Iterator<Item = ThreadId>) -> Self {
        let mut processes = threads.iter().map(|thread| thread.process);
        let first = processes.next();
        let only = first.filter(|&first| processes.all(|process| process == first));
        let unnamed = Key { process: only.unwrap_or(0), not_main: true, name: String::new() };
        let mut key_of: BTreeMap<ThreadId, Key> = BTreeMap::new();
        let mut known: HashMap<&str, String> = HashMap::new();
        for thread in threads {
            let name = known.entry(&thread.name).or_insert_with(|| role_name(&thread.name));
            let (process, not_main) = (thread.process, !thread.main);
            let named = || match &thread.function {
                Some(function) => format!("{name} in {function}"),
                None => name.clone(),
            };
            let key = || Key { process, not_main, name: named() };
            key_of.entry(thread.id).or_insert_with(key);
        }
        for id in seen {
            key_of.entry(id).or_insert_with(|| unnamed.clone());
        }
        let mut keys: Vec<Key> = key_of.values().cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        let place = |key: &Key| keys.binary_search(key).unwrap_or_default() as RoleId;
        let of_thread = key_of.iter().map(|(&id, key)| (id, place(key))).collect();
        Self { keys, of_thread }
    }

    /// The role of a thread, unless it is none of the program's.
    pub(crate) fn of(&self, thread: ThreadId) -> Option<RoleId> {
        self.of_thread.get(&thread).copied()
    }

    /// Every thread with its role, in the order of their numbers.
    pub(crate) fn threads(&self) -> impl Iterator<Item = (ThreadId, RoleId)> {
        self.of_thread.iter().map(|(&thread, &role)| (thread, role))
    }
}

/// What parts of a name are divided by.
const DIVIDERS: [char; 7] = ['-', '_', ' ', ':', '.', '/', '#'];

/// The name without its trailing number, and without parts that are numbers: `pool-1-thread-3` is
/// `pool-thread`. A name that has nothing else is kept.
fn role_name(name: &str) -> String {
    let mut role = String::new();
    for part in name.split_inclusive(DIVIDERS) {
        let bare = part.trim_end_matches(DIVIDERS);
        if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_digit()) {
            role.push_str(part);
        }
    }
    let role = role.trim_end_matches(|c: char| c.is_ascii_digit() || DIVIDERS.contains(&c));
    if role.is_empty() { name.to_owned() } else { role.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Roles, role_name};
    use crate::thread_account::{Thread, ThreadId};

    #[test]
    fn numbers_are_cut() {
        for (name, role) in [
            ("worker-12", "worker"),
            ("worker12", "worker"),
            ("pool-1-thread-3", "pool-thread"),
            ("rocksdb:low0", "rocksdb:low"),
            ("GC Thread#12", "GC Thread"),
            ("tokio-runtime-w", "tokio-runtime-w"),
            ("7", "7"),
            ("", ""),
            ("größe-2", "größe"),
        ] {
            assert_eq!(role_name(name), role, "{name}");
        }
    }

    #[test]
    fn the_main_thread_is_a_role_of_its_own_and_all_others_of_its_name_are_one() {
        let thread = |id, name: &str| Thread {
            id: ThreadId(id),
            process: 1,
            name: name.to_owned(),
            function: None,
            main: id == 1,
        };
        let mut threads = vec![
            thread(1, "server"),
            thread(2, "server"),
            thread(3, "server"),
            thread(5, "server"),
        ];
        threads[3].function = Some("accept_all".to_owned());
        let roles = Roles::new(&threads, [ThreadId(3), ThreadId(9)].into_iter());
        let of = |id| roles.of(ThreadId(id));
        assert_eq!(of(1), Some(0));
        assert_eq!(of(2), of(3));
        assert_ne!(of(1), of(2));
        assert_ne!(of(5), of(2));
        assert_eq!(roles.keys[of(5).unwrap() as usize].name, "server in accept_all");
        let unnamed = &roles.keys[of(9).expect("it was seen") as usize];
        assert_eq!((unnamed.process, unnamed.name.as_str()), (1, ""));
        assert_eq!(of(4), None);
    }
}
