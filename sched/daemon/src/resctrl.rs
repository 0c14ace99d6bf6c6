//! How full the last-level caches are with what steered programs use, and how much they transfer to and from
//! memory, by Linux's *resctrl* file system, where it is mounted.
//!
//! It tells so for groups of tasks. A group takes one of few numbers of the processor, so all steered programs
//! are one group, which goes at the end; its tasks then are again where they came from. A task that its owner has
//! put into a group is left there. Policies decide by what each task does, which a group does not tell; so
//! this is for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::monitored_group::domains;
use crate::named::Named;
use crate::tree::Tree;

/// What the steered programs have of caches and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheUse {
    /// How many bytes they had in last-level caches at the last window's end.
    pub occupied: u64,
    /// How many bytes they have transferred from and to memory.
    pub transferred: u64,
}

/// The group of the steered programs.
#[derive(Debug)]
pub(crate) struct Monitor {
    group: PathBuf,
    entered: BTreeSet<Named>,
    /// What each cache had transferred when it was read last.
    before: BTreeMap<PathBuf, u64>,
    seen: CacheUse,
}

impl Monitor {
    /// Makes the monitoring group, whose threads' traffic with memory the processor counts.
    pub(crate) fn begin(group: PathBuf) -> io::Result<Self> {
        fs::create_dir(&group)?;
        let seen = CacheUse::default();
        Ok(Self { group, entered: BTreeSet::new(), before: BTreeMap::new(), seen })
    }

    /// A window is over. Threads that are new enter the group, unless they are born in it or in another.
    pub(crate) fn window(&mut self, tree: &Tree) -> CacheUse {
        let alive: BTreeMap<Named, u32> =
            tree.threads().map(|thread| (thread.of, thread.process.id)).collect();
        self.entered.retain(|of| alive.contains_key(of));
        for (of, pid) in alive {
            if self.entered.insert(of) {
                let groups =
                    fs::read_to_string(format!("/proc/{pid}/task/{}/cpu_resctrl_groups", of.id));
                if groups.is_ok_and(|groups| !is_of_nobody(&groups)) {
                    continue;
                }
                // It may have ended, which is the kernel's answer then.
                let _ = fs::write(self.group.join("tasks"), of.id.to_string());
            }
        }
        self.read()
    }

    fn read(&mut self) -> CacheUse {
        self.seen.occupied = 0;
        for domain in domains(&self.group) {
            let number = |file: &str| number(&fs::read_to_string(domain.join(file)).ok()?);
            let occupied = number("llc_occupancy").unwrap_or(0);
            self.seen.occupied = self.seen.occupied.saturating_add(occupied);
            if let Some(now) = number("mbm_total_bytes") {
                let before = self.before.insert(domain, now).unwrap_or(now);
                let more = now.saturating_sub(before);
                self.seen.transferred = self.seen.transferred.saturating_add(more);
            }
        }
        self.seen
    }
}

/// Whether nobody has put a task into a group: `res:/` and `mon:` or `mon:/`, a line each.
fn is_of_nobody(groups: &str) -> bool {
    let of = |name: &str| groups.lines().find_map(|line| line.strip_prefix(name));
    let is_root = |name| of(name).is_none_or(|path| matches!(path.trim(), "" | "/"));
    is_root("res:") && is_root("mon:")
}

/// A count; `None` while the processor cannot tell, for which the kernel writes a word.
fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// A group whose two caches say this.
    fn say(group: &Path, [a, b]: [(&str, &str); 2]) {
        for (domain, (occupied, transferred)) in [("mon_L3_00", a), ("mon_L3_01", b)] {
            let folder = group.join("mon_data").join(domain);
            fs::create_dir_all(&folder).expect("room");
            fs::write(folder.join("llc_occupancy"), occupied).expect("room");
            fs::write(folder.join("mbm_total_bytes"), transferred).expect("room");
        }
    }

    #[test]
    fn caches_are_added_up_and_transfers_counted_from_the_first_window_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = folder.path().join("group");
        let mut monitor = Monitor::begin(group.clone()).expect("room");
        say(&group, [("100\n", "5000\n"), ("20\n", "70\n")]);
        assert_eq!(monitor.read(), CacheUse { occupied: 120, transferred: 0 });
        say(&group, [("50\n", "5600\n"), ("Unavailable\n", "Unavailable\n")]);
        assert_eq!(monitor.read(), CacheUse { occupied: 50, transferred: 600 });
        say(&group, [("50\n", "5600\n"), ("1\n", "100\n")]);
        assert_eq!(monitor.read(), CacheUse { occupied: 51, transferred: 630 });
        assert!(Monitor::begin(group).is_err(), "somebody else's");
    }

    #[test]
    fn threads_enter_the_group_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = folder.path().join("group");
        let mut monitor = Monitor::begin(group.clone()).expect("room");
        let mut host = crate::Linux;
        let mut tree = Tree::of(&[std::process::id()], &mut host).expect("this process");
        tree.scan(&mut host, None).expect("nothing is written");
        monitor.window(&tree);
        let tid = fs::read_to_string(group.join("tasks")).expect("one was written");
        assert!(tree.threads().any(|thread| thread.of.id.to_string() == tid));
        fs::remove_file(group.join("tasks")).expect("it is ours");
        monitor.window(&tree);
        assert!(!group.join("tasks").exists(), "all are in it");
    }

    #[test]
    fn who_was_put_into_a_group_stays_there() {
        for (groups, of_nobody) in [
            ("res:/\nmon:\n", true),
            ("res:\nmon:/\n", true),
            ("", true),
            ("res:/\nmon:mine\n", false),
            ("res:/batch\nmon:/\n", false),
        ] {
            assert_eq!(is_of_nobody(groups), of_nobody, "{groups}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,40}", count: u64) {
            let _ = (number(&text), is_of_nobody(&text));
            prop_assert_eq!(number(&format!("{count}\n")), Some(count));
        }
    }
}
