//! How long each thread waits for which of the kernel's own locks, spinning or asleep.
//!
//! What was recorded stands for a whole window: the kernel stops recording when it has recorded its fill
//! ([`contention_events`](crate::contention_events)), and what is known of a part of the time is taken to go on
//! like that.
//!
//! A thread that enters or leaves a futex takes the lock of the futex's bucket, and goes to sleep and wakes
//! others. If it waits for a lock meanwhile, that belongs to the futex, whose sleep is seen in other ways. So
//! such waits are left out. A futex that lends priorities is a lock of the kernel itself.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_sched_policy::{LockLabel, Nanos, Share, TaskWindow};
use kilocore_symbols::{
    KernelSymbols, LockWaiters, is_kernel_lock, is_kernel_lock_report, kernel_lock_name,
};

use crate::contention::{Begin, Contention, PlaceId, SliceWaits};
use crate::contention_events::{ContentionSource, Kernel};
use crate::sums::{NAMED, OTHERS, parts};
use crate::tree::Tree;
use crate::waits::{Wait, Waits};

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;

/// Addresses from here on are marks of the kernel in its stacks, and lie nowhere.
const MARKS: u64 = -4095_i64 as u64;

/// So many stacks and locks are remembered at most.
const MOST: usize = 4096;

/// A lock of the kernel that threads waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLock {
    /// What it is called, and which of the kernel's functions acquires it.
    pub lock: String,
    /// How long threads waited for it, spinning or asleep, all together.
    pub waited: Nanos,
    /// What share that was of the time in which threads ran or waited for locks.
    pub share: Share,
}

/// Whether an address of a lock is one of the kernel's.
pub(crate) fn is_kernels(lock: u64) -> bool {
    lock >= KERNEL
}

/// The names of the kernel's functions, and the places that they give.
#[derive(Debug, Default)]
struct Places {
    /// As far as they can be read, and `None` until they were.
    symbols: Option<Option<KernelSymbols>>,
    /// Where waits with a stack begin, spinning or not, if they count.
    of_stacks: BTreeMap<(bool, Vec<u64>), Option<PlaceId>>,
    /// What is waited for at each place, in words. There are as many as functions that acquire locks.
    locks: Vec<String>,
}

/// The waits of steered threads for the kernel's own locks.
#[derive(Debug)]
pub(crate) struct KernelLocks {
    source: Box<dyn ContentionSource>,
    contention: Contention,
    places: Places,
    /// The waits of the window so far, and of how much of it they are known.
    waits: SliceWaits,
    known: Nanos,
    /// Where the locks of the last window were waited for, and how long.
    at: BTreeMap<u64, BTreeMap<PlaceId, u64>>,
    /// At which place each lock was waited for longest, in the last window in which it was.
    named: BTreeMap<u64, PlaceId>,
    /// How long all threads waited for which locks so far, and how long they ran or waited for any.
    all: BTreeMap<PlaceId, u64>,
    time: Nanos,
}

impl KernelLocks {
    /// Those of this kernel.
    ///
    /// # Errors
    /// Why their waits cannot be seen, in words.
    pub(crate) fn find() -> Result<Self, String> {
        let mut own = Self::of(Box::new(Kernel::open()?));
        // Now, as it would take a part of the first window.
        own.places.read();
        Ok(own)
    }

    fn of(source: Box<dyn ContentionSource>) -> Self {
        Self {
            source,
            contention: Contention::default(),
            places: Places::default(),
            waits: BTreeMap::new(),
            known: Nanos(0),
            at: BTreeMap::new(),
            named: BTreeMap::new(),
            all: BTreeMap::new(),
            time: Nanos(0),
        }
    }

    /// Takes what was recorded until now. The more often that is done in a window, the better is what was
    /// recorded spread over it.
    pub(crate) fn look(&mut self, tree: &Tree) {
        self.slice(&tree.threads().map(|thread| thread.of.id).collect());
    }

    fn slice(&mut self, threads: &BTreeSet<u32>) {
        let slice = self.source.slice();
        self.known.0 += slice.until.0.saturating_sub(slice.since.0);
        let places = &mut self.places;
        let mut place = |begin: &Begin| places.of(begin);
        for (of, wait) in self.contention.slice(slice, threads, &mut place) {
            let sum = self.waits.entry(of).or_default();
            sum.spun.0 += wait.spun.0;
            sum.slept.0 += wait.slept.0;
        }
    }

    /// A window of this length is over: how long each thread waited for which locks. Those of each thread that
    /// are waited for little are one.
    pub(crate) fn take(&mut self, length: Nanos) -> BTreeMap<u32, Waits> {
        let known = std::mem::replace(&mut self.known, Nanos(0));
        let scaled = |time: Nanos| {
            let all = u128::from(time.0) * u128::from(length.0) / u128::from(known.0.max(1));
            Nanos(u64::try_from(all).unwrap_or(u64::MAX).min(length.0))
        };
        let mut of_threads: BTreeMap<u32, BTreeMap<u64, Wait>> = BTreeMap::new();
        self.at.clear();
        for ((tid, lock, place), wait) in std::mem::take(&mut self.waits) {
            let (spun, slept) = (scaled(wait.spun), scaled(wait.slept));
            let sum = of_threads.entry(tid).or_default().entry(lock).or_default();
            sum.spun.0 += spun.0;
            sum.slept.0 += slept.0;
            *self.at.entry(lock).or_default().entry(place).or_default() += spun.0 + slept.0;
        }
        self.name_locks();
        of_threads.into_iter().map(|(tid, waits)| (tid, longest(waits))).collect()
    }

    fn name_locks(&mut self) {
        if self.named.len() >= MOST {
            self.named.clear();
        }
        for (lock, places) in &self.at {
            if let Some((place, _)) = places.iter().max_by_key(|(_, waited)| **waited) {
                self.named.insert(*lock, *place);
            }
        }
    }

    /// Adds what threads did in the window, as far as they had time for it, to what is told at the end.
    pub(crate) fn add(&mut self, tasks: &[TaskWindow]) {
        for task in tasks {
            self.time.0 += task.ran.max(task.spun()).0 + task.slept().0;
            for wait in &task.locks {
                let LockLabel(lock) = wait.lock;
                let Some(places) = self.at.get(&lock) else { continue };
                let shares: Vec<u64> = places.values().copied().collect();
                let parts = parts(wait.spun.0 + wait.slept.0, &shares);
                for (place, part) in places.keys().zip(parts) {
                    *self.all.entry(*place).or_default() += part;
                }
            }
        }
    }

    /// What a lock is called.
    pub(crate) fn name(&self, lock: u64) -> Option<&str> {
        self.places.locks.get(self.named.get(&lock)?.0).map(String::as_str)
    }

    /// All locks that threads have waited for so far, by who acquires them, the longest first.
    pub(crate) fn all(&self) -> Vec<KernelLock> {
        let told = |(place, waited): (&PlaceId, &u64)| {
            let (lock, waited) = (self.places.locks.get(place.0)?.clone(), Nanos(*waited));
            Some(KernelLock { lock, waited, share: Share::of(waited, self.time) })
        };
        let mut all: Vec<KernelLock> = self.all.iter().filter_map(told).collect();
        all.sort_by_key(|lock| std::cmp::Reverse(lock.waited));
        all
    }
}

/// The waits of a thread, of which only the longest have entries of their own.
fn longest(waits: BTreeMap<u64, Wait>) -> Waits {
    let mut waits: Vec<(u64, Wait)> = waits.into_iter().collect();
    waits.sort_by_key(|(lock, wait)| (std::cmp::Reverse(wait.spun.0 + wait.slept.0), *lock));
    let mut longest = Waits::new();
    for (index, (lock, wait)) in waits.into_iter().enumerate() {
        let sum = longest.entry(if index < NAMED { lock } else { OTHERS }).or_default();
        sum.spun.0 += wait.spun.0;
        sum.slept.0 += wait.slept.0;
    }
    longest
}

impl Places {
    /// Reads the names, if they have not been read.
    fn read(&mut self) {
        self.symbols.get_or_insert_with(|| KernelSymbols::of_this_host().ok());
    }

    /// Where a wait begins, if it counts.
    fn of(&mut self, begin: &Begin) -> Option<PlaceId> {
        let key = (begin.spins, begin.stack.clone());
        if let Some(known) = self.of_stacks.get(&key) {
            return *known;
        }
        self.read();
        let symbols = self.symbols.as_ref().and_then(Option::as_ref);
        let name = |address| Some(symbols?.function(address)?.name.to_owned());
        let place = lock_at(begin, &name).map(|lock| {
            let known = self.locks.iter().position(|known| *known == lock);
            PlaceId(known.unwrap_or_else(|| {
                self.locks.push(lock);
                self.locks.len() - 1
            }))
        });
        if self.of_stacks.len() >= MOST {
            self.of_stacks.clear();
        }
        self.of_stacks.insert(key, place);
        place
    }
}

/// Which lock is waited for where a wait begins, in words. `None` if the wait does not count.
fn lock_at(begin: &Begin, name: &dyn Fn(u64) -> Option<String>) -> Option<String> {
    let addresses = begin.stack.iter().filter(|address| **address < MARKS);
    let functions: Vec<String> = addresses.map_while(|address| name(*address)).collect();
    let is_lock = |name: &&String| is_kernel_lock(name) || is_kernel_lock_report(name);
    let is_futexs =
        |name: &String| name.trim_start_matches('_').starts_with("futex_") && !name.contains("_pi");
    if functions.iter().any(is_futexs) {
        return None;
    }
    match functions.iter().find(|name| !is_lock(name)) {
        Some(function) => {
            let lock = kernel_lock_name(function, LockWaiters::Unknown).unwrap_or("a lock");
            Some(format!("{lock}, acquired in {function}"))
        }
        // Where the kernel hides its names, who spins may do so for a futex.
        None => (!begin.spins).then(|| "a lock, acquired at an unknown place".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use kilocore_sched_policy::{CpuId, CpuSet, LockWait, ProgramId, TaskId};

    use super::*;
    use crate::contention::{Slice, Step};

    /// Plays the kernel.
    #[derive(Debug)]
    struct Played(VecDeque<Slice>);

    impl ContentionSource for Played {
        fn slice(&mut self) -> Slice {
            self.0.pop_front().expect("a slice")
        }
    }

    const LOCK: u64 = KERNEL | 64;

    fn step(at: u64, tid: u32, lock: u64, begins: bool) -> Step {
        let begins = begins.then(|| Begin { spins: false, stack: vec![1] });
        Step { at: Nanos(at), tid, lock, begins }
    }

    fn slice(since: u64, until: u64, steps: Vec<Step>, goes_on: bool) -> Slice {
        Slice { steps, since: Nanos(since), until: Nanos(until), goes_on }
    }

    #[test]
    fn what_was_recorded_stands_for_the_window() {
        let first = slice(0, 40, vec![step(10, 1, LOCK, true), step(30, 1, LOCK, false)], false);
        let second = slice(60, 100, vec![step(70, 1, LOCK, true)], true);
        let mut locks = KernelLocks::of(Box::new(Played([first, second].into())));
        let threads = BTreeSet::from([1]);
        locks.slice(&threads);
        locks.slice(&threads);
        // 20 and 30 of 80 that are known.
        let waits = locks.take(Nanos(160));
        assert_eq!(waits[&1][&LOCK], Wait { slept: Nanos(100), ..Wait::default() });
        assert!(locks.take(Nanos(100)).is_empty(), "that was another window");
    }

    #[test]
    fn locks_that_are_waited_for_little_are_one() {
        let lock = |number: u64| (KERNEL | number, Wait { spun: Nanos(number), ..Wait::default() });
        let waits = longest((1..=20).map(lock).collect());
        assert_eq!(waits.len(), NAMED + 1);
        assert_eq!((waits[&OTHERS].spun, waits[&(KERNEL | 20)].spun), (Nanos(78), Nanos(20)));
    }

    #[test]
    fn locks_are_told_by_who_acquires_them_and_a_futexs_are_its_own() {
        let lock = |functions: &[&str], spins| {
            let stack = (1..=functions.len() as u64 + 1).collect();
            let name = |at: u64| functions.get(at as usize - 1).map(|name| (*name).to_owned());
            lock_at(&Begin { spins, stack }, &name)
        };
        let said = |text: &str| Some(text.to_owned());
        let map = ["__traceiter_contention_begin", "rwsem_down_write_slowpath", "__vm_munmap"];
        assert_eq!(lock(&map, false), said("mmap_lock, acquired in __vm_munmap"));
        let unknown = ["__mutex_lock.constprop.0", "n_tty_write"];
        assert_eq!(lock(&unknown, true), said("a lock, acquired in n_tty_write"));
        let bucket = ["native_queued_spin_lock_slowpath", "_raw_spin_lock", "futex_q_lock"];
        assert_eq!(lock(&bucket, true), None);
        let queue = ["raw_spin_rq_lock_nested", "__schedule", "schedule", "futex_do_wait"];
        assert_eq!(lock(&queue, true), None, "it goes to sleep in a futex");
        let lending = ["rt_mutex_slowlock", "__rt_mutex_start_proxy_lock", "futex_lock_pi"];
        assert!(lock(&lending, false).is_some());
        assert_eq!(lock(&[], true), None, "it may be a futex's");
        assert_eq!(lock(&[], false), said("a lock, acquired at an unknown place"));
    }

    #[test]
    fn what_is_told_at_the_end_is_of_the_kernels_locks_alone() {
        let mut locks = KernelLocks::of(Box::new(Played(VecDeque::new())));
        locks.places.locks = vec!["map".to_owned(), "unmap".to_owned()];
        locks.at.insert(LOCK, BTreeMap::from([(PlaceId(0), 200), (PlaceId(1), 100)]));
        locks.name_locks();
        assert_eq!((locks.name(LOCK), locks.name(64)), (Some("map"), None));
        let wait = |lock, slept| LockWait {
            lock: LockLabel(lock),
            spun: Nanos(10),
            slept: Nanos(slept),
            acquired: None,
        };
        let task = TaskWindow {
            task: TaskId(1),
            program: ProgramId(1),
            allowed: CpuSet::first(2),
            cpu: CpuId(0),
            ran: Nanos(100),
            user: None,
            ready: Nanos(0),
            locks: vec![wait(LOCK, 50), wait(64, 50)],
            counters: None,
            beside: Vec::new(),
        };
        locks.add(&[task]);
        let told = |lock: &str, waited| {
            let (lock, waited) = (lock.to_owned(), Nanos(waited));
            KernelLock { lock, waited, share: Share::of(waited, Nanos(200)) }
        };
        // Two thirds of 60, and one.
        assert_eq!(locks.all(), [told("map", 40), told("unmap", 20)]);
    }
}
