//! What has been ordered, and what was there before: the content of a journal.
//!
//! A line is a fact, and a later one replaces an earlier one. Numbers of threads and processes come with
//! their start times, since the numbers alone are used again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use kilocore_sched_policy::CpuSet;

use crate::cpu_list;
use crate::hierarchy::Version;
use crate::named::Named;

/// A mask that was ordered, and the allowance that it took the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) allowed: CpuSet,
    pub(crate) set: CpuSet,
}

/// What a line of the journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The process that restores if the daemon dies.
    Guardian(Named),
    /// This process is steered.
    Steered(Named),
    /// Threads of this program choose masks themselves, so that a mask does not tell whose choice it is.
    Chooses(Named),
    /// Threads of this program may inherit this mask.
    Program(Named, Masks),
    /// A thread is about to get this mask.
    Order(Named, Masks),
    /// A thread has its own mask, though it looks like one that was ordered.
    Keep(Named),
    /// This folder of ours goes at the end. Its path is one line of text.
    Recordings(PathBuf),
    /// This group of ours of resctrl goes at the end.
    Monitor(PathBuf),
    /// A cgroup is about to be made, whose parent is the home of all threads in it.
    Group(Version, PathBuf),
    /// The cgroups below this one are about to get the controller `cpuset`.
    Enabled(PathBuf),
}

/// What all lines of a journal together say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The daemon that writes it.
    pub(crate) daemon: Named,
    pub(crate) guardian: Option<Named>,
    /// The processes that are steered, or were.
    pub(crate) steered: BTreeSet<Named>,
    pub(crate) programs: BTreeMap<Named, Vec<Masks>>,
    pub(crate) chooses: BTreeSet<Named>,
    pub(crate) orders: BTreeMap<Named, Masks>,
    /// The masks ordered before those: a thread has its old one until the new one is set.
    pub(crate) earlier: BTreeMap<Named, CpuSet>,
    pub(crate) keeps: BTreeSet<Named>,
    pub(crate) recordings: BTreeSet<PathBuf>,
    pub(crate) monitors: BTreeSet<PathBuf>,
    pub(crate) groups: BTreeMap<PathBuf, Version>,
    pub(crate) enabled: BTreeSet<PathBuf>,
}

impl Ledger {
    /// The empty one of this daemon.
    pub(crate) fn of(daemon: Named) -> Self {
        Self { daemon, ..Self::default() }
    }

    pub(crate) fn apply(&mut self, fact: Fact) {
        match fact {
            Fact::Guardian(guardian) => self.guardian = Some(guardian),
            Fact::Steered(process) => drop(self.steered.insert(process)),
            Fact::Chooses(program) => drop(self.chooses.insert(program)),
            Fact::Program(program, masks) => {
                let known = self.programs.entry(program).or_default();
                known.retain(|other| other.set != masks.set);
                known.push(masks);
            }
            Fact::Order(thread, masks) => {
                self.keeps.remove(&thread);
                if let Some(before) = self.orders.insert(thread, masks) {
                    self.earlier.insert(thread, before.set);
                }
            }
            Fact::Keep(thread) => {
                self.orders.remove(&thread);
                self.earlier.remove(&thread);
                self.keeps.insert(thread);
            }
            Fact::Recordings(folder) => drop(self.recordings.insert(folder)),
            Fact::Monitor(group) => drop(self.monitors.insert(group)),
            Fact::Group(version, path) => drop(self.groups.insert(path, version)),
            Fact::Enabled(path) => drop(self.enabled.insert(path)),
        }
    }

    /// Forgets those that have ended. What was ordered for others of their kind is kept, once: who has lost its
    /// parent may have that mask.
    pub(crate) fn forget(&mut self, mut has_ended: impl FnMut(Named) -> bool) {
        self.orders.retain(|of, _| !has_ended(*of));
        self.keeps.retain(|of| !has_ended(*of));
        self.steered.retain(|of| !has_ended(*of));
        self.earlier.retain(|of, _| self.orders.contains_key(of));
        let (ended, mut kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.programs).into_iter().partition(|(of, _)| has_ended(*of));
        let mut known: Vec<Masks> = Vec::new();
        for masks in kept.values().flatten() {
            if !known.contains(masks) {
                known.push(masks.clone());
            }
        }
        for (of, mut more) in ended {
            more.retain(|masks| !known.contains(masks));
            if !more.is_empty() {
                known.extend(more.iter().cloned());
                kept.insert(of, more);
            }
        }
        self.programs = kept;
        let last = self.chooses.last().copied();
        self.chooses.retain(|of| !has_ended(*of));
        if self.chooses.is_empty() {
            self.chooses.extend(last);
        }
    }

    /// The allowance of a thread of this program with this mask, if it must have inherited the mask: of a
    /// program whose threads choose none themselves.
    pub(crate) fn inherited(&self, program: Named, mask: &CpuSet) -> Option<&CpuSet> {
        if self.chooses.contains(&program) { None } else { self.ordered(program, mask) }
    }

    /// The allowance in whose place a mask was ordered for threads of this program.
    pub(crate) fn ordered(&self, program: Named, mask: &CpuSet) -> Option<&CpuSet> {
        let known = self.programs.get(&program)?;
        known.iter().find(|masks| masks.set == *mask).map(|masks| &masks.allowed)
    }

    /// All facts anew, without those that were replaced.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = self.guardian.map(Fact::Guardian).into_iter().collect();
        facts.extend(self.steered.iter().map(|process| Fact::Steered(*process)));
        facts.extend(self.chooses.iter().map(|program| Fact::Chooses(*program)));
        for (program, known) in &self.programs {
            facts.extend(known.iter().map(|masks| Fact::Program(*program, masks.clone())));
        }
        for (of, masks) in &self.orders {
            let allowed = || masks.allowed.clone();
            let earlier = self.earlier.get(of).cloned();
            let earlier = earlier.map(|set| Masks { allowed: allowed(), set });
            facts.extend(earlier.into_iter().chain([masks.clone()]).map(|it| Fact::Order(*of, it)));
        }
        facts.extend(self.keeps.iter().map(|of| Fact::Keep(*of)));
        facts.extend(self.recordings.iter().cloned().map(Fact::Recordings));
        facts.extend(self.monitors.iter().cloned().map(Fact::Monitor));
        facts.extend(self.enabled.iter().cloned().map(Fact::Enabled));
        let groups = self.groups.iter();
        facts.extend(groups.map(|(path, version)| Fact::Group(*version, path.clone())));
        facts
    }
}

impl Fact {
    pub(crate) fn line(&self) -> String {
        let masks = |masks: &Masks| format!("{} {}", masks.allowed, masks.set);
        let name = |name: &Named| format!("{} {}", name.id, name.started);
        match self {
            Self::Guardian(of) => format!("guardian {}\n", name(of)),
            Self::Steered(of) => format!("steered {}\n", name(of)),
            Self::Chooses(of) => format!("chooses {}\n", name(of)),
            Self::Program(of, both) => format!("program {} {}\n", name(of), masks(both)),
            Self::Order(of, both) => format!("order {} {}\n", name(of), masks(both)),
            Self::Keep(of) => format!("keep {}\n", name(of)),
            Self::Recordings(folder) => format!("recordings {}\n", folder.display()),
            Self::Monitor(group) => format!("monitor {}\n", group.display()),
            Self::Group(version, path) => format!("group {} {}\n", version.number(), word(path)),
            Self::Enabled(path) => format!("enabled {}\n", word(path)),
        }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        if let Some(folder) = line.strip_prefix("recordings ") {
            return Some(Self::Recordings(folder.into()));
        }
        if let Some(group) = line.strip_prefix("monitor ") {
            return Some(Self::Monitor(group.into()));
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["group", version, path] => {
                return Some(Self::Group(Version::of(version)?, path_of(path)?));
            }
            ["enabled", path] => return Some(Self::Enabled(path_of(path)?)),
            _ => {}
        }
        let of = Named { id: words.get(1)?.parse().ok()?, started: words.get(2)?.parse().ok()? };
        let masks = || {
            Some(Masks {
                allowed: cpu_list::parse(words.get(3)?)?,
                set: cpu_list::parse(words.get(4)?)?,
            })
        };
        Some(match *words.first()? {
            "guardian" => Self::Guardian(of),
            "steered" => Self::Steered(of),
            "chooses" => Self::Chooses(of),
            "program" => Self::Program(of, masks()?),
            "order" => Self::Order(of, masks()?),
            "keep" => Self::Keep(of),
            _ => return None,
        })
    }
}

/// A path as one word. Whatever is neither a letter nor a usual sign is written as `%` and two digits.
fn word(path: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'%' => "%25".to_owned(),
        b'!'..=b'~' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    path.as_os_str().as_bytes().iter().map(byte).collect()
}

fn path_of(word: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        let mut byte = *byte;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            rest = after;
        }
        bytes.push(byte);
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facts_are_read_as_they_were_written() {
        let of = Named { id: 7, started: 99 };
        let masks = Masks { allowed: CpuSet::first(9), set: CpuSet::first(1) };
        for fact in [
            Fact::Guardian(of),
            Fact::Steered(of),
            Fact::Chooses(of),
            Fact::Program(of, masks.clone()),
            Fact::Order(of, masks),
            Fact::Keep(of),
            Fact::Recordings("/a place/with blanks ".into()),
            Fact::Monitor("/sys/fs/resctrl/mon_groups/ours".into()),
            Fact::Group(Version::One, "/a b/%c\nd".into()),
            Fact::Enabled("/".into()),
        ] {
            assert_eq!(Fact::parse(fact.line().trim_end_matches('\n')), Some(fact));
        }
        for line in ["", "order 7", "order 7 9 0-8", "order 7 9 0-8 ", "keep x 9", "what 7 9"] {
            assert_eq!(Fact::parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_path_breaks_its_line(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let path = Path::new("/").join(OsString::from_vec(bytes));
            let facts = [Fact::Group(Version::Two, path.clone()), Fact::Enabled(path)];
            for fact in facts {
                let line = fact.line();
                prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
                prop_assert_eq!(Fact::parse(line.trim_end()), Some(fact));
            }
        }

        #[test]
        fn any_line_is_read_without_a_panic(line in any::<String>(), path in "[%0-9a-f/ ]{0,12}") {
            let _ = (Fact::parse(&line), Fact::parse(&format!("enabled {path}")));
        }
    }

    #[test]
    fn those_that_have_ended_are_forgotten_but_not_what_their_children_may_have() {
        let of = |id| Named { id, started: 99 };
        let masks = |cores| Masks { allowed: CpuSet::first(4), set: CpuSet::first(cores) };
        let mut ledger = Ledger::default();
        for id in 1..6 {
            ledger.apply(Fact::Steered(of(id)));
            ledger.apply(Fact::Order(of(id), masks(1)));
            ledger.apply(Fact::Order(of(id), masks(2)));
            ledger.apply(Fact::Keep(of(10 + id)));
        }
        ledger.apply(Fact::Chooses(of(4)));
        for (id, cores) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 1)] {
            ledger.apply(Fact::Program(of(id), masks(cores)));
        }
        ledger.forget(|of| ![1, 12].contains(&of.id));
        let expected = [
            Fact::Steered(of(1)),
            Fact::Chooses(of(4)),
            Fact::Program(of(1), masks(1)),
            Fact::Program(of(3), masks(2)),
            Fact::Order(of(1), masks(1)),
            Fact::Order(of(1), masks(2)),
            Fact::Keep(of(12)),
        ];
        assert_eq!(ledger.facts(), expected);
    }

    #[test]
    fn a_later_fact_replaces_all_but_the_one_that_may_still_hold() {
        let of = Named { id: 7, started: 99 };
        let masks = |cores| Masks { allowed: CpuSet::first(4), set: CpuSet::first(cores) };
        let mut ledger = Ledger::default();
        for cores in [1, 2, 3] {
            ledger.apply(Fact::Order(of, masks(cores)));
        }
        assert_eq!(ledger.facts(), [2, 3].map(|cores| Fact::Order(of, masks(cores))));
        ledger.apply(Fact::Keep(of));
        assert_eq!(ledger.facts(), [Fact::Keep(of)]);
    }
}
