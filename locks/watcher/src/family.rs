//! Which processes are watched, and their threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_linux::{self as proc_files, Image};

use crate::ids::{Moment, Pid, Tid};

/// Which processes belong to the program, besides the one that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessScope {
    /// No other process than the one that is named.
    Alone,
    /// Its descendants and, if it belongs to a service of the system, the service's processes.
    Tree,
}

/// So many threads take so long to be listed that it is done only when there may be new ones. Those
/// that have ended meanwhile do nothing, and nobody minds them.
const MANY: usize = 1024;

/// The processes of a program.
#[derive(Debug)]
pub(crate) struct Family {
    root: Pid,
    scope: ProcessScope,
    service: Option<String>,
    pub(crate) members: BTreeSet<Pid>,
    pub(crate) threads: BTreeMap<Tid, Pid>,
    /// The most threads that there were at a time, and all that were seen, by process.
    pub(crate) peak: BTreeMap<Pid, usize>,
    pub(crate) seen: BTreeMap<Pid, BTreeSet<Tid>>,
    pub(crate) names: BTreeMap<Tid, (Pid, String)>,
    /// What each executes, since when it does, and when it was last seen.
    images: BTreeMap<Pid, Image>,
    lived: BTreeMap<Pid, (Moment, Moment)>,
    /// Those that execute 32-bit code, in which system calls and registers mean something else.
    pub(crate) left_out: BTreeSet<Pid>,
    /// What the system had started last when relatives were looked for.
    newest: Option<u32>,
    /// The same for when threads were.
    newest_thread: Option<u32>,
    /// Processes that have executed another program since somebody asked.
    pub(crate) changed: Vec<Pid>,
    /// The executable of each, and the processor time that it had used when it was first seen and
    /// when it was last seen.
    pub(crate) executables: BTreeMap<Pid, String>,
    pub(crate) cpu: BTreeMap<Pid, (Duration, Duration)>,
}

impl Family {
    pub(crate) fn of(root: Pid, scope: ProcessScope) -> Self {
        let service = match scope {
            ProcessScope::Tree => service(root),
            ProcessScope::Alone => None,
        };
        let (members, threads) = (BTreeSet::from([root]), BTreeMap::new());
        let (peak, seen, names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut family = Self {
            root,
            scope,
            service,
            members,
            threads,
            peak,
            seen,
            names,
            images: BTreeMap::new(),
            lived: BTreeMap::new(),
            left_out: BTreeSet::new(),
            newest: None,
            newest_thread: None,
            changed: Vec::new(),
            executables: BTreeMap::new(),
            cpu: BTreeMap::new(),
        };
        family.look();
        family
    }

    /// Whether any of them is there.
    pub(crate) fn is_there(&self) -> bool {
        !self.threads.is_empty()
    }

    /// The processor time that a process used since it was first seen.
    pub(crate) fn processor_time(&self, pid: Pid) -> Nanoseconds<f64> {
        let (before, after) = self.cpu.get(&pid).copied().unwrap_or_default();
        Nanoseconds::from(after.saturating_sub(before)).calculated()
    }

    /// How long a process executed what it does since it was first seen.
    pub(crate) fn lived(&self, pid: Pid) -> Nanoseconds<f64> {
        self.lived.get(&pid).map_or(Nanoseconds(0.0), |(from, to)| (*to - *from).calculated())
    }

    /// The processes that execute something else than when they were last looked at.
    pub(crate) fn executing_anew(&self) -> BTreeSet<Pid> {
        let is_other = |pid: &Pid, before: &Image| proc_files::image(pid.0) != Some(*before);
        let there = |pid: &Pid| self.members.contains(pid) && !proc_files::has_ended(pid.0);
        let changed = self.images.iter().filter(|(pid, image)| is_other(pid, image) && there(pid));
        changed.map(|(pid, _)| *pid).collect()
    }

    /// The threads of a process.
    pub(crate) fn threads_of(&self, pid: Pid) -> impl Iterator<Item = Tid> {
        self.threads.iter().filter(move |(_, of)| **of == pid).map(|(tid, _)| *tid)
    }

    /// Looks for processes and threads that are new or gone.
    pub(crate) fn look(&mut self) {
        if self.scope == ProcessScope::Tree {
            self.look_for_kin();
        }
        let newest = proc_files::newest();
        let nothing_new = newest.is_some() && newest == self.newest_thread;
        self.newest_thread = newest;
        let before = std::mem::take(&mut self.threads);
        for pid in &self.members {
            if let Some(image) = proc_files::image(pid.0) {
                let before = self.images.insert(*pid, image);
                if before.is_some_and(|before| before != image) {
                    self.changed.push(*pid);
                    // What the former program did is forgotten.
                    self.lived.remove(pid);
                    self.cpu.remove(pid);
                    self.left_out.remove(pid);
                }
                if before != Some(image) {
                    if let Ok(path) = proc_files::executable(pid.0) {
                        self.executables.insert(*pid, path.to_string_lossy().into_owned());
                    }
                    if executes_32_bit(*pid) {
                        self.left_out.insert(*pid);
                    }
                }
            }
            if self.left_out.contains(pid) {
                continue;
            }
            if let Some(time) = proc_files::processor_time(pid.0) {
                self.cpu.entry(*pid).or_insert((time, time)).1 = time;
            }
            // A zombie has a thread, which does nothing any more.
            let known = || before.iter().filter(|(_, of)| *of == pid).map(|(tid, _)| tid.0);
            let keep = nothing_new && !self.changed.contains(pid) && known().count() >= MANY;
            let mut threads = match keep && !proc_files::has_ended(pid.0) {
                true => known().collect(),
                false => proc_files::threads(pid.0),
            };
            if threads.len() == 1 && proc_files::has_ended(pid.0) {
                threads.clear();
            }
            if !threads.is_empty() {
                let now = Moment::now();
                self.lived.entry(*pid).or_insert((now, now)).1 = now;
            }
            let peak = self.peak.entry(*pid).or_default();
            *peak = threads.len().max(*peak);
            let seen = self.seen.entry(*pid).or_default();
            for tid in threads {
                self.threads.insert(Tid(tid), *pid);
                if seen.insert(Tid(tid)) {
                    let name = proc_files::name(pid.0, tid).unwrap_or_default();
                    self.names.insert(Tid(tid), (*pid, name));
                }
            }
        }
    }

    fn look_for_kin(&mut self) {
        let newest = proc_files::newest();
        if newest.is_some() && newest == self.newest {
            // No process has been started since the last look. One that ended has no threads.
            return;
        }
        self.newest = newest;
        let own = std::process::id();
        let all: BTreeMap<u32, u32> = proc_files::all()
            .into_iter()
            .filter(|pid| *pid != own)
            .filter_map(|pid| Some((pid, proc_files::status(pid)?.parent)))
            .collect();
        let mut members = BTreeSet::from([self.root]);
        if let Some(service) = &self.service {
            let same = |pid: &u32| cgroup(Pid(*pid)).as_ref() == Some(service);
            members.extend(all.keys().copied().filter(same).map(Pid));
        }
        // Parents may have greater numbers than their children.
        loop {
            let before = members.len();
            members.extend(
                all.iter()
                    .filter(|(_, parent)| members.contains(&Pid(**parent)))
                    .map(|(pid, _)| Pid(*pid))
                    .collect::<Vec<_>>(),
            );
            if members.len() == before {
                break;
            }
        }
        // One whose parent has ended still belongs to the program.
        members.extend(self.members.iter().filter(|pid| all.contains_key(&pid.0)));
        self.members = members;
    }
}

/// Whether a process executes a file of 32-bit code.
pub(crate) fn executes_32_bit(pid: Pid) -> bool {
    is_32_bit(Path::new(&format!("/proc/{}/exe", pid.0)))
}

/// Whether a file is of 32-bit code.
pub(crate) fn is_32_bit(path: &Path) -> bool {
    let mut head = [0; 5];
    let file = fs::File::open(path);
    let read = file.and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"\x7fELF\x01"
}

/// The control group of a process.
fn cgroup(pid: Pid) -> Option<String> {
    fs::read_to_string(format!("/proc/{}/cgroup", pid.0)).ok()
}

/// The control group of a process, if it is one of a service.
fn service(pid: Pid) -> Option<String> {
    cgroup(pid).filter(|group| group.trim_end().ends_with(".service"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_with_its_threads_and_a_child() {
        let own = Pid(std::process::id());
        let family = Family::of(own, ProcessScope::Alone);
        assert!(family.is_there() && family.members.len() == 1);
        assert!(family.threads.values().all(|pid| *pid == own));
        // The tree leaves out whoever looks; so a child's is looked at, and this is its parent.
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & wait"])
            .spawn()
            .expect("there is a shell");
        let mut tree = Family::of(Pid(child.id()), ProcessScope::Tree);
        while tree.members.len() < 2 {
            tree.look();
        }
        for pid in &tree.members {
            // SAFETY: integers only; both are this test's.
            unsafe { libc::kill(pid.0 as libc::pid_t, libc::SIGKILL) };
        }
        child.wait().expect("it is this process's");
        while tree.is_there() {
            tree.look();
        }
    }
}
