//! The threads of the steered programs, and what their owners allow them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use kilocore_sched_policy::{CpuSet, ProgramId, TaskId};

use crate::births::Births;
use crate::cpusets::Cpusets;
use crate::error::DaemonError;
use crate::host::Host;
use crate::journal::Journal;
use crate::ledger::{Fact, Masks};
use crate::lineage::{Lineage, Origin};
use crate::named::Named;
use crate::stat::Stat;

/// A thread of a steered program.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Its number for policies, which no other thread ever gets.
    pub task: TaskId,
    /// Its number and start time.
    pub of: Named,
    /// The process that the thread belongs to.
    pub process: Named,
    /// The number of its process for policies.
    pub program: ProgramId,
    /// Where its owner lets it run.
    pub allowed: CpuSet,
    /// Where it was ordered to run, while it is confined.
    pub set: Option<CpuSet>,
    /// Where it was ordered to run before, if it may have created others there that were not listed yet.
    earlier: Option<CpuSet>,
    /// Whether the system refused an order for it.
    pub refused: bool,
    /// What the system said of it last.
    pub stat: Stat,
}

impl Thread {
    /// What a thread is born with that this one creates.
    fn bequeaths(&self) -> Origin {
        let sets = self.set.iter().chain(&self.earlier).cloned().collect();
        let (creator, allowed) = (self.process.id, self.allowed.clone());
        Origin { process: creator, creator, allowed, sets }
    }
}

/// No program creates threads faster than they are listed for good.
const PASSES: u32 = 1000;

/// What became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The system has carried it out.
    Given,
    /// There was nothing to do.
    Nothing,
    /// The thread is gone.
    Gone,
    /// The system refused. The thread is left alone from now on.
    Refused,
}

/// All threads of the programs that are steered.
#[derive(Debug, Default)]
pub struct Tree {
    processes: BTreeMap<u32, (Named, ProgramId)>,
    left_out: BTreeSet<u32>,
    /// Who has adopted processes of these programs that have lost their parents.
    adopter: Option<u32>,
    lineage: Lineage,
    threads: BTreeMap<u32, Thread>,
    tasks: BTreeMap<TaskId, u32>,
    next_task: u32,
    next_program: u32,
    /// How many threads were born confined and got their creator's allowance back.
    freed: u64,
    /// What the system said of creations before all processes were listed last.
    creations: Option<u64>,
    /// What carries orders out, if affinities do not.
    cpusets: Option<Cpusets>,
}

impl Tree {
    /// The processes with these ids, and all that they start.
    ///
    /// # Errors
    /// The first id that no process has, or that is one of the kernel's.
    pub fn of(pids: &[u32], host: &mut dyn Host) -> Result<Self, DaemonError> {
        let mut tree = Self::default();
        for &pid in pids {
            let stat = host.stat(pid).filter(|stat| !stat.has_ended());
            let stat = stat.ok_or(DaemonError::NoProcess(pid))?;
            if stat.is_kernels {
                return Err(DaemonError::Kernels(pid));
            }
            tree.enter(Named { id: pid, started: stat.started });
        }
        Ok(tree)
    }

    /// These processes, and what they start, are none of them: they steer.
    pub(crate) fn leave_out(&mut self, pids: impl IntoIterator<Item = u32>) {
        self.left_out.extend(pids);
    }

    /// Children of this process are the programs', too, but for those that are left out.
    pub(crate) fn adopt_by(&mut self, pid: u32) {
        self.adopter = Some(pid);
    }

    /// From now on, it is told who creates whom.
    pub(crate) fn follow(&mut self, births: Box<dyn Births>) {
        self.lineage.follow(births);
    }

    /// Whether it was told of all births who has created whom.
    pub(crate) fn follows_all(&self) -> bool {
        self.lineage.is_complete()
    }

    pub(crate) fn processes(&self) -> impl Iterator<Item = Named> {
        self.processes.values().map(|(process, _)| *process)
    }

    /// From now on, orders are carried out by these cgroups.
    pub(crate) fn carry_out_by(&mut self, cpusets: Cpusets) {
        self.cpusets = Some(cpusets);
    }

    fn enter(&mut self, process: Named) {
        self.processes.insert(process.id, (process, ProgramId(self.next_program)));
        self.next_program += 1;
    }

    /// The threads, by their tids.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values()
    }

    /// The thread behind a policy's number.
    #[must_use]
    pub fn thread(&self, task: TaskId) -> Option<&Thread> {
        self.threads.get(self.tasks.get(&task)?)
    }

    /// Whether no process is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Lists processes and threads anew. A thread that has inherited an order gets its allowance back,
    /// and a policy may then confine it as any other. `journal` is `None` while nothing is ordered.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn scan(
        &mut self,
        host: &mut dyn Host,
        mut journal: Option<&mut Journal>,
    ) -> io::Result<()> {
        let (threads, lineage) = (&self.threads, &mut self.lineage);
        lineage.take(&|thread| threads.get(&thread).map(Thread::bequeaths));
        self.scan_processes(host, journal.as_deref_mut())?;
        self.enter_born(host, journal.as_deref_mut())?;
        // Whatever was born of a mask that was ordered earlier is known now.
        self.threads.values_mut().for_each(|thread| thread.earlier = None);
        let mut seen = BTreeSet::new();
        for (process, program) in self.processes.values().copied().collect::<Vec<_>>() {
            for tid in host.threads(process.id) {
                let Some(stat) = host.thread_stat(process.id, tid).filter(|stat| !stat.has_ended())
                else {
                    continue;
                };
                let Ok(mask) = host.affinity(tid) else { continue };
                if mask.is_empty() {
                    continue;
                }
                let of = Named { id: tid, started: stat.started };
                let is_known = self.threads.get(&tid).is_some_and(|thread| thread.of == of);
                let origin = self.lineage.meet(tid);
                let is_doubtful = !is_known
                    && origin.is_none()
                    && self.cpusets.is_none()
                    && journal.as_ref().is_some_and(|journal| {
                        journal.ledger().ordered(process, &mask).is_some_and(|all| *all != mask)
                    });
                if is_doubtful && self.lineage.may_be_told(tid) {
                    continue;
                }
                seen.insert(tid);
                self.meet(
                    of,
                    (process, program),
                    (stat, mask),
                    origin,
                    host,
                    journal.as_deref_mut(),
                )?;
            }
        }
        self.threads.retain(|tid, _| seen.contains(tid));
        let threads = &self.threads;
        self.tasks.retain(|task, tid| threads.get(tid).is_some_and(|thread| thread.task == *task));
        journal.map_or(Ok(()), |journal| journal.shorten(host))
    }

    /// Processes once known are kept until they end, also if they lose their parents.
    pub(crate) fn scan_processes(
        &mut self,
        host: &mut dyn Host,
        mut journal: Option<&mut Journal>,
    ) -> io::Result<()> {
        let creations = host.creations();
        let new = creations.is_none() || creations != self.creations;
        self.creations = creations;
        let listed = if new { host.processes() } else { self.processes.keys().copied().collect() };
        let mut others = Vec::new();
        let mut alive = BTreeSet::new();
        for pid in listed {
            let Some(stat) = host.stat(pid) else { continue };
            let known = self.processes.get(&pid).is_some_and(|(of, _)| of.started == stat.started);
            if known && !stat.has_ended() {
                alive.insert(pid);
            } else if !stat.has_ended() && !stat.is_kernels && !self.left_out.contains(&pid) {
                others.push((Named { id: pid, started: stat.started }, stat.parent));
            }
        }
        loop {
            let before = others.len();
            let mut entered = Vec::new();
            others.retain(|&(child, parent)| {
                let ours = alive.contains(&parent) || self.adopter == Some(parent);
                if ours {
                    entered.push((child, parent));
                }
                !ours
            });
            for (child, parent) in entered {
                self.inherit(parent, child, journal.as_deref_mut())?;
                if let Some(journal) = journal.as_deref_mut() {
                    journal.write(vec![Fact::Steered(child)])?;
                }
                self.enter(child);
                alive.insert(child.id);
            }
            if others.len() == before {
                break;
            }
        }
        self.processes.retain(|pid, _| alive.contains(pid));
        Ok(())
    }

    /// Enters processes that are known by their births alone, since they have lost their parents.
    fn enter_born(
        &mut self,
        host: &mut dyn Host,
        mut journal: Option<&mut Journal>,
    ) -> io::Result<()> {
        let born: BTreeMap<u32, u32> =
            self.lineage.fresh().map(|origin| (origin.process, origin.creator)).collect();
        for (pid, creator) in born {
            if self.processes.contains_key(&pid) || self.left_out.contains(&pid) {
                continue;
            }
            let Some(stat) = host.stat(pid).filter(|stat| !stat.has_ended()) else { continue };
            let child = Named { id: pid, started: stat.started };
            self.inherit(creator, child, journal.as_deref_mut())?;
            if let Some(journal) = journal.as_deref_mut() {
                journal.write(vec![Fact::Steered(child)])?;
            }
            self.enter(child);
        }
        Ok(())
    }

    /// A child's threads may have any mask that its parent's threads had; those of one whose parent is gone,
    /// any that was ordered in one way only.
    fn inherit(&self, parent: u32, child: Named, journal: Option<&mut Journal>) -> io::Result<()> {
        let Some(journal) = journal else { return Ok(()) };
        let ledger = journal.ledger();
        let mut facts = Vec::new();
        if let Some((of, _)) = self.processes.get(&parent) {
            let known = ledger.programs.get(of).into_iter().flatten();
            facts.extend(known.map(|masks| Fact::Program(child, masks.clone())));
            facts.extend(ledger.chooses.get(of).map(|_| Fact::Chooses(child)));
        } else {
            let all: Vec<&Masks> = ledger.programs.values().flatten().collect();
            let is_one = |masks: &Masks| {
                all.iter().all(|other| other.set != masks.set || other.allowed == masks.allowed)
            };
            let known = all.iter().filter(|masks| is_one(masks));
            facts.extend(known.map(|masks| Fact::Program(child, (*masks).clone())));
            facts.extend((!ledger.chooses.is_empty()).then_some(Fact::Chooses(child)));
        }
        if facts.is_empty() { Ok(()) } else { journal.write(facts) }
    }

    /// A thread is there, with this mask.
    fn meet(
        &mut self,
        of: Named,
        (process, program): (Named, ProgramId),
        (stat, mask): (Stat, CpuSet),
        origin: Option<Origin>,
        host: &mut dyn Host,
        mut journal: Option<&mut Journal>,
    ) -> io::Result<()> {
        if let Some(thread) = self.threads.get_mut(&of.id)
            && thread.of == of
        {
            thread.stat = stat;
            if mask != *thread.set.as_ref().unwrap_or(&thread.allowed) {
                // The program's own doing.
                let was_confined = thread.set.take().is_some();
                thread.allowed = mask;
                if let Some(journal) = journal {
                    journal.write(vec![Fact::Keep(of), Fact::Chooses(process)])?;
                    if let (true, Some(cpusets)) = (was_confined, &mut self.cpusets) {
                        // Its own choice is not to be narrowed. If that fails, so does its next order.
                        let _ = cpusets.release((process.id, of.id), &thread.allowed, host);
                    }
                }
            }
            return Ok(());
        }
        let inherited = journal.as_ref().and_then(|journal| {
            let allowed = journal.ledger().inherited(process, &mask);
            match &self.cpusets {
                None => match &origin {
                    Some(origin) => origin.inherited(&mask).cloned(),
                    None => allowed.filter(|allowed| **allowed != mask).cloned(),
                },
                // It may have narrowed its own mask since it was born in a cgroup of ours.
                Some(cpusets) if cpusets.hold(host, (process.id, of.id)) => {
                    Some(allowed.unwrap_or(&mask).clone())
                }
                Some(_) => None,
            }
        });
        let task = TaskId(self.next_task);
        self.next_task += 1;
        self.tasks.insert(task, of.id);
        let set = inherited.is_some().then(|| mask.clone());
        let allowed = inherited.unwrap_or(mask);
        let earlier = None;
        let thread =
            Thread { task, of, process, program, allowed, set, earlier, refused: false, stat };
        let confined = thread.set.is_some();
        if let Some(journal) = journal.as_deref_mut() {
            let facts = match (&thread.set, &origin) {
                // It has this mask by an order for whom it comes of.
                (Some(set), _) => {
                    vec![Fact::Order(
                        of,
                        Masks { allowed: thread.allowed.clone(), set: set.clone() },
                    )]
                }
                (None, Some(origin)) if origin.allowed != thread.allowed => {
                    vec![Fact::Keep(of), Fact::Chooses(process)]
                }
                // Who has such a mask has it of its own.
                (None, Some(_)) if journal.ledger().ordered(process, &thread.allowed).is_some() => {
                    vec![Fact::Keep(of)]
                }
                _ => Vec::new(),
            };
            if !facts.is_empty() {
                journal.write(facts)?;
            }
        }
        self.threads.insert(of.id, thread);
        if let (true, Some(journal)) = (confined, journal)
            && self.order(task, None, host, journal)? == Order::Given
        {
            self.freed += 1;
        }
        Ok(())
    }

    /// Gives all threads their allowances back, and those that are born meanwhile, until there is none left.
    /// Returns how many.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn release(
        &mut self,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<u64> {
        let (mut released, freed) = (0, self.freed);
        let mut quiet = 0;
        for _ in 0..PASSES {
            let before = self.freed;
            self.scan(host, Some(journal))?;
            let mut given = self.freed - before;
            let confined = self.threads.values().filter(|thread| thread.set.is_some());
            for task in confined.map(|thread| thread.task).collect::<Vec<_>>() {
                let order = self.order(task, None, host, journal)?;
                released += u64::from(order == Order::Given);
                given += u64::from(order == Order::Given);
            }
            quiet = if given == 0 && !self.lineage.waits() { quiet + 1 } else { 0 };
            if quiet == 2 {
                break;
            }
        }
        Ok(released + self.freed - freed)
    }

    /// Confines a thread to these cores, or gives it its allowance back.
    ///
    /// # Errors
    /// If the journal cannot be written; the order is then not given.
    pub fn order(
        &mut self,
        task: TaskId,
        cpus: Option<&CpuSet>,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<Order> {
        let Some(thread) = self.thread(task).cloned() else { return Ok(Order::Gone) };
        let wanted = cpus.unwrap_or(&thread.allowed);
        let now = thread.set.as_ref().unwrap_or(&thread.allowed);
        let is_so = cpus.map_or(thread.set.is_none(), |cpus| cpus == now);
        if is_so || thread.refused {
            return Ok(Order::Nothing);
        }
        // The number may be another thread's by now.
        if host
            .thread_stat(thread.process.id, thread.of.id)
            .is_none_or(|stat| stat.started != thread.of.started)
        {
            return Ok(Order::Gone);
        }
        if host.affinity(thread.of.id).is_ok_and(|mask| mask != *now) {
            // The program has just chosen for itself; the next scan sees that.
            return Ok(Order::Nothing);
        }
        let confines = *wanted != thread.allowed;
        if confines {
            journal.write(self.facts(&thread, wanted, journal))?;
        }
        let set = match self.carry_out(&thread, wanted, host, journal)? {
            Ok(set) => set,
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(Order::Gone),
            Err(_) => {
                if let Some(thread) = self.threads.get_mut(&thread.of.id) {
                    thread.refused = true;
                }
                return Ok(Order::Refused);
            }
        };
        if !confines {
            journal.write(vec![Fact::Keep(thread.of)])?;
        }
        if let Some(known) = self.threads.get_mut(&thread.of.id) {
            // It may have created others under both orders since all were listed.
            known.earlier = known.set.take().or(known.earlier.take());
            known.set = confines.then_some(set);
        }
        Ok(Order::Given)
    }

    /// Returns the cores that the thread has then.
    fn carry_out(
        &mut self,
        thread: &Thread,
        wanted: &CpuSet,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<io::Result<CpuSet>> {
        let of = (thread.process.id, thread.of.id);
        match &mut self.cpusets {
            None => Ok(host.set_affinity(of.1, wanted).map(|()| wanted.clone())),
            Some(cpusets) if *wanted != thread.allowed => {
                cpusets.confine(of, wanted, host, journal)
            }
            Some(cpusets) => Ok(cpusets.release(of, wanted, host).map(|()| wanted.clone())),
        }
    }

    /// What has to be known before a thread is confined.
    fn facts(&self, thread: &Thread, wanted: &CpuSet, journal: &Journal) -> Vec<Fact> {
        let masks = Masks { allowed: thread.allowed.clone(), set: wanted.clone() };
        let mut facts = Vec::new();
        let mut alike = self.threads.values().filter(|other| other.process == thread.process);
        if !journal.ledger().chooses.contains(&thread.process)
            && alike.any(|other| other.allowed != thread.allowed)
        {
            facts.push(Fact::Chooses(thread.process));
        }
        if journal.ledger().ordered(thread.process, wanted) != Some(&thread.allowed) {
            // Who has such a mask already has it of its own.
            let alike = self.threads.values().filter(|other| {
                other.set.is_none() && other.allowed == *wanted && other.of != thread.of
            });
            facts.extend(alike.map(|other| Fact::Keep(other.of)));
            facts.push(Fact::Program(thread.process, masks.clone()));
        }
        facts.push(Fact::Order(thread.of, masks));
        facts
    }
}

#[cfg(test)]
mod tests {
    use kilocore_sched_policy::{CpuId, Nanos};

    use super::*;
    use crate::births::Birth;
    use crate::places::Folder;
    use crate::restore::restore;

    /// A program, process 1, whose threads have these masks.
    #[derive(Debug, Default)]
    struct Played {
        masks: BTreeMap<u32, CpuSet>,
        foreign: BTreeSet<u32>,
    }

    fn stat(id: u32) -> Stat {
        Stat {
            state: b'S',
            parent: 0,
            is_kernels: false,
            ticks: 0,
            started: u64::from(id),
            cpu: CpuId(0),
        }
    }

    impl Host for Played {
        fn processes(&mut self) -> Vec<u32> {
            vec![1]
        }
        fn threads(&mut self, _pid: u32) -> Vec<u32> {
            self.masks.keys().copied().collect()
        }
        fn stat(&mut self, pid: u32) -> Option<Stat> {
            (pid == 1).then(|| stat(1))
        }
        fn thread_stat(&mut self, _pid: u32, tid: u32) -> Option<Stat> {
            self.masks.contains_key(&tid).then(|| stat(tid))
        }
        fn times(&mut self, _pid: u32, _tid: u32) -> Option<(Nanos, Nanos)> {
            None
        }
        fn affinity(&mut self, tid: u32) -> io::Result<CpuSet> {
            self.masks.get(&tid).cloned().ok_or(io::Error::from_raw_os_error(libc::ESRCH))
        }
        fn set_affinity(&mut self, tid: u32, cpus: &CpuSet) -> io::Result<()> {
            if self.foreign.contains(&tid) {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
            let mask = self.masks.get_mut(&tid).ok_or(io::Error::from_raw_os_error(libc::ESRCH))?;
            *mask = cpus.clone();
            Ok(())
        }
    }

    fn begin(threads: u32) -> (Played, Tree, Journal, tempfile::TempDir) {
        let masks = (1..=threads).map(|tid| (tid, CpuSet::first(4))).collect();
        let mut host = Played { masks, foreign: BTreeSet::new() };
        let mut tree = Tree::of(&[1], &mut host).expect("it is there");
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Named { id: 9, started: 9 };
        let place = Folder::open(folder.path()).expect("it is ours");
        let mut journal = Journal::begin(place, daemon).expect("room");
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        (host, tree, journal, folder)
    }

    #[test]
    fn threads_that_end_or_are_somebody_elses_are_told_apart() {
        let (mut host, mut tree, mut journal, _folder) = begin(3);
        host.masks.remove(&2);
        host.foreign.insert(3);
        let one = CpuSet::first(1);
        let mut order =
            |task| tree.order(TaskId(task), Some(&one), &mut host, &mut journal).expect("room");
        assert_eq!([order(0), order(1), order(2)], [Order::Given, Order::Gone, Order::Refused]);
        assert_eq!(order(2), Order::Nothing, "it is left alone from then on");
    }

    #[test]
    fn an_inherited_order_is_no_allowance_where_nobody_chooses_masks() {
        let (mut host, mut tree, mut journal, _folder) = begin(2);
        let one = CpuSet::first(1);
        tree.order(TaskId(0), Some(&one), &mut host, &mut journal).expect("room");
        host.masks.insert(3, one.clone());
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        assert_eq!(host.masks[&3], CpuSet::first(4), "it is released at once");
        // One that is made after the last scan is restored, too.
        host.masks.insert(4, one);
        assert_eq!(restore(journal.ledger(), &mut host).unknown, Vec::<String>::new());
        assert!(host.masks.values().all(|mask| *mask == CpuSet::first(4)));
    }

    #[test]
    fn where_threads_choose_masks_those_of_others_are_left_and_told() {
        let (mut host, mut tree, mut journal, _folder) = begin(2);
        let (one, two) = (CpuSet::first(1), CpuSet::first(2));
        tree.order(TaskId(0), Some(&one), &mut host, &mut journal).expect("room");
        host.masks.insert(2, two.clone());
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        assert_eq!(tree.thread(TaskId(1)).expect("it is there").allowed, two);
        // It may have been born of the first thread, or have chosen so.
        host.masks.insert(3, one.clone());
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        let outcome = restore(journal.ledger(), &mut host);
        assert_eq!(host.masks.into_values().collect::<Vec<_>>(), [CpuSet::first(4), two, one]);
        assert_eq!(outcome.unknown.len(), 1, "{outcome:?}");
        assert!(outcome.unknown[0].starts_with("1 threads of process 1,"), "{outcome:?}");
    }

    /// Births, as they are played.
    #[derive(Debug)]
    struct PlayedBirths(std::sync::mpsc::Receiver<Vec<Birth>>);

    impl Births for PlayedBirths {
        fn take(&mut self) -> Vec<Birth> {
            self.0.try_iter().flatten().collect()
        }
        fn is_complete(&self) -> bool {
            true
        }
    }

    #[test]
    fn whose_creator_is_known_has_what_that_one_had_before() {
        let (mut host, mut tree, mut journal, _folder) = begin(2);
        let (tell, told) = std::sync::mpsc::channel();
        tree.follow(Box::new(PlayedBirths(told)));
        let (one, all) = (CpuSet::first(1), CpuSet::first(4));
        // The second thread has chosen the very mask that the first one is given.
        host.masks.insert(2, one.clone());
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        tree.order(TaskId(0), Some(&one), &mut host, &mut journal).expect("room");
        let born = |thread, creator| Birth::Born { process: 1, thread, creator };
        // Three was born of the first and has gone, and four of three; five was born of the second.
        tell.send(vec![born(3, 1), born(4, 3), Birth::Ended(3), born(5, 2)]).expect("it listens");
        host.masks.extend([(4, one.clone()), (5, one.clone()), (6, one.clone())]);
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        assert_eq!(host.masks[&4], all);
        assert_eq!(host.masks[&5], one);
        assert_eq!(host.masks[&6], one, "it is not known yet");
        // The record of six comes later, and the first has been released meanwhile.
        tree.order(TaskId(0), None, &mut host, &mut journal).expect("room");
        tell.send(vec![born(6, 1)]).expect("it listens");
        assert_eq!(tree.release(&mut host, &mut journal).expect("room"), 1);
        let outcome = restore(journal.ledger(), &mut host);
        assert_eq!((outcome.threads, outcome.unknown), (0, Vec::new()));
        assert_eq!(
            host.masks.into_values().collect::<Vec<_>>(),
            [all.clone(), one.clone(), all.clone(), one, all]
        );
    }

    #[test]
    fn who_already_had_the_mask_that_others_are_given_keeps_it() {
        let (mut host, mut tree, mut journal, _folder) = begin(2);
        let one = CpuSet::first(1);
        host.masks.insert(2, one.clone());
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        tree.order(TaskId(0), Some(&one), &mut host, &mut journal).expect("room");
        assert_eq!(restore(journal.ledger(), &mut host).threads, 1);
        assert_eq!(host.masks[&2], one);
    }

    #[test]
    fn a_journal_does_not_grow_with_threads_that_have_ended() {
        let (mut host, mut tree, mut journal, _folder) = begin(2);
        let one = CpuSet::first(1);
        tree.order(TaskId(0), Some(&one), &mut host, &mut journal).expect("room");
        let bytes = |journal: &Journal| std::fs::metadata(journal.path()).expect("a file").len();
        let mut longest = 0;
        for first in (10..60_000).step_by(100) {
            let born = first..first + 100;
            host.masks.extend(born.clone().map(|tid| (tid, one.clone())));
            tree.scan(&mut host, Some(&mut journal)).expect("room");
            host.masks.retain(|tid, _| !born.contains(tid));
            longest = longest.max(bytes(&journal));
        }
        tree.scan(&mut host, Some(&mut journal)).expect("room");
        assert!(longest > 1 << 20, "so few threads tell nothing");
        assert!(longest < 3 << 19, "{longest} bytes");
        assert_eq!(restore(journal.ledger(), &mut host).threads, 1, "who lives is not forgotten");
    }
}
