//! A kernel's cgroups, played, with the rules of both versions that matter here; and what has to hold of
//! orders that are carried out by them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use kilocore_sched_policy::{CpuId, CpuSet, Nanos, TaskId};

use crate::control::Control;
use crate::cpu_list;
use crate::cpusets::Cpusets;
use crate::error::NoCpusets;
use crate::hierarchy::Version;
use crate::host::Host;
use crate::journal::{Journal, parse};
use crate::named::Named;
use crate::outcome::Outcome;
use crate::places::Folder;
use crate::restore::restore;
use crate::stat::Stat;
use crate::tree::{Order, Tree};

const TOP: &str = "/cgroups here";
const HOME: &str = "/cgroups here/slice/home";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Cgroup {
    cpus: String,
    mems: String,
    threaded: bool,
    subtree: BTreeSet<String>,
    /// So often it is busy, though it lists no threads, since one is dying.
    dying: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Thread {
    cgroup: PathBuf,
    /// What it has asked for, or, in an old kernel, what it has.
    mask: CpuSet,
}

/// The kernel, with one program, which is process 1.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kernel {
    version: Version,
    release: &'static str,
    cgroups: BTreeMap<PathBuf, Cgroup>,
    threads: BTreeMap<u32, Thread>,
    foreign: BTreeSet<u32>,
    /// So many more threads are created, one each time that a cgroup's threads have been listed.
    births: u32,
    /// What is in the journal, and all that ever was there together with it, after each change.
    journal: Option<PathBuf>,
    past: Vec<(Vec<u8>, Kernel)>,
}

fn error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

impl Kernel {
    /// Threads of a program in a cgroup below the top.
    fn begin(version: Version, threads: u32) -> Self {
        let cgroup = |cpus: &str, subtree: &[&str]| Cgroup {
            cpus: cpus.to_owned(),
            mems: "0-1".to_owned(),
            subtree: subtree.iter().map(|word| (*word).to_owned()).collect(),
            ..Cgroup::default()
        };
        // In version 2, who has no cores of its own has those of the one above.
        let cpus = if version == Version::One { "0-3" } else { "" };
        let cgroups = BTreeMap::from([
            (TOP.into(), cgroup("0-3", &["cpuset", "memory"])),
            (Path::new(TOP).join("slice"), cgroup(cpus, &["memory"])),
            (HOME.into(), cgroup(cpus, &[])),
        ]);
        let thread = Thread { cgroup: HOME.into(), mask: CpuSet::first(4) };
        Self {
            version,
            release: "6.18.44",
            cgroups,
            threads: (1..=threads).map(|tid| (tid, thread.clone())).collect(),
            foreign: BTreeSet::new(),
            births: 0,
            journal: None,
            past: Vec::new(),
        }
    }

    fn forgets(&self) -> bool {
        self.release.starts_with('5')
    }

    fn cores(&self, cgroup: &Path) -> CpuSet {
        let own = cpu_list::parse(&self.cgroups[cgroup].cpus);
        own.unwrap_or_else(|| self.cores(cgroup.parent().expect("the top has cores")))
    }

    fn has_controller(&self, cgroup: &Path) -> bool {
        let above = cgroup.parent().and_then(|above| self.cgroups.get(above));
        above.is_none_or(|above| above.subtree.contains("cpuset"))
    }

    /// Whether threads may be in it beside those in threaded children.
    fn takes_threaded_children(&self, cgroup: &Path) -> bool {
        cgroup == Path::new(TOP) || !self.cgroups[cgroup].subtree.contains("memory")
    }

    fn children(&self, cgroup: &Path) -> Vec<PathBuf> {
        self.cgroups.keys().filter(|path| path.parent() == Some(cgroup)).cloned().collect()
    }

    fn populated(&self, cgroup: &Path) -> bool {
        self.threads.values().any(|thread| thread.cgroup == cgroup)
    }

    /// A thread creates another.
    fn birth(&mut self, creator: u32) -> u32 {
        let tid = self.threads.keys().max().map_or(1, |last| last + 1);
        let mut thread = self.threads[&creator].clone();
        if self.forgets() {
            thread.mask = self.affinity(creator).expect("it is there");
        }
        self.threads.insert(tid, thread);
        tid
    }

    fn move_in(&mut self, cgroup: &Path, tid: u32) -> io::Result<()> {
        assert_ne!(tid, 0, "the daemon itself would be moved");
        if !self.threads.contains_key(&tid) {
            return error(libc::ESRCH);
        }
        if self.foreign.contains(&tid) {
            return error(libc::EACCES);
        }
        let target = &self.cgroups[cgroup];
        if self.version == Version::One && (target.cpus.is_empty() || target.mems.is_empty()) {
            return error(libc::ENOSPC);
        }
        let domain = |path: &Path| {
            let threaded = self.cgroups[path].threaded;
            if threaded { path.parent().expect("it has one").to_owned() } else { path.to_owned() }
        };
        if self.version == Version::Two && domain(cgroup) != domain(&self.threads[&tid].cgroup) {
            return error(libc::EOPNOTSUPP);
        }
        let (forgets, cores) = (self.forgets(), self.cores(cgroup));
        let thread = self.threads.get_mut(&tid).expect("it is there");
        thread.cgroup = cgroup.to_owned();
        if forgets {
            thread.mask = cores;
        }
        Ok(())
    }

    fn subtree(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let fits = self.takes_threaded_children(path);
        let (controller, children) = (self.has_controller(path), self.children(path));
        let used = children.iter().any(|child| self.cgroups[child].subtree.contains("cpuset"));
        let busy = self.populated(path) && !fits;
        let cgroup = self.cgroups.get_mut(path).expect("it is there");
        match text {
            "+cpuset" if !controller => error(libc::ENOENT),
            "+cpuset" if busy => error(libc::EBUSY),
            "+cpuset" => {
                cgroup.subtree.insert("cpuset".to_owned());
                Ok(())
            }
            "-cpuset" if used => error(libc::EBUSY),
            "-cpuset" => {
                assert!(children.iter().all(|child| self.cgroups[child].cpus.is_empty()));
                let cgroup = self.cgroups.get_mut(path).expect("it is there");
                cgroup.subtree.remove("cpuset");
                Ok(())
            }
            _ => error(libc::EINVAL),
        }
    }

    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let (folder, name) = (path.parent().expect("a file"), path.file_name().expect("a file"));
        if !self.cgroups.contains_key(folder) {
            return error(libc::ENOENT);
        }
        let above = folder.parent().filter(|above| self.cgroups.contains_key(*above));
        match (self.version, name.to_str().expect("text")) {
            (Version::One, "tasks") | (Version::Two, "cgroup.threads") => {
                self.move_in(folder, text.parse().expect("a number"))
            }
            (Version::Two, "cgroup.type") => {
                if text != "threaded" || !self.takes_threaded_children(above.expect("it has one")) {
                    return error(libc::EOPNOTSUPP);
                }
                self.cgroups.get_mut(folder).expect("it is there").threaded = true;
                Ok(())
            }
            (Version::Two, "cgroup.subtree_control") => self.subtree(folder, text),
            (version, "cpuset.cpus") => {
                if version == Version::Two && !self.has_controller(folder) {
                    return error(libc::ENOENT);
                }
                let cpus = cpu_list::parse(text).expect("a list");
                if above.is_some_and(|above| !cpus.is_subset(&self.cores(above))) {
                    return error(libc::EACCES);
                }
                self.cgroups.get_mut(folder).expect("it is there").cpus = text.to_owned();
                Ok(())
            }
            (Version::One, "cpuset.mems") => {
                self.cgroups.get_mut(folder).expect("it is there").mems = text.to_owned();
                Ok(())
            }
            _ => error(libc::ENOENT),
        }
    }

    fn listed(&mut self, cgroup: &Path) -> String {
        let mut members = self.threads.iter().filter(|(_, thread)| thread.cgroup == cgroup);
        let text: String = members.clone().map(|(tid, _)| format!("{tid}\n")).collect();
        let first = members.next().map(|(tid, _)| *tid);
        if let (Some(creator), true) = (first, self.births > 0 && cgroup != Path::new(HOME)) {
            self.births -= 1;
            self.birth(creator);
        }
        text
    }

    /// Remembers how things stand.
    fn remember(&mut self) {
        if let Some(journal) = &self.journal {
            let written = std::fs::read(journal).expect("it is there");
            let mut now = self.clone();
            (now.past, now.journal) = (Vec::new(), None);
            self.past.push((written, now));
        }
    }
}

impl Host for Kernel {
    fn processes(&mut self) -> Vec<u32> {
        vec![1]
    }
    fn threads(&mut self, _pid: u32) -> Vec<u32> {
        self.threads.keys().copied().collect()
    }
    fn stat(&mut self, pid: u32) -> Option<Stat> {
        self.thread_stat(pid, pid).filter(|_| pid == 1)
    }
    fn thread_stat(&mut self, _pid: u32, tid: u32) -> Option<Stat> {
        let started = u64::from(tid);
        let stat =
            Stat { state: b'S', parent: 0, is_kernels: false, ticks: 0, started, cpu: CpuId(0) };
        self.threads.contains_key(&tid).then_some(stat)
    }
    fn times(&mut self, _pid: u32, _tid: u32) -> Option<(Nanos, Nanos)> {
        None
    }
    fn affinity(&mut self, tid: u32) -> io::Result<CpuSet> {
        let Some(thread) = self.threads.get(&tid) else { return error(libc::ESRCH) };
        let cores = self.cores(&thread.cgroup);
        let both = cores.intersection(&thread.mask);
        Ok(if both.is_empty() { cores } else { both })
    }
    fn set_affinity(&mut self, tid: u32, cpus: &CpuSet) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(&tid) else { return error(libc::ESRCH) };
        thread.mask = cpus.clone();
        self.remember();
        Ok(())
    }
    fn read_file(&mut self, path: &Path) -> io::Result<String> {
        let text = path.to_str().expect("text");
        let rest = text.strip_prefix("/proc/").unwrap_or_default();
        let version = match self.version {
            Version::One => "cgroup cgroup rw,cpuset",
            Version::Two => "cgroup2 cgroup2 rw",
        };
        if rest == "self/mountinfo" {
            return Ok(format!("34 31 0:31 /outer {} rw - {version}\n", TOP.replace(' ', "\\040")));
        }
        if rest == "sys/kernel/osrelease" {
            return Ok(format!("{}-played\n", self.release));
        }
        if let Some(tid) = rest.strip_suffix("/cgroup").and_then(|rest| rest.split('/').nth(2)) {
            let Some(thread) = self.threads.get(&tid.parse().expect("a number")) else {
                return error(libc::ENOENT);
            };
            let cgroup = thread.cgroup.strip_prefix(TOP).expect("below the top").display();
            let controller = if self.version == Version::One { "3:cpuset" } else { "0:" };
            return Ok(format!("2:cpu:/else\n{controller}:/outer/{cgroup}\n"));
        }
        let (folder, name) = (path.parent().expect("a file"), path.file_name().expect("a file"));
        let Some(cgroup) = self.cgroups.get(folder).cloned() else { return error(libc::ENOENT) };
        let controller = self.has_controller(folder);
        let subtree: Vec<String> = cgroup.subtree.into_iter().collect();
        Ok(match (self.version, name.to_str().expect("text")) {
            (Version::One, "tasks") | (Version::Two, "cgroup.threads") => self.listed(folder),
            (Version::One, "cpuset.effective_cpus" | "cpuset.cpus") => cgroup.cpus + "\n",
            (Version::One, "cpuset.effective_mems") => cgroup.mems + "\n",
            (Version::Two, "cpuset.cpus.effective") if controller => {
                format!("{}\n", self.cores(folder))
            }
            (Version::Two, "cpuset.cpus") if controller => cgroup.cpus + "\n",
            (Version::Two, "cgroup.controllers") if controller => "cpuset memory\n".to_owned(),
            (Version::Two, "cgroup.controllers") => "memory\n".to_owned(),
            (Version::Two, "cgroup.subtree_control") => subtree.join(" ") + "\n",
            _ => return error(libc::ENOENT),
        })
    }
    fn write_file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let written = self.write(path, text);
        self.remember();
        written
    }
    fn may_write(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        assert!(self.cgroups.contains_key(path.parent().expect("a home")));
        if self.cgroups.contains_key(path) {
            return error(libc::EEXIST);
        }
        self.cgroups.insert(path.to_owned(), Cgroup::default());
        self.remember();
        Ok(())
    }
    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        if self.populated(path) || !self.children(path).is_empty() {
            return error(libc::EBUSY);
        }
        let Some(cgroup) = self.cgroups.get_mut(path) else { return error(libc::ENOENT) };
        if cgroup.dying > 0 {
            cgroup.dying -= 1;
            return error(libc::EBUSY);
        }
        self.cgroups.remove(path);
        self.remember();
        Ok(())
    }
    fn folders(&mut self, path: &Path) -> Vec<PathBuf> {
        self.children(path)
    }
}

/// A daemon that steers the program of a kernel.
struct Steered {
    kernel: Kernel,
    tree: Tree,
    journal: Journal,
    _folder: tempfile::TempDir,
}

impl Steered {
    fn begin(kernel: Kernel) -> Result<Self, NoCpusets> {
        Self::begin_by(Control::Cpuset, kernel)
    }

    fn begin_by(control: Control, mut kernel: Kernel) -> Result<Self, NoCpusets> {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Named { id: 9, started: 9 };
        let place = Folder::open(folder.path()).expect("it is ours");
        let mut journal = Journal::begin(place, daemon).expect("room");
        kernel.journal = Some(journal.path().to_owned());
        let mut tree = Tree::of(&[1], &mut kernel).expect("it is there");
        if control == Control::Cpuset {
            let mut cpusets = Cpusets::find(&[1], &mut kernel)?;
            cpusets.begin(&[1], &mut kernel, &mut journal)?.expect("room");
            tree.carry_out_by(cpusets);
        }
        let mut steered = Self { kernel, tree, journal, _folder: folder };
        steered.scan();
        Ok(steered)
    }

    fn scan(&mut self) {
        self.tree.scan(&mut self.kernel, Some(&mut self.journal)).expect("room");
    }

    /// Orders for the thread with this number.
    fn order(&mut self, tid: u32, cpus: Option<CpuSet>) -> Order {
        let mut threads = self.tree.threads();
        let task =
            threads.find(|thread| thread.of.id == tid).map_or(TaskId(99), |found| found.task);
        drop(threads);
        let Self { kernel, tree, journal, .. } = self;
        tree.order(task, cpus.as_ref(), kernel, journal).expect("room")
    }

    /// What the daemon's end makes of it.
    fn end(&mut self) -> Outcome {
        let written = std::fs::read_to_string(self.journal.path()).expect("it is there");
        let (_, ledger) = parse(&written).expect("it is whole");
        (self.kernel.journal, self.kernel.past) = (None, Vec::new());
        restore(&ledger, &mut self.kernel)
    }
}

fn cores(list: &str) -> CpuSet {
    cpu_list::parse(list).expect("a list")
}

/// The ways in which a kernel may do it.
fn kernels(threads: u32) -> [Kernel; 3] {
    let old = Kernel { release: "5.10.0", ..Kernel::begin(Version::One, threads) };
    [Kernel::begin(Version::One, threads), Kernel::begin(Version::Two, threads), old]
}

#[test]
fn whenever_the_daemon_is_killed_its_journal_brings_everything_back() {
    let ways = kernels(3).map(|kernel| (Control::Cpuset, kernel));
    let affinity = [(Control::Affinity, Kernel::begin(Version::One, 3))];
    for (control, mut before) in ways.into_iter().chain(affinity) {
        before.threads.get_mut(&2).expect("it is there").mask = cores("0-1");
        let mut steered = Steered::begin_by(control, before.clone()).expect("cpusets");
        assert_eq!(steered.order(1, Some(cores("3"))), Order::Given);
        assert_eq!(steered.order(2, Some(cores("1"))), Order::Given);
        assert_eq!(steered.order(1, Some(cores("1-2"))), Order::Given);
        assert_eq!(steered.kernel.affinity(1).expect("it is there"), cores("1-2"));
        assert_eq!(steered.order(2, None), Order::Given);
        assert_eq!(steered.kernel.threads[&2], before.threads[&2], "it is as it was");
        assert_eq!(steered.order(3, Some(cores("1"))), Order::Given);
        let past = std::mem::take(&mut steered.kernel.past);
        let least = if control == Control::Affinity { 5 } else { 12 };
        assert!(past.len() >= least, "each change is tried");
        for (number, (written, mut kernel)) in past.into_iter().enumerate() {
            let written = String::from_utf8(written).expect("text");
            let (_, ledger) = parse(&written).expect("it is whole");
            let outcome = restore(&ledger, &mut kernel);
            assert_eq!(outcome.left, Vec::<String>::new());
            assert_eq!(kernel, before, "after change {number} by {control}");
        }
        assert_eq!(steered.end().threads, 2);
        assert_eq!(steered.kernel, before);
    }
}

#[test]
fn threads_that_are_born_in_a_cgroup_of_ours_go_home() {
    for before in kernels(1) {
        let mut steered = Steered::begin(before.clone()).expect("cpusets");
        steered.order(1, Some(cores("0-1")));
        let (one, two) = (steered.kernel.birth(1), steered.kernel.birth(1));
        // It has narrowed its mask before it is seen.
        steered.kernel.threads.get_mut(&two).expect("it is there").mask = cores("1");
        steered.scan();
        let home = |mask: &str| Thread { cgroup: HOME.into(), mask: cores(mask) };
        assert_eq!(steered.kernel.threads[&one], home("0-3"), "{:?}", before.release);
        assert_eq!(steered.kernel.threads[&two], home("1"));
        // Others are born while all are on their way home.
        steered.kernel.births = 5;
        let outcome = steered.end();
        assert_eq!((outcome.threads, outcome.left), (1 + 5, Vec::new()));
        assert_eq!(steered.kernel.cgroups, before.cgroups);
        let wide = steered.kernel.threads.values().filter(|thread| **thread == home("0-3"));
        assert_eq!(wide.count(), 2 + 5);
    }
}

#[test]
fn what_a_confined_thread_chooses_itself_is_not_narrowed_any_longer() {
    for before in kernels(1) {
        let mut steered = Steered::begin(before).expect("cpusets");
        steered.order(1, Some(cores("0-1")));
        steered.kernel.threads.get_mut(&1).expect("it is there").mask = cores("1");
        steered.scan();
        let home = Thread { cgroup: HOME.into(), mask: cores("1") };
        assert_eq!(steered.kernel.threads[&1], home);
        assert_eq!(steered.end().threads, 0);
        assert_eq!(steered.kernel.threads[&1], home);
    }
}

#[test]
fn the_controller_stays_where_somebody_has_come_to_use_it() {
    let before = Kernel::begin(Version::Two, 1);
    let mut steered = Steered::begin(before.clone()).expect("cpusets");
    let slice = Path::new(TOP).join("slice");
    let other = slice.join("other");
    assert!(steered.kernel.cgroups[&slice].subtree.contains("cpuset"));
    steered.kernel.make_folder(&other).expect("it is new");
    steered.kernel.write_file(&other.join("cpuset.cpus"), "2").expect("it has the controller");
    assert_eq!(steered.end(), Outcome::default());
    assert!(steered.kernel.cgroups[&slice].subtree.contains("cpuset"));
    assert_eq!(steered.kernel.cgroups[Path::new(HOME)], before.cgroups[Path::new(HOME)]);
}

#[test]
fn a_cgroup_with_controllers_that_are_not_for_threads_is_refused() {
    let mut before = Kernel::begin(Version::Two, 1);
    let home = before.cgroups.get_mut(Path::new(HOME)).expect("it is there");
    home.subtree.insert("memory".to_owned());
    let refused = Steered::begin(before).err().expect("it cannot be").to_string();
    assert!(refused.contains(HOME) && refused.contains("such as memory"), "{refused}");
}

#[test]
fn an_order_that_a_home_has_no_cores_for_is_refused_and_others_are_cut() {
    for before in kernels(2) {
        let mut steered = Steered::begin(before.clone()).expect("cpusets");
        // Somebody makes it smaller meanwhile; the masks that threads have asked for stay.
        steered.kernel.cgroups.get_mut(Path::new(HOME)).expect("it is there").cpus =
            "0-2".to_owned();
        steered.scan();
        assert_eq!(steered.order(1, Some(cores("3"))), Order::Refused);
        assert_eq!(steered.order(2, Some(cores("2-3"))), Order::Given);
        assert_eq!(steered.kernel.affinity(2).expect("it is there"), cores("2"));
        let kept = steered.kernel.threads[&2].clone();
        steered.scan();
        assert_eq!(steered.kernel.threads[&2], kept, "it is known what it was given");
        assert_eq!(steered.end().left, Vec::<String>::new());
    }
}

#[test]
fn what_cannot_be_put_back_is_told_and_the_rest_is() {
    for before in kernels(3) {
        let mut steered = Steered::begin(before.clone()).expect("cpusets");
        for tid in 1..=3 {
            steered.order(tid, Some(cores("0")));
        }
        let ours = steered.kernel.threads[&2].cgroup.clone();
        steered.kernel.foreign.insert(2);
        let Outcome { threads, left, .. } = steered.end();
        assert_eq!((threads, left.len()), (2, 1));
        assert!(left[0].contains("thread 2") && left[0].contains(&*ours.to_string_lossy()));
        steered.kernel.foreign.clear();
        // A thread that is dying keeps the cgroup for a while.
        steered.kernel.cgroups.get_mut(&ours).expect("it is there").dying = 3;
        assert_eq!(steered.end(), Outcome { threads: 1, ..Outcome::default() });
        assert_eq!(steered.kernel, before);
    }
}

#[test]
fn threads_without_a_number_here_are_not_taken_for_the_daemon() {
    let mut steered = Steered::begin(Kernel::begin(Version::One, 1)).expect("cpusets");
    steered.order(1, Some(cores("0")));
    let Thread { cgroup, mask } = steered.kernel.threads[&1].clone();
    steered.kernel.threads.insert(0, Thread { cgroup, mask });
    assert_eq!(steered.end().left.len(), 1);
}
