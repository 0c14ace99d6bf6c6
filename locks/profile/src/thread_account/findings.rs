//! What the figures say: patterns that people know by name, each with the figures that show it.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_figures::Nanoseconds;

use crate::{
    Activities, Finding, RoleTimes, ThreadTimes, WaitEdge, WaitedFor, WaitedWord, WordKind,
};

use crate::thread_account::ThreadId;
use crate::thread_account::book::Waited;

/// From which figures on something is a finding. Shares are from 0 to 1.
pub mod thresholds {
    use kilocore_figures::Nanoseconds;

    /// A thread that computes for this share of its time is busy. The rest is what the system and
    /// short waits take from any thread.
    pub const BUSY: f64 = 0.85;
    /// All other threads that do not wait for its work keep less than this part of a core busy if one
    /// thread is *the* busy one. With more, a second thread already works beside it for a good part of
    /// the time.
    pub const OTHERS_CORES: f64 = 0.30;
    /// The other threads wait or sleep for at least this share of their time. Otherwise they lack a core,
    /// or too little is known of them. Who waits for the busy thread's work for this share of its time
    /// depends on it, whatever it computes between.
    pub const OTHERS_WAIT: f64 = 0.50;
    /// A known interpreter lock counts if its waits take this share of the time of those who wait for it.
    pub const INTERPRETER_LOCK: f64 = 0.05;
    /// A lock is like an interpreter's if its waits take this share of the time of those who take turns.
    /// Two threads that compute in turn wait for half of the time, less the hand-overs and whatever
    /// else they do.
    pub const GLOBAL_LOCK: f64 = 0.33;
    /// About one core: what threads keep busy that compute in turn. They fall short of one by the time
    /// of the hand-overs, and exceed it by what they do without the lock.
    pub const ABOUT_ONE_CORE: std::ops::RangeInclusive<f64> = 0.65..=1.30;
    /// A thread takes part in taking turns if it computes, and waits for the lock, for this share of
    /// the observed time.
    pub const TAKES_PART: f64 = 0.05;
    /// The slowest stage waits for less than this share of its time.
    pub const HARDLY_WAITS: f64 = 0.10;
    /// The slowest stage computes for this share of its time. A stage that neither waits nor computes
    /// is held up by something outside of the pipeline.
    pub const STAGE_BUSY: f64 = 0.70;
    /// A role waits for another stage if that takes this share of the time in which it does not lack a
    /// core.
    pub const STAGE_WAITS: f64 = 0.25;
    /// If it is known for this share of a role's waits for a word whom they are for, the others are
    /// taken to be for the same. Words are watched in turn, in windows chosen by chance.
    pub const KNOWN_TARGETS: f64 = 0.02;
    /// One lock is contended if it takes this share of all threads' time, and so are the kernel's own
    /// together.
    pub const CONTENDED: f64 = 0.05;
    /// Threads spin for one another if that takes this share of their time on a core.
    pub const SPINNING: f64 = 0.05;
    /// There is no contention if locks take less than this share of all threads' time.
    pub const NO_CONTENTION: f64 = 0.01;
    /// That is said only if this share of all threads' time is known.
    pub const KNOWN: f64 = 0.90;
    /// And only if they were seen to compute for so long together: who hardly runs waits for nobody.
    pub const SEEN_COMPUTING: Nanoseconds = Nanoseconds(100_000_000);
    /// Cores are short if threads that run or could run have none for this share of the time. A little
    /// is normal, because wake-ups take time.
    pub const WITHOUT_CORE: f64 = 0.20;
    /// And if this is at least so many cores' worth of waiting.
    pub const MISSING_CORES: f64 = 0.20;
}

use thresholds as t;

/// What a thread did. Its time on a core is all in `undivided` and `spinning`.
#[derive(Debug, Clone, Default)]
pub(crate) struct OneThread {
    pub(crate) id: ThreadId,
    pub(crate) role: u32,
    pub(crate) times: Activities,
    /// By the words' places in the document.
    pub(crate) waits: BTreeMap<u32, Waited>,
}

/// All findings, the most important first. There are none if the threads were not watched for long
/// enough. The cores are those that the threads may use, if that is known: no more of them are said
/// to be busy, as each core's events begin a moment apart, and so the sums are a little too large.
pub(crate) fn findings(
    times: &ThreadTimes,
    threads: &[OneThread],
    cores: Option<u32>,
) -> Vec<Finding> {
    if !times.is_enough() || times.total().present() == Nanoseconds(0) {
        return Vec::new();
    }
    let global = global_locks(times, threads);
    let waits = StageWaits::of(times);
    let busy = one_busy_thread(times, threads, &waits).filter(|_| global.is_empty());
    let stage = slowest_stage(times, &waits, busy.as_ref());
    let contended = contended_lock(times, &global);
    let mut all = global;
    // A stage says more than that it is busy.
    all.extend(stage);
    all.extend(busy);
    all.extend(contended);
    all.extend(spinning(times));
    all.extend(kernel_locks(times));
    all.extend(not_enough_cores(times));
    all.extend(no_contention(times));
    let most = cores.map_or(f64::INFINITY, f64::from);
    for finding in &mut all {
        match finding {
            Finding::GlobalLock { cores, .. } | Finding::NotEnoughCores { cores, .. } => {
                *cores = cores.min(most);
            }
            Finding::OneBusyThread { busy, others_cores, .. } => {
                *others_cores = others_cores.min((most - *busy).max(0.0));
            }
            _ => {}
        }
    }
    all
}

/// The name of a role, with its process if there are several.
fn name_of(times: &ThreadTimes, role: &RoleTimes) -> String {
    if times.roles.iter().any(|other| other.process != role.process) {
        format!("{role} of process {}", role.process)
    } else {
        role.to_string()
    }
}

fn one_busy_thread(
    times: &ThreadTimes,
    threads: &[OneThread],
    waits: &StageWaits,
) -> Option<Finding> {
    let busiest = threads.iter().max_by_key(|one| (one.times.working(), one.role == 0))?;
    let busy = busiest.times.working().share_of(times.observed);
    let others = || {
        threads.iter().filter(|one| one.id != busiest.id && one.times.present() > Nanoseconds(0))
    };
    let sum: Activities = others().map(|one| one.times).sum();
    let others_cores = sum.computing().share_of(times.observed);
    let off = Nanoseconds::saturating_sum([sum.waiting(), sum.sleep, sum.io]);
    let others_wait = off.share_of(sum.present());
    let depends = |one: &OneThread| {
        let waits = waits.shares_for(times, busiest.role);
        waits.into_iter().any(|(role, share)| role.id == one.role && share >= t::OTHERS_WAIT)
    };
    let beside = others().filter(|one| !depends(one)).map(|one| one.times.computing());
    let beside = Nanoseconds::saturating_sum(beside).share_of(times.observed);
    let found = busy >= t::BUSY
        && beside < t::OTHERS_CORES
        && (others_wait >= t::OTHERS_WAIT || others().next().is_none());
    let role = times.roles.get(busiest.role as usize).filter(|_| found)?;
    Some(Finding::OneBusyThread {
        role: role.id,
        name: name_of(times, role),
        busy,
        others: others().count() as u64,
        others_cores,
        others_wait,
    })
}

/// At most one for each process, the one with the longest waits.
fn global_locks(times: &ThreadTimes, threads: &[OneThread]) -> Vec<Finding> {
    let mut of_process: BTreeMap<u32, Activities> = BTreeMap::new();
    for role in &times.roles {
        *of_process.entry(role.process).or_default() += role.times;
    }
    let mut found = Vec::new();
    for (process, sum) in of_process {
        let process_threads: Vec<&OneThread> = threads
            .iter()
            .filter(|one| times.roles[one.role as usize].process == process)
            .collect();
        let of_process =
            times.words.iter().filter(|word| word.words == 1 && word.process == process);
        found.extend(
            of_process.clone().find_map(|word| global_lock(times, word, &sum, &process_threads)),
        );
    }
    found
}

fn global_lock(
    times: &ThreadTimes,
    word: &WaitedWord,
    process: &Activities,
    threads: &[&OneThread],
) -> Option<Finding> {
    let interpreter = word.kind == WordKind::GlobalInterpreterLock;
    if !(interpreter || word.kind.is_lock()) {
        return None;
    }
    let waited =
        |one: &OneThread| one.waits.get(&word.id).map_or(Nanoseconds(0), |waits| waits.waited);
    let much = |time: Nanoseconds| time.share_of(times.observed) >= t::TAKES_PART;
    let takes_turns = |one: &&&OneThread| match interpreter {
        true => waited(one) > Nanoseconds(0),
        false => much(waited(one)) && much(one.times.computing()),
    };
    let takers: Vec<&&OneThread> = threads.iter().filter(takes_turns).collect();
    let present: Activities = takers.iter().map(|one| one.times).sum();
    let all_waits = Nanoseconds::saturating_sum(takers.iter().map(|one| waited(one)));
    let wait = all_waits.share_of(present.present());
    let cores = process.computing().share_of(times.observed);
    let found = if interpreter {
        wait >= t::INTERPRETER_LOCK
    } else {
        takers.len() >= 2 && wait >= t::GLOBAL_LOCK && t::ABOUT_ONE_CORE.contains(&cores)
    };
    found.then(|| Finding::GlobalLock {
        word: word.id,
        name: word.to_string(),
        interpreter,
        threads: takers.len() as u64,
        wait,
        cores,
    })
}

/// The waits for work of each role for each other one.
struct StageWaits(BTreeMap<(u32, u32), Nanoseconds>);

impl StageWaits {
    fn of(times: &ThreadTimes) -> Self {
        let mut waits: BTreeMap<(u32, u32), Nanoseconds> = BTreeMap::new();
        for edge in &times.edges {
            if let Some(to) = stage_of(times, edge) {
                *waits.entry((edge.from, to)).or_default() += with_unknown(times, edge);
            }
        }
        Self(waits)
    }

    /// The roles on either side of them.
    fn stages(&self) -> BTreeSet<u32> {
        self.0.keys().flat_map(|&(from, to)| [from, to]).collect()
    }

    /// The roles that wait for a stage, each with the share of the time in which it does not lack a
    /// core.
    fn shares_for<'a>(&self, times: &'a ThreadTimes, stage: u32) -> Vec<(&'a RoleTimes, f64)> {
        let to_stage = self.0.iter().filter(|((_, to), _)| *to == stage);
        let waits = to_stage.filter_map(|(&(from, _), waited)| {
            let role = times.roles.get(from as usize)?;
            // It cannot wait for another while it has no core.
            let could_run = role.times.present().saturating_sub(role.times.ready);
            Some((role, waited.share_of(could_run)))
        });
        waits.collect()
    }
}

fn slowest_stage(
    times: &ThreadTimes,
    waits: &StageWaits,
    busy: Option<&Finding>,
) -> Option<Finding> {
    let stages = waits.stages();
    // One thread that feeds others is said in the finding of the busy thread.
    if stages.len() < if busy.is_some() { 3 } else { 2 } {
        return None;
    }
    let present = |role: &RoleTimes| role.times.present();
    let slow = |role: &&RoleTimes| {
        role.times.waiting().share_of(present(role)) < t::HARDLY_WAITS
            && role.times.working().share_of(present(role)) >= t::STAGE_BUSY
    };
    let candidates = stages.iter().filter_map(|&stage| times.roles.get(stage as usize));
    let mut found = candidates.filter(slow).filter_map(|stage| {
        let waiting = waits.shares_for(times, stage.id).into_iter();
        let (role, waiting) = waiting.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (waiting >= t::STAGE_WAITS).then_some((stage, role, waiting))
    });
    // If two stages are slow, neither is *the* slowest, unless one of them is waited for alone.
    let (stage, role, waiting) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    Some(Finding::SlowestStage {
        role: stage.id,
        name: name_of(times, stage),
        busy: stage.times.working().share_of(present(stage)),
        waiting_role: role.id,
        waiting_name: name_of(times, role),
        waiting,
    })
}

/// The role that an edge waits for, if it waits for work from another one.
fn stage_of(times: &ThreadTimes, edge: &WaitEdge) -> Option<u32> {
    let word = times.words.get(edge.word as usize)?;
    match edge.to {
        WaitedFor::Role(to) if to != edge.from && word.kind == WordKind::Condition => Some(to),
        _ => None,
    }
}

/// The time of an edge, with its part of the waits for the same word of which nobody knows for whom
/// they were, if so much is known that this can be told.
fn with_unknown(times: &ThreadTimes, edge: &WaitEdge) -> Nanoseconds {
    let same = times.edges.iter().filter(|one| (one.from, one.word) == (edge.from, edge.word));
    let all = Nanoseconds::saturating_sum(same.clone().map(|one| one.direct));
    let known = same.filter(|one| one.to != WaitedFor::Unknown);
    let known = Nanoseconds::saturating_sum(known.map(|one| one.direct)).share_of(all);
    let enough = known >= t::KNOWN_TARGETS;
    if enough { Nanoseconds((edge.direct.0 as f64 / known) as u64) } else { edge.direct }
}

/// The lock with the longest waits, if they are long.
fn contended_lock(times: &ThreadTimes, global: &[Finding]) -> Option<Finding> {
    let said = |id| {
        global.iter().any(|one| matches!(one, Finding::GlobalLock { word, .. } if *word == id))
    };
    let word = times.words.iter().find(|word| word.words == 1 && word.kind.is_lock())?;
    let wait = word.waited.share_of(times.total().present());
    (wait >= t::CONTENDED && !said(word.id)).then(|| Finding::ContendedLock {
        word: word.id,
        name: word.to_string(),
        threads: word.threads,
        wait,
    })
}

fn spinning(times: &ThreadTimes) -> Option<Finding> {
    let total = times.total();
    let spin = total.spinning.share_of(total.computing());
    let longest = times.spins.first().map(ToString::to_string);
    (spin >= t::SPINNING).then_some(Finding::Spinning { spin, longest })
}

fn kernel_locks(times: &ThreadTimes) -> Option<Finding> {
    let total = times.total();
    let wait = total.kernel_locks.share_of(total.present());
    // Waits of which it is known where they were are those of windows that showed all.
    let longest = times.kernel_locks.first().map(ToString::to_string);
    (wait >= t::CONTENDED).then_some(Finding::KernelLocks { wait, longest })
}

fn not_enough_cores(times: &ThreadTimes) -> Option<Finding> {
    let total = times.total();
    let wanted = total.computing().saturating_add(total.ready);
    let without_core = total.ready.share_of(wanted);
    let missing = total.ready.share_of(times.observed);
    (without_core >= t::WITHOUT_CORE && missing >= t::MISSING_CORES).then(|| {
        let cores = total.computing().share_of(times.observed);
        Finding::NotEnoughCores { without_core, cores }
    })
}

fn no_contention(times: &ThreadTimes) -> Option<Finding> {
    let total = times.total();
    let locks = total.locks.saturating_add(total.kernel_locks);
    let wait = locks.share_of(total.present());
    let known = 1.0 - times.coverage.unknown_share - times.coverage.unclassified_share;
    // Whoever spins waits, too, though nobody sees whether it is for a lock.
    let spun = locks.saturating_add(total.spinning);
    let is_none = spun.share_of(total.present()) < t::NO_CONTENTION && spinning(times).is_none();
    let is_known = known > t::KNOWN && total.computing() >= t::SEEN_COMPUTING;
    (is_none && is_known).then_some(Finding::NoContention { wait, known })
}
